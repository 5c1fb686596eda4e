/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/clocks.h"

#include <unistd.h>

#include "base/msg.h"
#include "cli/options.h"

static void say_repaired(void)
{
	msg_note("clocks and power mode that a killed run had left were put back");
}

void clocks_repair_leftover(void)
{
	char line[CLOCK_STATE_LINE];
	int done;

	if (geteuid()) {
		if (clocks_look(line, sizeof(line)) == CLOCKS_LEFT)
			msg_warn("%s: " CLOCKS_REMEDY " puts them back", line);
		return;
	}
	done = clocks_repair(line, sizeof(line));
	if (done > 0)
		say_repaired();
	else if (done < 0)
		msg_warn("the clocks that a killed run left cannot be put back: %s", line);
}

int clocks_repair_command(void)
{
	char line[CLOCK_STATE_LINE];
	int done;

	if (geteuid()) {
		msg_error("only root may change clocks: " CLOCKS_REMEDY);
		return EXIT_PERMISSION;
	}
	done = clocks_repair(line, sizeof(line));
	if (done < 0) {
		msg_error("the clocks cannot be put back: %s", line);
		return EXIT_RUN;
	}
	if (done)
		say_repaired();
	else
		msg_note("no clocks are left changed by a run that was killed");
	return EXIT_OK;
}

int clocks_take(struct clock_lock **lock, const struct clock_wish *wish)
{
	char line[CLOCK_STATE_LINE];
	bool left;
	int err;

	*lock = NULL;
	if (!wish->lock && !wish->power_mode)
		return EXIT_OK;
	err = clocks_lock(lock, wish, &left, line, sizeof(line));
	if (left)
		say_repaired();
	if (err) {
		msg_error("%s: %s",
			  wish->lock ? "cannot lock the clocks" : "cannot set the power mode",
			  line);
		return geteuid() ? EXIT_PERMISSION : EXIT_COMMAND_FAILED;
	}
	if (*lock)
		msg_note("%s for the time of the run", clocks_changed(*lock));
	return EXIT_OK;
}

int clocks_give_back(struct clock_lock *lock)
{
	char line[CLOCK_STATE_LINE];

	if (!clocks_restore(lock, line, sizeof(line)))
		return EXIT_OK;
	msg_error("clocks and power mode are not back as they were: %s; try " CLOCKS_REMEDY, line);
	return EXIT_RUN;
}
