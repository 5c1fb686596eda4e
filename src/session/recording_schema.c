/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/recording_schema.h"

#include <errno.h>
#include <stdlib.h>

#include "session/recording.h"
#include "session/recording_tables.h"

static const char head[] =
	"-- A recording of tegratrace: SQLite, application_id 0x54675472 (\"TgTr\").\n"
	"-- Unknown is NULL. Units stand in the names: _ns, _us (CLOCK_MONOTONIC where they are\n"
	"-- points in time), _c, _mhz, _mw, _mb (MiB), _bytes; shares are 0 to 1.\n"
	"-- row is the order in which tegratrace prints.\n"
	"\n"
	"CREATE TABLE meta (\n"
	"  -- schema_version, tool, state (\"running\", then \"finished\")\n"
	"  key TEXT PRIMARY KEY,\n"
	"  value ANY\n"
	") STRICT;\n"
	"\n"
	"CREATE TABLE tegrastats_lines (\n"
	"  -- What tegrastats printed; a blob where a line is no text.\n"
	"  row INTEGER PRIMARY KEY,\n"
	"  t_ns INTEGER, -- since the window's begin\n"
	"  line ANY\n"
	") STRICT;\n";

/* The common questions. */
static const char views[] =
	"\n"
	"-- Threads by the time that they wanted a CPU.\n"
	"CREATE VIEW top_threads AS\n"
	"  SELECT pid, tid, comm, group_name, wall_ns, oncpu_ns,\n"
	"         runq_wake_ns + runq_preempt_ns AS runq_ns, offcpu_ns,\n"
	"         1.0 * oncpu_ns / wall_ns AS oncpu_share,\n"
	"         1.0 * (runq_wake_ns + runq_preempt_ns) / wall_ns AS runq_share\n"
	"  FROM threads ORDER BY oncpu_ns + runq_wake_ns + runq_preempt_ns DESC;\n"
	"\n"
	"-- Time asleep of all threads by class of wait.\n"
	"CREATE VIEW waits_by_class AS\n"
	"  SELECT class, sum(ns) AS ns, 1.0 * sum(ns) / nullif((SELECT sum(offcpu_ns) FROM "
	"threads),\n"
	"         0) AS share\n"
	"  FROM (SELECT 'gpu' AS class, wait_gpu_ns AS ns FROM threads\n"
	"        UNION ALL SELECT 'disk', wait_disk_ns FROM threads\n"
	"        UNION ALL SELECT 'fault', wait_fault_ns FROM threads\n"
	"        UNION ALL SELECT 'lock', wait_lock_ns FROM threads\n"
	"        UNION ALL SELECT 'thread', wait_thread_ns FROM threads\n"
	"        UNION ALL SELECT 'process', wait_process_ns FROM threads\n"
	"        UNION ALL SELECT 'net', wait_net_ns FROM threads\n"
	"        UNION ALL SELECT 'device', wait_device_ns FROM threads\n"
	"        UNION ALL SELECT 'timer', wait_timer_ns FROM threads\n"
	"        UNION ALL SELECT 'child', wait_child_ns FROM threads\n"
	"        UNION ALL SELECT 'event', wait_event_ns FROM threads\n"
	"        UNION ALL SELECT 'other', wait_other_ns FROM threads)\n"
	"  GROUP BY class HAVING sum(ns) > 0 ORDER BY sum(ns) DESC;\n"
	"\n"
	"-- Who waited longest for whom.\n"
	"CREATE VIEW largest_edges AS\n"
	"  SELECT e.tid, e.group_name, e.class, e.waker_kind, e.waker, e.site, e.ns, e.count,\n"
	"         e.ns / nullif(e.count, 0) AS mean_ns, e.max_ns, s.frames\n"
	"  FROM edges AS e LEFT JOIN stacks AS s ON s.row = e.stack ORDER BY e.ns DESC;\n"
	"\n"
	"-- Time in the run queue by thread.\n"
	"CREATE VIEW runq_by_thread AS\n"
	"  SELECT pid, tid, comm, group_name, runq_wake_ns, runq_preempt_ns,\n"
	"         runq_wake_ns + runq_preempt_ns AS runq_ns, runq_count, runq_max_ns,\n"
	"         (runq_wake_ns + runq_preempt_ns) / nullif(runq_count, 0) AS mean_ns, runq_hist\n"
	"  FROM threads ORDER BY runq_wake_ns + runq_preempt_ns DESC;\n";

static const char *sql_type(const struct column *column)
{
	switch (column->type) {
	case COLUMN_F32:
	case COLUMN_F64:
		return "REAL";
	case COLUMN_BYTES:
		return "ANY";
	case COLUMN_TEXT:
	case COLUMN_STRING:
	case COLUMN_LABEL:
	case COLUMN_ENUM:
	case COLUMN_HIST:
	case COLUMN_SHARES:
		return "TEXT";
	case COLUMN_I64_KNOWN:
		return "INTEGER NOT NULL";
	default:
		return "INTEGER";
	}
}

static void print_remark(FILE *out, const struct column *column)
{
	switch (column->type) {
	case COLUMN_BYTES:
		fprintf(out, " -- as the kernel has it; a blob where it is no text");
		break;
	case COLUMN_HIST:
		fprintf(out, " -- JSON array: < 512 ns, then [256 << i, 512 << i) ns");
		break;
	case COLUMN_SHARES:
		fprintf(out, " -- JSON array");
		break;
	case COLUMN_ENUM:
		fprintf(out, " -- ");
		for (int i = 0; i < column->names; i++)
			fprintf(out, "%s%s", i ? ", " : "", column->name_of(i));
		break;
	default:
		break;
	}
}

static void print_table(FILE *out, const struct table *table)
{
	fprintf(out, "\nCREATE TABLE %s (\n  -- %s\n  row INTEGER PRIMARY KEY", table->name,
		table->comment);
	/* a comment stands behind the comma */
	for (int i = 0; i < table->ncolumns; i++) {
		const struct column *column = &table->columns[i];

		fputc(',', out);
		if (i)
			print_remark(out, &table->columns[i - 1]);
		fprintf(out, "\n  %s %s", column->name, sql_type(column));
	}
	print_remark(out, &table->columns[table->ncolumns - 1]);
	fprintf(out, "\n) STRICT;\n");
}

char *recording_schema_sql(void)
{
	const struct table *table;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs(head, out);
	for (int i = 0; (table = recording_table(i)); i++)
		print_table(out, table);
	fputs(views, out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

int recording_print_schema(FILE *out)
{
	char *text = recording_schema_sql();
	int err = text && fputs(text, out) >= 0 && !fflush(out) ? 0 : -EIO;

	free(text);
	return err;
}
