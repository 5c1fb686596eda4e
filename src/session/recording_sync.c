/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a loss of power leaves a recording that can be read. In the run the database is written by this
 * thread alone, after the log that has the same pages was synced; when it was damaged by the loss, the
 * log is whole and repairs it. Only after the database was synced is the log cut, so what is lost with
 * the log is in the database, and a cut that did not get to the disk leaves a whole log of what is
 * there already. Frames that come after the cut are not synced by the writer: as many of them as got
 * to the disk are whole by their checksums, and count up to the last batch among them.
 *
 * SQLite would rather write a new log over the old one, and a few new frames over a header that
 * stayed old would let a part of the old log count again; for that it syncs the header, in the
 * writer. A file that was cut has no old frames to show. The writer is told when it was not:
 * somebody else read the log meanwhile, or the next batch came before this one was on the disk.
 *
 * After SIGKILL everything that was written is there, in the page cache.
 */
#include "session/recording_sync.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So many batches a log may hold while the disk is behind. */
#define LOG_BATCHES 4

struct recording_sync {
	char *path;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool copying, cutting; /* by the thread */
	bool writing;	       /* the log is the writer's */
	bool due, quit;	       /* asked of the thread */
	int batches;	       /* in the log since it was cut */
};

/* What SQLite does with the first sync of the connection that made the log, which makes none. */
static void sync_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	int fd;

	if (slash && slash - path + 1 >= (int)sizeof(folder))
		return;
	strcpy(folder, ".");
	if (slash) {
		memcpy(folder, path, (size_t)(slash - path) + 1);
		folder[slash - path + 1] = 0;
	}
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

/* True when all of the log is in the database; what is not comes with the next batch. */
static bool copy_log(sqlite3 *db)
{
	int in_log = -1, copied = -1; /* what is said of no log */

	/* holds up no writer: frames that come meanwhile stay for the next time */
	return sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, &in_log, &copied) ==
		       SQLITE_OK &&
	       in_log >= 0 && in_log == copied;
}

/* No writer is there, and nothing is left to copy, so it syncs nothing. Fails while somebody reads. */
static bool cut_log(sqlite3 *db)
{
	return sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) ==
	       SQLITE_OK;
}

/* With the lock held, which it gives up meanwhile. */
static void sync_once(struct recording_sync *sync, sqlite3 *db)
{
	bool done;

	sync->due = false;
	sync->copying = true;
	pthread_mutex_unlock(&sync->lock);
	done = copy_log(db);
	pthread_mutex_lock(&sync->lock);
	sync->copying = false;
	while (done && sync->writing && !sync->quit)
		pthread_cond_wait(&sync->changed, &sync->lock);
	if (!done || sync->due || sync->quit)
		return;
	sync->cutting = true;
	pthread_mutex_unlock(&sync->lock);
	done = cut_log(db);
	pthread_mutex_lock(&sync->lock);
	sync->cutting = false;
	if (done)
		sync->batches = 0;
	pthread_cond_broadcast(&sync->changed);
}

static void *sync_batches(void *ctx)
{
	struct recording_sync *sync = ctx;
	sqlite3 *db = NULL;

	if (sqlite3_open_v2(sync->path, &db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX,
			    NULL) == SQLITE_OK)
		sqlite3_exec(db, "PRAGMA synchronous=NORMAL", NULL, NULL, NULL);
	sync_folder(sync->path);
	pthread_mutex_lock(&sync->lock);
	for (;;) {
		while (!sync->due && !sync->quit)
			pthread_cond_wait(&sync->changed, &sync->lock);
		if (sync->quit)
			break;
		sync_once(sync, db);
	}
	pthread_mutex_unlock(&sync->lock);
	sqlite3_close(db);
	return NULL;
}

static void release(struct recording_sync *sync)
{
	pthread_cond_destroy(&sync->changed);
	pthread_mutex_destroy(&sync->lock);
	free(sync->path);
	free(sync);
}

struct recording_sync *recording_sync_start(const char *path)
{
	struct recording_sync *sync = calloc(1, sizeof(*sync));

	if (!sync)
		return NULL;
	pthread_mutex_init(&sync->lock, NULL);
	pthread_cond_init(&sync->changed, NULL);
	sync->path = strdup(path);
	if (sync->path && !pthread_create(&sync->thread, NULL, sync_batches, sync))
		return sync;
	release(sync);
	return NULL;
}

bool recording_sync_ready(struct recording_sync *sync)
{
	bool ready;

	/* the thread may have lost its CPU with the lock, and who asks may have real-time priority */
	if (pthread_mutex_trylock(&sync->lock))
		return false;
	ready = !sync->cutting && !((sync->due || sync->copying) && sync->batches >= LOG_BATCHES);
	if (ready)
		sync->writing = true;
	pthread_mutex_unlock(&sync->lock);
	return ready;
}

bool recording_sync_begin(struct recording_sync *sync)
{
	bool empty;

	pthread_mutex_lock(&sync->lock);
	while (sync->cutting)
		pthread_cond_wait(&sync->changed, &sync->lock);
	sync->writing = true;
	empty = !sync->batches;
	pthread_mutex_unlock(&sync->lock);
	return empty;
}

void recording_sync_end(struct recording_sync *sync, bool written)
{
	pthread_mutex_lock(&sync->lock);
	sync->writing = false;
	if (written) {
		sync->batches++;
		sync->due = true;
	}
	pthread_cond_broadcast(&sync->changed);
	pthread_mutex_unlock(&sync->lock);
}

void recording_sync_stop(struct recording_sync *sync)
{
	if (!sync)
		return;
	pthread_mutex_lock(&sync->lock);
	sync->quit = true;
	pthread_cond_broadcast(&sync->changed);
	pthread_mutex_unlock(&sync->lock);
	pthread_join(sync->thread, NULL);
	release(sync);
}
