/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the three rungs with BPF programs set in their skeletons and take from them. Each skeleton is a
 * type of its own with the same members, hence macros. Private to src/probe/rungs.
 */
#ifndef TEGRATRACE_RUNG_SKELETON_H
#define TEGRATRACE_RUNG_SKELETON_H

#include "probe/rungs/rung.h"

/* Before the load. */
#define SKELETON_CHOOSE(skel, settings, objects)                                       \
	do {                                                                           \
		(skel)->rodata->follow_children = (settings)->follow_children;         \
		(skel)->rodata->kernel_stacks = (settings)->kernel_stacks;             \
		(skel)->rodata->user_stacks = (settings)->user_stacks;                 \
		(skel)->rodata->keep_timeline =                                        \
			rung_choose_timeline((skel)->obj, (settings)->timeline_bytes); \
		(objects)->interrupts =                                                \
			rung_choose_interrupts((skel)->obj, (settings)->interrupts);   \
	} while (0)

/* Once it is loaded: the rung owns it. */
#define SKELETON_KEEP(skel, objects)                                           \
	do {                                                                   \
		(objects)->skeleton = (skel);                                  \
		(objects)->object = (skel)->obj;                               \
		(objects)->window = (struct tt_window *)&(skel)->data->window; \
		(objects)->losses = (struct tt_losses *)&(skel)->bss->losses;  \
	} while (0)

#endif
