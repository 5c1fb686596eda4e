/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/flame/flame_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_NODES 256

static int new_node(struct flame_tree *tree, const char *name, size_t len, uint32_t depth,
		    uint32_t *number)
{
	/* Full at every power of two from FIRST_NODES on. */
	if (!tree->n || (tree->n >= FIRST_NODES && !(tree->n & (tree->n - 1)))) {
		size_t room = tree->n ? (size_t)tree->n * 2 : FIRST_NODES;
		struct flame_node *nodes = reallocarray(tree->nodes, room, sizeof(*nodes));

		if (!nodes)
			return -ENOMEM;
		tree->nodes = nodes;
	}
	tree->nodes[tree->n] = (struct flame_node){.name = name,
						   .name_len = (uint32_t)len,
						   .first_child = FLAME_NONE,
						   .next_sibling = FLAME_NONE,
						   .depth = depth};
	if (depth > tree->depth)
		tree->depth = depth;
	*number = tree->n++;
	return 0;
}

static int compare(const struct flame_node *node, const char *name, size_t len)
{
	size_t shorter = node->name_len < len ? node->name_len : len;
	int order = memcmp(node->name, name, shorter);

	if (order)
		return order;
	return node->name_len < len ? -1 : node->name_len > len;
}

/* The child of that name, made in its place among its sorted siblings where there is none. */
static int child(struct flame_tree *tree, uint32_t parent, const char *name, size_t len,
		 uint32_t *number)
{
	uint32_t at = tree->nodes[parent].first_child, before = FLAME_NONE;
	int order = 1, err;

	while (at != FLAME_NONE) {
		order = compare(&tree->nodes[at], name, len);
		if (order >= 0)
			break;
		before = at;
		at = tree->nodes[at].next_sibling;
	}
	if (at != FLAME_NONE && !order) {
		*number = at;
		return 0;
	}
	err = new_node(tree, name, len, tree->nodes[parent].depth + 1, number);
	if (err)
		return err;
	tree->nodes[*number].next_sibling = at;
	if (before == FLAME_NONE)
		tree->nodes[parent].first_child = *number;
	else
		tree->nodes[before].next_sibling = *number;
	return 0;
}

static int add_line(struct flame_tree *tree, char *line)
{
	char *blank = strrchr(line, ' ');
	int64_t us = blank ? strtoll(blank + 1, NULL, 10) : 0;
	uint32_t at = 0;

	if (us <= 0)
		return 0;
	*blank = '\0';
	tree->nodes[0].us += us;
	while (line) {
		size_t len = tree->nodes[at].depth + 1 < FLAME_DEPTH_MAX ? strcspn(line, ";")
									 : strlen(line);
		int err = child(tree, at, line, len, &at);

		if (err)
			return err;
		tree->nodes[at].us += us;
		line = line[len] ? line + len + 1 : NULL;
	}
	return 0;
}

int flame_tree_build(struct flame_tree *tree, char *folded)
{
	uint32_t root;
	char *line;
	int err;

	*tree = (struct flame_tree){0};
	err = new_node(tree, "all", 3, 0, &root);
	while (!err && (line = strsep(&folded, "\n")))
		err = add_line(tree, line);
	return err;
}

void flame_tree_free(struct flame_tree *tree)
{
	free(tree->nodes);
	*tree = (struct flame_tree){0};
}
