/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/tally.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_OWNERS  64
#define FIRST_ENTRIES 256
#define BUCKETS	      (1u << 14)
#define GROUPS	      512  /* of ended threads; those beyond share one without a name */
#define KEPT	      4096 /* ended threads on their own */

/* Indices, so that the arrays may move; 0 = none. */
struct entry {
	uint64_t key[TALLY_KEY];
	int64_t counts[TALLY_COUNTS];
	uint32_t owner;
	uint32_t next_in_bucket;
	uint32_t next_of_owner; /* or on the free list */
};

struct slot {
	uint32_t owner;	  /* of the thread that has it */
	uint32_t last;	  /* of the one that had it before */
	pid_t closed_tid; /* likewise */
};

struct tally {
	struct slot *slots;
	uint32_t nslots;
	struct tally_owner *owners;
	uint32_t nowners, owners_room, free_owner;
	struct entry *entries;
	uint32_t nentries, entries_room, free_entry;
	uint32_t *buckets;
	uint32_t groups[GROUPS];
	uint32_t ngroups;
	int64_t keep;
	int kept;
};

struct tally *tally_new(uint32_t slots, int64_t keep)
{
	struct tally *tally = calloc(1, sizeof(*tally));

	if (!tally)
		return NULL;
	tally->slots = calloc(slots, sizeof(struct slot));
	tally->nslots = slots;
	tally->keep = keep;
	tally->owners = calloc(FIRST_OWNERS, sizeof(struct tally_owner));
	tally->nowners = 1;
	tally->owners_room = FIRST_OWNERS;
	tally->entries = calloc(FIRST_ENTRIES, sizeof(struct entry));
	tally->nentries = 1;
	tally->entries_room = FIRST_ENTRIES;
	tally->buckets = calloc(BUCKETS, sizeof(uint32_t));
	if (tally->slots && tally->owners && tally->entries && tally->buckets)
		return tally;
	tally_free(tally);
	return NULL;
}

void tally_free(struct tally *tally)
{
	if (!tally)
		return;
	free(tally->slots);
	free(tally->owners);
	free(tally->entries);
	free(tally->buckets);
	free(tally);
}

/* Room for one more behind n. False when out of memory. */
static bool grow(void **rows, uint32_t n, uint32_t *room, size_t size)
{
	void *more;

	if (n < *room)
		return true;
	more = reallocarray(*rows, *room * 2, size);
	if (!more)
		return false;
	*rows = more;
	*room *= 2;
	return true;
}

static uint32_t new_owner(struct tally *tally, pid_t pid, pid_t tid)
{
	uint32_t owner = tally->free_owner;

	if (owner)
		tally->free_owner = tally->owners[owner].first;
	else if (grow((void **)&tally->owners, tally->nowners, &tally->owners_room,
		      sizeof(struct tally_owner)))
		owner = tally->nowners++;
	if (owner)
		tally->owners[owner] = (struct tally_owner){.pid = pid, .tid = tid};
	return owner;
}

static void free_owner(struct tally *tally, uint32_t owner)
{
	tally->owners[owner] = (struct tally_owner){.first = tally->free_owner};
	tally->free_owner = owner;
}

static uint32_t bucket_of(uint32_t owner, const uint64_t key[TALLY_KEY])
{
	uint64_t hash = owner * 0x9e3779b97f4a7c15ULL;

	for (int i = 0; i < TALLY_KEY; i++) {
		hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	return hash & (BUCKETS - 1);
}

static uint32_t find(const struct tally *tally, uint32_t owner, const uint64_t key[TALLY_KEY])
{
	uint32_t i = tally->buckets[bucket_of(owner, key)];

	while (i && (tally->entries[i].owner != owner ||
		     memcmp(tally->entries[i].key, key, sizeof(tally->entries[i].key))))
		i = tally->entries[i].next_in_bucket;
	return i;
}

static void link_entry(struct tally *tally, uint32_t i, uint32_t owner)
{
	struct entry *entry = &tally->entries[i];
	uint32_t *bucket = &tally->buckets[bucket_of(owner, entry->key)];

	entry->owner = owner;
	entry->next_in_bucket = *bucket;
	*bucket = i;
	entry->next_of_owner = tally->owners[owner].first;
	tally->owners[owner].first = i;
}

static void unlink_from_bucket(struct tally *tally, uint32_t i)
{
	const struct entry *entry = &tally->entries[i];
	uint32_t *link = &tally->buckets[bucket_of(entry->owner, entry->key)];

	while (*link != i)
		link = &tally->entries[*link].next_in_bucket;
	*link = entry->next_in_bucket;
}

static uint32_t new_entry(struct tally *tally, uint32_t owner, const uint64_t key[TALLY_KEY])
{
	uint32_t i = tally->free_entry;

	if (i)
		tally->free_entry = tally->entries[i].next_of_owner;
	else if (grow((void **)&tally->entries, tally->nentries, &tally->entries_room,
		      sizeof(struct entry)))
		i = tally->nentries++;
	if (!i)
		return 0;
	memset(&tally->entries[i], 0, sizeof(struct entry));
	memcpy(tally->entries[i].key, key, sizeof(tally->entries[i].key));
	link_entry(tally, i, owner);
	return i;
}

static void count(int64_t into[TALLY_COUNTS], const int64_t from[TALLY_COUNTS])
{
	for (int i = 0; i < TALLY_COUNTS; i++)
		into[i] += from[i];
}

/* 0: not to be told, or out of memory. */
static uint32_t owner_of(struct tally *tally, uint32_t slot_number, pid_t pid, pid_t tid)
{
	struct slot *slot = &tally->slots[slot_number];

	if (slot->closed_tid == tid)
		return slot->last;
	if (!slot->owner)
		slot->owner = new_owner(tally, pid, tid);
	return slot->owner;
}

void tally_add(struct tally *tally, uint32_t slot, pid_t pid, pid_t tid,
	       const uint64_t key[TALLY_KEY], const int64_t counts[TALLY_COUNTS])
{
	static const uint64_t rest[TALLY_KEY] = {TALLY_REST, TALLY_REST, TALLY_REST, TALLY_REST};
	uint32_t owner = slot < tally->nslots ? owner_of(tally, slot, pid, tid) : 0, i;

	if (!owner)
		return;
	i = find(tally, owner, key);
	if (!i && tally->nentries >= TALLY_LIMIT && !tally->free_entry) {
		key = rest;
		i = find(tally, owner, key);
	}
	if (!i)
		i = new_entry(tally, owner, key);
	if (!i)
		return;
	count(tally->entries[i].counts, counts);
	count(tally->owners[owner].counts, counts);
}

static uint32_t group_of(struct tally *tally, const struct thread_account *account)
{
	bool full = tally->ngroups >= GROUPS - 1;
	const char *name = full ? "" : account->group;
	pid_t pid = full ? 0 : account->pid;
	uint32_t group;

	for (uint32_t i = 0; i < tally->ngroups; i++) {
		const struct tally_owner *owner = &tally->owners[tally->groups[i]];

		if (owner->pid == account->pid && !strcmp(owner->group, account->group))
			return tally->groups[i];
	}
	if (tally->ngroups == GROUPS)
		return tally->groups[GROUPS - 1];
	group = new_owner(tally, pid, 0);
	if (group) {
		memcpy(tally->owners[group].group, name, strnlen(name, 31) + 1);
		tally->groups[tally->ngroups++] = group;
	}
	return group;
}

/* Everything that `from` counted becomes its group's. */
static void give_to_group(struct tally *tally, uint32_t from, uint32_t group)
{
	uint32_t next;

	for (uint32_t i = tally->owners[from].first; i; i = next) {
		struct entry *entry = &tally->entries[i];
		uint32_t same = find(tally, group, entry->key);

		next = entry->next_of_owner;
		unlink_from_bucket(tally, i);
		if (!same) {
			link_entry(tally, i, group);
			continue;
		}
		count(tally->entries[same].counts, entry->counts);
		entry->owner = 0;
		entry->next_of_owner = tally->free_entry;
		tally->free_entry = i;
	}
	count(tally->owners[group].counts, tally->owners[from].counts);
	free_owner(tally, from);
}

static bool stays(struct tally *tally, uint32_t owner, const struct thread_account *account)
{
	int64_t sum = 0;

	if (!account->exited)
		return true;
	for (int i = 0; i < TALLY_COUNTS; i++)
		sum += tally->owners[owner].counts[i];
	return owner && sum >= tally->keep && tally->kept++ < KEPT;
}

void tally_close(struct tally *tally, uint32_t slot_number, const struct thread_account *account,
		 int64_t counts[TALLY_COUNTS])
{
	struct slot *slot = slot_number < tally->nslots ? &tally->slots[slot_number] : NULL;
	uint32_t owner = slot ? slot->owner : 0, group;

	if (!slot)
		return;
	if (counts && owner)
		count(counts, tally->owners[owner].counts);
	slot->owner = 0;
	slot->closed_tid = account->tid;
	slot->last = owner;
	if (!stays(tally, owner, account)) {
		group = group_of(tally, account);
		if (owner && group)
			give_to_group(tally, owner, group);
		slot->last = group;
	} else if (owner) {
		tally->owners[owner].pid = account->pid;
		tally->owners[owner].tid = account->tid;
		memcpy(tally->owners[owner].group, account->group, sizeof(account->group));
	}
}

void tally_for_each(const struct tally *tally, tally_fn fn, void *ctx)
{
	for (uint32_t i = 1; i < tally->nentries; i++) {
		const struct entry *entry = &tally->entries[i];

		if (entry->owner)
			fn(ctx, &tally->owners[entry->owner], entry->key, entry->counts);
	}
}
