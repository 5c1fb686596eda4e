/* SPDX-License-Identifier: GPL-2.0-only */
/* TEGRATRACE_VERSION, a string: see tools/version.sh. */
#ifndef TEGRATRACE_VERSION_H
#define TEGRATRACE_VERSION_H

#include "build_version.h"

#endif
