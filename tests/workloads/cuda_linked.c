/* SPDX-License-Identifier: GPL-2.0-only */
/* cuda_app, linked to the library: it is there from the first instruction. */
#define CUDA_LINKED
#include "cuda_app.c"
