/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel type data (BTF) from a file that the user names: whose is it, and is it enough? */
#ifndef TEGRATRACE_TYPE_DATA_H
#define TEGRATRACE_TYPE_DATA_H

#include <stddef.h>

#define KERNEL_TYPE_DATA "/sys/kernel/btf/vmlinux"

/*
 * Whether `path` is type data of a kernel of this architecture with every field that rung raw reads,
 * and, where the file tells (tools/make-btf.sh), of this release. Offsets may still be wrong: only the
 * running kernel shows that. Returns 0, or -errno with a reason in one line.
 */
int type_data_check(const char *path, char *reason, size_t reason_size);

#endif
