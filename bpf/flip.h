/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two maps of one kind that take turns: programs count into one while the loader empties the other,
 * so no count is lost between its being read and its being deleted. The loader turns `flip_active`
 * and empties the map left behind only a tick later (src/probe/flip.c).
 */
#ifndef __TEGRATRACE_FLIP_H
#define __TEGRATRACE_FLIP_H

#define FLIP_MAPS(key_type, value_type, entries) \
	struct {                                 \
		__uint(type, BPF_MAP_TYPE_HASH); \
		__uint(max_entries, entries);    \
		__type(key, key_type);           \
		__type(value, value_type);       \
	} flip_a SEC(".maps"), flip_b SEC(".maps")

volatile __u32 flip_active;

#define flip_map() (flip_active ? (void *)&flip_b : (void *)&flip_a)

#endif /* __TEGRATRACE_FLIP_H */
