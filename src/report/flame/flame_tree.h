/* SPDX-License-Identifier: GPL-2.0-only */
/* Folded stacks added up by their beginnings. */
#ifndef TEGRATRACE_REPORT_FLAME_TREE_H
#define TEGRATRACE_REPORT_FLAME_TREE_H

#include <stddef.h>
#include <stdint.h>

#define FLAME_DEPTH_MAX 256 /* frames beyond are part of the last */

#define FLAME_NONE UINT32_MAX

struct flame_node {
	const char *name; /* inside the folded text; not terminated */
	uint32_t name_len;
	uint32_t first_child, next_sibling; /* FLAME_NONE: none; sorted by name once done */
	uint32_t depth;
	int64_t us; /* of it and all below */
};

/* Node 0 is the root. */
struct flame_tree {
	struct flame_node *nodes;
	uint32_t n;
	uint32_t depth; /* deepest node */
};

/*
 * Of lines "frame;...;frame COUNT", whose memory must outlive the tree and which is changed.
 * Returns 0 or -ENOMEM; flame_tree_free() in either case.
 */
int flame_tree_build(struct flame_tree *tree, char *folded);
void flame_tree_free(struct flame_tree *tree);

#endif
