/* SPDX-License-Identifier: GPL-2.0-only */
/* The verdict where the GPU is not the limit: from what the GPU-feeding thread waits for. */
#ifndef TEGRATRACE_PATH_VERDICT_H
#define TEGRATRACE_PATH_VERDICT_H

#include "diagnose/facts.h"
#include "diagnose/verdict.h"

/* The rules must have been evaluated and facts->path.feeder be known. */
enum verdict_class path_class(const struct verdict *verdict, const struct facts *facts);

/* The part of the path that a class is about; NULL for a class that is not about one. */
const struct path_part *path_part_of(enum verdict_class class, const struct facts *facts);

/* Name of a part for people: "computing", "the run queue". */
const char *path_end_name(enum path_end end);

#endif
