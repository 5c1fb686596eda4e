/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TEGRATRACE_VERSION_H
#define TEGRATRACE_VERSION_H

#define TEGRATRACE_VERSION "0.1.0"

#endif
