/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/clock_lock.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "tegra/board.h"
#include "tegra/board_tool.h"

/* As long as they may take. */
#define TOOL_WAIT_S 120

struct clock_lock {
	int folder, lock;
	char nvpmodel[PATH_MAX], jetson_clocks[PATH_MAX];
	char home[PATH_MAX];   /* of the programs: the folder */
	char stored[PATH_MAX]; /* what jetson_clocks stored */
	struct power_conf conf;
	struct clock_state state;
	char changed[BOARD_NAME_LEN + 64];
};

/* One call of a program, and one sentence on what went wrong. */
static int run_tool(const struct clock_lock *lock, const char *path, const char *const *args,
		    struct board_tool_result *result, char *line, size_t size)
{
	const char *name = strrchr(path, '/') + 1;
	int err = board_tool_run(path, args, lock->home, lock->lock, result);

	if (!err && WIFEXITED(result->status) && !WEXITSTATUS(result->status))
		return 0;
	snprintf(line, size, "%s", name);
	for (int i = 0; args[i]; i++)
		text_appendf(line, size, " %s", args[i]);
	if (err)
		text_appendf(line, size, ": %s", strerror(-err));
	else if (WIFSIGNALED(result->status))
		text_appendf(line, size, " was ended by signal %d", WTERMSIG(result->status));
	else
		text_appendf(line, size, " failed with %d", WEXITSTATUS(result->status));
	if (*result->first)
		text_appendf(line, size, ": %s", result->first);
	return err ? err : -EIO;
}

/* It ends with 0 although it could not do all. */
static int run_clocks(const struct clock_lock *lock, const char *option, char *line, size_t size)
{
	const char *const args[] = {option, option ? lock->stored : NULL, NULL};
	struct board_tool_result result;
	int err = run_tool(lock, lock->jetson_clocks, args, &result, line, size);

	if (err || !result.error)
		return err;
	snprintf(line, size, "jetson_clocks%s%s: %s", option ? " " : "", option ? option : "",
		 result.first);
	return -EIO;
}

static int set_mode(const struct clock_lock *lock, int id, char *line, size_t size)
{
	char number[16];
	const char *const args[] = {"-m", number, NULL};
	struct board_tool_result result;
	int err;

	snprintf(number, sizeof(number), "%d", id);
	err = run_tool(lock, lock->nvpmodel, args, &result, line, size);
	/* Without a word of consent it asks for a reboot in vain, and may end with 0. */
	if (board_power_mode_now(&lock->conf) == id && !err)
		return 0;
	if (result.reboot)
		snprintf(line, size, "power mode %d wants a reboot: nvpmodel -m %d, then the run",
			 id, id);
	else if (!err)
		snprintf(line, size, "nvpmodel -m %d did not change the power mode%s%s", id,
			 *result.first ? ": " : "", result.first);
	return result.reboot ? -EINVAL : err ? err : -EIO;
}

static void list_modes(const struct power_conf *conf, char *dst, size_t size)
{
	*dst = '\0';
	for (int i = 0; i < conf->nmodes; i++)
		text_appendf(dst, size, "%s%d %s", i ? ", " : "", conf->modes[i].id,
			     conf->modes[i].name);
}

static const struct power_conf_mode *find_mode(const struct power_conf *conf, const char *text)
{
	if (*text && !text[strspn(text, "0123456789")] && strlen(text) < 5)
		return power_conf_mode(conf, atoi(text));
	for (int i = 0; i < conf->nmodes; i++) {
		if (!strcasecmp(conf->modes[i].name, text))
			return &conf->modes[i];
	}
	return NULL;
}

/* Which mode to set and which to come back to; none of both when it is in force already. */
static int choose_mode(struct clock_lock *lock, const char *text, char *line, size_t size)
{
	const struct power_conf_mode *mode, *now;
	char names[256];

	if (board_power_modes(&lock->conf) < 0) {
		snprintf(line, size, "no power modes: /etc/nvpmodel.conf cannot be read");
		return -ENOENT;
	}
	mode = find_mode(&lock->conf, text);
	if (!mode) {
		list_modes(&lock->conf, names, sizeof(names));
		snprintf(line, size, "no power mode '%.64s' here: this board has %s", text, names);
		return -EINVAL;
	}
	now = power_conf_mode(&lock->conf, board_power_mode_now(&lock->conf));
	if (!now) {
		snprintf(line, size,
			 "the present power mode is not known, so it could not be put back");
		return -EINVAL;
	}
	/* Once the GPU was used nvpmodel cannot do it without, and not back either. */
	if (mode->tpc_pg_mask != now->tpc_pg_mask || mode->gpu_pg_mask != now->gpu_pg_mask) {
		snprintf(line, size,
			 "power mode %s switches other parts of the GPU off than %s, which wants a "
			 "reboot: nvpmodel -m %d, then the run",
			 mode->name, now->name, mode->id);
		return -EINVAL;
	}
	if (mode == now)
		return 0;
	lock->state.mode_before = now->id;
	lock->state.mode_set = mode->id;
	text_appendf(lock->changed, sizeof(lock->changed), "power mode %s", mode->name);
	return 0;
}

static int find_tools(struct clock_lock *lock, char *line, size_t size)
{
	const char *lacking = NULL;

	if (board_tool_find("jetson_clocks", lock->jetson_clocks, sizeof(lock->jetson_clocks)))
		lacking = "jetson_clocks";
	if (board_tool_find("nvpmodel", lock->nvpmodel, sizeof(lock->nvpmodel)) && !lacking &&
	    lock->state.mode_set >= 0)
		lacking = "nvpmodel";
	if (!lacking)
		return 0;
	snprintf(line, size,
		 "no %s on this machine: clocks and power mode are left to it on a Jetson",
		 lacking);
	return -ENOENT;
}

static void free_lock(struct clock_lock *lock)
{
	if (lock->lock >= 0)
		close(lock->lock);
	if (lock->folder >= 0)
		close(lock->folder);
	free(lock);
}

static struct clock_lock *new_lock(void)
{
	struct clock_lock *lock = calloc(1, sizeof(*lock));

	if (!lock)
		return NULL;
	lock->folder = lock->lock = -1;
	lock->conf.default_id = -1;
	lock->state.mode_before = lock->state.mode_set = -1;
	lock->state.pid = getpid();
	clock_state_boot_id(lock->state.boot_id);
	return lock;
}

/* A program that a killed run had started is still at work: it keeps the lock. */
static bool is_owner_gone(int folder)
{
	struct clock_state state;
	char unused[CLOCK_STATE_LINE];

	return !clock_state_read(folder, &state, unused, sizeof(unused)) && kill(state.pid, 0) &&
	       errno == ESRCH;
}

static int wait_for_lock(struct clock_lock *lock)
{
	const struct timespec step = {0, 100000000};
	int err = clock_state_lock(lock->folder, &lock->lock);

	for (int i = 0; err == -EWOULDBLOCK && i < 10 * TOOL_WAIT_S && is_owner_gone(lock->folder);
	     i++) {
		nanosleep(&step, NULL);
		err = clock_state_lock(lock->folder, &lock->lock);
	}
	return err;
}

/* The folder, for this process alone. */
static int take_folder(struct clock_lock *lock, bool make, char *line, size_t size)
{
	int err = clock_state_open(make, &lock->folder, line, size);

	if (err)
		return err;
	clock_state_folder(lock->home, sizeof(lock->home));
	if (snprintf(lock->stored, sizeof(lock->stored), "%s/%s", lock->home, CLOCK_STATE_STORED) >=
	    (int)sizeof(lock->stored)) {
		snprintf(line, size, "%s: %s", lock->home, strerror(ENAMETOOLONG));
		return -ENAMETOOLONG;
	}
	err = wait_for_lock(lock);
	if (err == -EWOULDBLOCK)
		snprintf(line, size,
			 "another run of tegratrace has changed them: wait for its end");
	else if (err)
		snprintf(line, size, "%s/clocks.lock: %s", lock->home, strerror(-err));
	return err;
}

static bool same_boot(const struct clock_state *state)
{
	char boot_id[CLOCK_BOOT_ID];

	clock_state_boot_id(boot_id);
	return *boot_id && !strcmp(boot_id, state->boot_id);
}

/* A boot undid all that it tells of. */
static bool is_void(const struct clock_state *state)
{
	return state->mode_set < 0 && !same_boot(state);
}

/*
 * In the reverse order of what was done, and the stored clocks once more behind nvpmodel, which
 * writes the limits of its mode over them. A mode that is no longer the one that was set was changed
 * by somebody since, and stays. After a boot only the mode is still changed.
 */
static int put_back(struct clock_lock *lock, char *line, size_t size)
{
	const struct clock_state *state = &lock->state;
	bool stored = false, mode;
	int err = find_tools(lock, line, size), more = 0;

	if (is_void(state))
		return clock_state_remove(lock->folder, line, size);
	if (err)
		return err;
	board_power_modes(&lock->conf);
	mode = state->mode_set >= 0 && board_power_mode_now(&lock->conf) == state->mode_set;
	if (same_boot(state)) {
		err = clock_state_keep_stored(lock->folder, line, size);
		stored = !err;
	}
	if (stored)
		err = run_clocks(lock, "--restore", line, size);
	/* The mode is put back even where the clocks could not be. */
	if (mode)
		more = set_mode(lock, state->mode_before, line, size);
	if (mode && !more && stored)
		err = run_clocks(lock, "--restore", line, size);
	if (err || more)
		return err ? err : more;
	return clock_state_remove(lock->folder, line, size);
}

/* What an earlier run left. Returns as clocks_repair(). */
static int repair(struct clock_lock *lock, char *line, size_t size)
{
	struct clock_state own = lock->state;
	int err = clock_state_read(lock->folder, &lock->state, line, size);
	bool some = !err && !is_void(&lock->state);

	if (err == -ENOENT)
		err = 0;
	else if (!err)
		err = put_back(lock, line, size);
	lock->state = own;
	return err ? err : some;
}

static int change(struct clock_lock *lock, const struct clock_wish *wish, char *line, size_t size)
{
	int err = clock_state_remove(lock->folder, line, size);

	if (!err)
		err = run_clocks(lock, "--store", line, size);
	if (!err)
		err = clock_state_keep_stored(lock->folder, line, size);
	if (!err)
		err = clock_state_write(lock->folder, &lock->state, line, size);
	if (err)
		return err;
	if (lock->state.mode_set >= 0)
		err = set_mode(lock, lock->state.mode_set, line, size);
	if (!err && wish->lock)
		err = run_clocks(lock, NULL, line, size);
	return err;
}

int clocks_lock(struct clock_lock **out, const struct clock_wish *wish, bool *left, char *line,
		size_t size)
{
	struct clock_lock *lock = new_lock();
	char also[CLOCK_STATE_LINE];
	int err = 0;

	*out = NULL;
	*left = false;
	if (!lock) {
		snprintf(line, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	if (geteuid()) {
		snprintf(line, size, "only root may change clocks: run it with sudo");
		err = -EPERM;
	}
	if (!err)
		err = find_tools(lock, line, size);
	if (!err)
		err = take_folder(lock, true, line, size);
	if (!err) {
		err = repair(lock, line, size);
		*left = err > 0;
		err = err < 0 ? err : 0;
	}
	if (!err && wish->power_mode)
		err = choose_mode(lock, wish->power_mode, line, size);
	if (!err)
		err = find_tools(lock, line, size);
	if (!err && wish->lock)
		text_appendf(lock->changed, sizeof(lock->changed), "%sclocks locked",
			     *lock->changed ? ", " : "");
	if (!err && *lock->changed) {
		err = change(lock, wish, line, size);
		if (!err) {
			*out = lock;
			return 0;
		}
		if (clock_state_read(lock->folder, &lock->state, also, sizeof(also)) == 0 &&
		    put_back(lock, also, sizeof(also)))
			text_appendf(line, size, "; and it could not be put back: %s", also);
	}
	free_lock(lock);
	return err;
}

const char *clocks_changed(const struct clock_lock *lock)
{
	return lock->changed;
}

int clocks_restore(struct clock_lock *lock, char *line, size_t size)
{
	int err;

	if (!lock)
		return 0;
	err = put_back(lock, line, size);
	free_lock(lock);
	return err;
}

void clocks_leave(struct clock_lock *lock)
{
	if (lock)
		free_lock(lock);
}

static void describe(const struct clock_state *state, char *line, size_t size)
{
	snprintf(line, size, "a run of tegratrace (PID %d) that was killed left ", (int)state->pid);
	if (state->mode_set >= 0)
		text_appendf(line, size, "the power mode at %d instead of %d%s", state->mode_set,
			     state->mode_before, same_boot(state) ? ", and " : "");
	if (same_boot(state))
		text_appendf(line, size, "clocks changed");
}

enum clocks_found clocks_look(char *line, size_t size)
{
	struct clock_state state;
	int folder, lock, err = clock_state_open(false, &folder, line, size);
	enum clocks_found found = CLOCKS_DOUBT;

	/* What may not be read is not known to be wrong. */
	if (err)
		return err == -ENOENT || err == -EACCES ? CLOCKS_OWN : CLOCKS_DOUBT;
	err = clock_state_read(folder, &state, line, size);
	if (err == -ENOENT || err == -EACCES) {
		found = CLOCKS_OWN;
	} else if (!err) {
		err = clock_state_lock(folder, &lock);
		/* Who may not try the lock sees whether the process is there. */
		if (err == -EWOULDBLOCK || is_void(&state) ||
		    (err && same_boot(&state) && (!kill(state.pid, 0) || errno == EPERM))) {
			found = CLOCKS_OWN;
		} else {
			found = CLOCKS_LEFT;
			describe(&state, line, size);
		}
		if (!err)
			close(lock);
	}
	close(folder);
	return found;
}

static bool is_there(void)
{
	struct clock_state state;
	char unused[CLOCK_STATE_LINE];
	int folder, err = clock_state_open(false, &folder, unused, sizeof(unused));

	if (!err) {
		err = clock_state_read(folder, &state, unused, sizeof(unused));
		close(folder);
	}
	return err != -ENOENT;
}

int clocks_repair(char *line, size_t size)
{
	struct clock_lock *lock;
	int err;

	/* Mostly there is none, and then nothing is touched. */
	if (!is_there())
		return 0;
	lock = new_lock();
	if (!lock) {
		snprintf(line, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	err = take_folder(lock, false, line, size);
	if (!err)
		err = repair(lock, line, size);
	else if (err == -EWOULDBLOCK || err == -ENOENT)
		err = 0;
	free_lock(lock);
	return err;
}
