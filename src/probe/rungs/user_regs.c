/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/user_regs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user_regs.skel.h"
#include "user_regs_abi.h"

/* Sizes of a kernel stack: THREAD_SIZE of x86 and arm64, with large pages or a sanitiser larger. */
static const __u32 stack_sizes[] = {16384, 32768, 65536, 131072, 8192};

#define STACK_ALIGN 4096ULL
#define KERNEL_HALF (1ULL << 63)

/* The one call in which the program runs; its registers are what is looked for. */
struct probe {
	int program, map;
	union bpf_attr attr;
	struct tt_words words;
};

static int read_words(struct probe *probe, __u64 address)
{
	__u32 zero = 0;

	probe->words.address = address;
	if (bpf_map_update_elem(probe->map, &zero, &probe->words, BPF_ANY))
		return -errno;
	memset(&probe->attr, 0, sizeof(probe->attr));
	probe->attr.test.prog_fd = (__u32)probe->program;
	if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &probe->attr, sizeof(probe->attr)) < 0)
		return -errno;
	if (bpf_map_lookup_elem(probe->map, &zero, &probe->words))
		return -errno;
	return (int)probe->words.error;
}

static bool is_our_call(const struct probe *probe, int at)
{
	const __u64 *word = probe->words.word + at;

	return (__u32)word[0] == SYS_bpf && word[TT_REGS_FIRST] == BPF_PROG_TEST_RUN &&
	       word[TT_REGS_SECOND] == (__u64)(uintptr_t)&probe->attr &&
	       word[TT_REGS_THIRD] == sizeof(probe->attr);
}

/* The call's number among the last words of a stack; -1 when it is not there. */
static int find_call(const struct probe *probe)
{
	int first = -TT_REGS_FIRST;

	if (first < -TT_REGS_SECOND)
		first = -TT_REGS_SECOND;
	if (first < -TT_REGS_THIRD)
		first = -TT_REGS_THIRD;
	for (int at = TT_WORDS - 1; at >= first; at--) {
		if (is_our_call(probe, at))
			return at;
	}
	return -1;
}

static bool may_be_stack(__u64 word)
{
	return word & KERNEL_HALF && !(word % STACK_ALIGN);
}

static int find_in_stack(struct probe *probe, __u64 stack, __u32 *offset)
{
	for (size_t i = 0; i < sizeof(stack_sizes) / sizeof(stack_sizes[0]); i++) {
		__u32 begin = stack_sizes[i] - sizeof(probe->words.word);
		int at;

		if (read_words(probe, stack + begin))
			continue;
		at = find_call(probe);
		if (at < 0)
			continue;
		*offset = begin + (__u32)at * sizeof(probe->words.word[0]);
		return 0;
	}
	return -ENOENT;
}

static int find(struct probe *probe, struct regs_place *place)
{
	__u64 task[TT_WORDS];
	int err = read_words(probe, 0);

	if (err)
		return err;
	memcpy(task, probe->words.word, sizeof(task));
	/* The first word is the thread_info, or was the stack itself before that moved into the task. */
	for (__u32 i = 1; i < TT_WORDS; i++) {
		if (!may_be_stack(task[i]) || find_in_stack(probe, task[i], &place->stack_syscall))
			continue;
		place->task_stack = i * sizeof(task[0]);
		return 0;
	}
	return -ENOENT;
}

int user_regs_find(struct regs_place *place)
{
	struct user_regs *skel = user_regs__open_and_load();
	struct probe probe = {0};
	int err;

	if (!skel)
		return -errno;
	probe.program = bpf_program__fd(skel->progs.read_words);
	probe.map = bpf_map__fd(skel->maps.words);
	err = find(&probe, place);
	user_regs__destroy(skel);
	return err;
}
