/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/symbols/user_stacks.h"

#include <bpf/bpf.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"

#define BUCKETS	   4096
#define MAX_STACKS (4 * TT_MAX_STACKS) /* several processes may share one */

struct stack {
	struct stack *next; /* in its bucket */
	uint64_t key;
	pid_t pid;
	int n;
	int numbers[];
};

struct user_stacks {
	int fd;
	int n;
	struct user_symbols *symbols;
	struct stack *buckets[BUCKETS];
};

struct user_stacks *user_stacks_new(int stacks_fd, struct user_symbols *symbols)
{
	struct user_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->fd = stacks_fd;
	stacks->symbols = symbols;
	return stacks;
}

void user_stacks_free(struct user_stacks *stacks)
{
	struct stack *next;

	if (!stacks)
		return;
	for (int i = 0; i < BUCKETS; i++) {
		for (struct stack *stack = stacks->buckets[i]; stack; stack = next) {
			next = stack->next;
			free(stack);
		}
	}
	free(stacks);
}

static unsigned int bucket_of(pid_t pid, uint64_t key)
{
	return (key ^ (unsigned int)pid) % BUCKETS;
}

static const struct stack *find(const struct user_stacks *stacks, pid_t pid, uint64_t key)
{
	const struct stack *stack = stacks->buckets[bucket_of(pid, key)];

	while (stack && (stack->pid != pid || stack->key != key))
		stack = stack->next;
	return stack;
}

void user_stacks_note(struct user_stacks *stacks, pid_t pid, uint64_t key)
{
	struct stack **bucket = &stacks->buckets[bucket_of(pid, key)], *stack;
	struct tt_stack raw;
	int n = 0;

	if (!key || stacks->n == MAX_STACKS || find(stacks, pid, key) ||
	    bpf_map_lookup_elem(stacks->fd, &key, &raw))
		return;
	while (n < TT_STACK_DEPTH && raw.frame[n])
		n++;
	stack = malloc(sizeof(*stack) + n * sizeof(int));
	if (!stack)
		return;
	stack->key = key;
	stack->pid = pid;
	stack->n = n;
	/* All but the innermost are return addresses. */
	for (int i = 0; i < n; i++)
		stack->numbers[i] = user_symbols_add(stacks->symbols, pid, raw.frame[i] - !!i);
	stack->next = *bucket;
	*bucket = stack;
	stacks->n++;
}

size_t user_stacks_frames(const struct user_stacks *stacks, pid_t pid, uint64_t key,
			  const int **numbers)
{
	const struct stack *stack = find(stacks, pid, key);

	*numbers = stack ? stack->numbers : NULL;
	return stack ? stack->n : 0;
}

void user_stacks_fold(const struct user_stacks *stacks, pid_t pid, uint64_t key, FILE *out)
{
	const int *numbers;
	size_t n = user_stacks_frames(stacks, pid, key, &numbers);
	char frame[256];

	while (n--) {
		user_symbols_frame(stacks->symbols, numbers[n], frame, sizeof(frame));
		fprintf(out, "%s%s", frame, n ? ";" : "");
	}
}
