/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables behind wait_rules.c. */
#ifndef TEGRATRACE_WAIT_TABLES_H
#define TEGRATRACE_WAIT_TABLES_H

#include <stdbool.h>

#include "session/waits.h"

enum wait_means {
	MEANS_CLASS, /* can only be for this class */
	MEANS_WAKER, /* the waker decides; this class where it does not tell */
	MEANS_PASS,  /* says nothing: look at the caller */
};

#define CALL_FD 0x1u /* the first argument is a descriptor, and that tells more */
#define CALL_IO 0x2u /* reads or writes storage by itself: in_iowait does not mean a page fault */
#define CALL_SYNC \
	0x4u /* ends when the storage has the data: whatever it sleeps on, it is the disk */
#define CALL_RING 0x8u /* waits for requests of any kind, and the kernel calls it in_iowait */

struct call_rule {
	int nr; /* CALL_ABSENT where the architecture or the headers have none */
	const char *name;
	enum wait_means means;
	enum wait_class class;
	unsigned int flags; /* CALL_* */
};

#define CALL_ABSENT (-1)

const struct call_rule *call_rule_of(int nr);
/* By the kernel's function for it: "__arm64_sys_ppoll", "do_epoll_wait", "ksys_read". */
const struct call_rule *call_rule_of_function(const char *function);

/*
 * A pattern that ends in "*" is a prefix; any other is a whole name, which a compiler suffix
 * (".constprop.0", ".isra.0") may follow.
 */
struct name_rule {
	const char *const *patterns; /* up to a NULL */
	enum wait_means means;
	enum wait_class class;
	const char *object; /* how it is named beside the syscall: "pipe"; NULL: by its own name */
};

const struct name_rule *function_rule(const char *function);
/* Sleeps with in_iowait set. */
bool function_is_io_wait(const char *function);
bool function_is_fault_entry(const char *function);
/* Entry code and the plumbing between a syscall and its file: never worth naming a wait by. */
bool function_is_plumbing(const char *function);

const struct name_rule *file_rule(const char *file);

/* The class that a waker of this kind proves by its name; WAIT_CLASSES: none. */
enum wait_class waker_class(enum waker_kind kind, const char *name);

#endif
