/* SPDX-License-Identifier: GPL-2.0-only */
#ifdef TEGRATRACE_LIVE
#include "cli/live_log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 32768

struct viewer {
	struct live_log *log;
	struct MHD_Connection *connection;
	size_t read;
	bool suspended;
	struct viewer *next;
};

struct live_log {
	pthread_mutex_t lock;
	char *text;
	size_t size, room, limit;
	bool ended;
	struct viewer *viewers;
};

struct live_log *live_log_new(size_t limit)
{
	struct live_log *log = calloc(1, sizeof(*log));

	if (!log)
		return NULL;
	log->limit = limit;
	pthread_mutex_init(&log->lock, NULL);
	return log;
}

void live_log_free(struct live_log *log)
{
	if (!log)
		return;
	pthread_mutex_destroy(&log->lock);
	free(log->text);
	free(log);
}

static bool make_room(struct live_log *log, size_t more)
{
	size_t room = log->room ? log->room : CHUNK_BYTES;
	char *text;

	while (room < log->size + more)
		room *= 2;
	if (room == log->room)
		return true;
	text = realloc(log->text, room);
	if (!text)
		return false;
	log->text = text;
	log->room = room;
	return true;
}

static void put(struct live_log *log, const char *text, size_t size)
{
	memcpy(log->text + log->size, text, size);
	log->size += size;
}

static void wake(struct live_log *log)
{
	for (struct viewer *viewer = log->viewers; viewer; viewer = viewer->next) {
		if (viewer->suspended)
			MHD_resume_connection(viewer->connection);
		viewer->suspended = false;
	}
}

static void add(struct live_log *log, const char *event, json_t *data, bool last)
{
	/* On one line, as the protocol wants it. */
	char *json = data ? json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
	size_t size = json ? strlen(json) : 0;

	json_decref(data);
	if (!json)
		return;
	pthread_mutex_lock(&log->lock);
	if ((last || log->size + size < log->limit) && make_room(log, size + strlen(event) + 32)) {
		put(log, "event: ", 7);
		put(log, event, strlen(event));
		put(log, "\ndata: ", 7);
		put(log, json, size);
		put(log, "\n\n", 2);
	}
	wake(log);
	pthread_mutex_unlock(&log->lock);
	free(json);
}

void live_log_add(struct live_log *log, const char *event, json_t *data)
{
	add(log, event, data, false);
}

void live_log_add_last(struct live_log *log, const char *event, json_t *data)
{
	add(log, event, data, true);
}

size_t live_log_size(struct live_log *log)
{
	size_t size;

	pthread_mutex_lock(&log->lock);
	size = log->size;
	pthread_mutex_unlock(&log->lock);
	return size;
}

void live_log_end(struct live_log *log)
{
	pthread_mutex_lock(&log->lock);
	log->ended = true;
	wake(log);
	pthread_mutex_unlock(&log->lock);
}

bool live_log_all_read(struct live_log *log)
{
	bool all = true;

	pthread_mutex_lock(&log->lock);
	for (struct viewer *viewer = log->viewers; viewer; viewer = viewer->next)
		all &= viewer->read == log->size;
	pthread_mutex_unlock(&log->lock);
	return all;
}

static ssize_t read_on(void *context, uint64_t position, char *buffer, size_t room)
{
	struct viewer *viewer = context;
	struct live_log *log = viewer->log;
	ssize_t given;

	(void)position;
	pthread_mutex_lock(&log->lock);
	given = (ssize_t)(log->size - viewer->read < room ? log->size - viewer->read : room);
	if (given) {
		memcpy(buffer, log->text + viewer->read, (size_t)given);
		viewer->read += (size_t)given;
	} else if (log->ended) {
		given = MHD_CONTENT_READER_END_OF_STREAM;
	} else {
		/* Below the lock, or what is added now would not wake it. */
		viewer->suspended = true;
		MHD_suspend_connection(viewer->connection);
	}
	pthread_mutex_unlock(&log->lock);
	return given;
}

static void leave(void *context)
{
	struct viewer *viewer = context, **at;

	pthread_mutex_lock(&viewer->log->lock);
	at = &viewer->log->viewers;
	while (*at && *at != viewer)
		at = &(*at)->next;
	if (*at)
		*at = viewer->next;
	pthread_mutex_unlock(&viewer->log->lock);
	free(viewer);
}

struct MHD_Response *live_log_response(struct live_log *log, struct MHD_Connection *connection)
{
	struct viewer *viewer = calloc(1, sizeof(*viewer));
	struct MHD_Response *response;

	if (!viewer)
		return NULL;
	viewer->log = log;
	viewer->connection = connection;
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, CHUNK_BYTES, read_on, viewer,
						     leave);
	if (!response) {
		free(viewer);
		return NULL;
	}
	pthread_mutex_lock(&log->lock);
	viewer->next = log->viewers;
	log->viewers = viewer;
	pthread_mutex_unlock(&log->lock);
	return response;
}

#endif
