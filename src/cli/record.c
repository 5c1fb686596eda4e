/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/version.h"
#include "report/output.h"
#include "session/recording.h"

#define PERIOD_NS 1000000000LL

struct record {
	struct recording *recording;
	char path[PATH_MAX]; /* without a symbolic link in it */
	char shown[256];
	int fd; /* keeps the lock that says that it is being recorded to */
	int64_t due_ns;
	bool holds_data, told;
};

static int refuse(const struct record *record, const char *why)
{
	msg_error("cannot record to %s: %s", record->shown, why);
	return EXIT_USAGE;
}

/* The folder without links, since SQLite is told to follow none. */
static int resolve(struct record *record, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char folder[PATH_MAX], real[PATH_MAX];

	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return refuse(record, "name a file");
	if (snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		     slash ? path : ".") >= (int)sizeof(folder))
		return refuse(record, strerror(ENAMETOOLONG));
	if (!realpath(folder, real))
		return refuse(record, strerror(errno));
	/* room for the names of SQLite's files beside it */
	if (snprintf(record->path, sizeof(record->path), "%s/%s", strcmp(real, "/") ? real : "",
		     name) >= (int)sizeof(record->path) - 16)
		return refuse(record, strerror(ENAMETOOLONG));
	return EXIT_OK;
}

static bool is_recording(int fd)
{
	unsigned char header[72];
	uint32_t id = 0;

	if (pread(fd, header, sizeof(header), 0) != sizeof(header))
		return false;
	for (int i = 0; i < 4; i++)
		id = id << 8 | header[68 + i];
	return !memcmp(header, "SQLite format 3", 16) && id == RECORDING_APPLICATION_ID;
}

/* Why what stands there must stay; NULL when it may go. */
static const char *reason_to_stay(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? "it is a folder" : "it is no regular file";
	if (st.st_size && !is_recording(fd))
		return "it is there and is no recording; remove it or name another file";
	if (flock(fd, LOCK_EX | LOCK_NB))
		return "another run is being recorded to it";
	return NULL;
}

/* SQLite's files beside an old recording go with it: they would be taken for the new one's. */
static int remove_files(const struct record *record)
{
	static const char *const suffixes[] = {"-wal", "-shm", "-journal", ""};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		char path[PATH_MAX + 16];

		snprintf(path, sizeof(path), "%s%s", record->path, suffixes[i]);
		if (unlink(path) && errno != ENOENT)
			return refuse(record, strerror(errno));
	}
	return EXIT_OK;
}

static int look_at_old(const struct record *record, bool remove)
{
	int fd = open(record->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *why;
	int status;

	if (fd < 0 && errno != ENOENT)
		return refuse(record, errno == ELOOP ? "it is a symbolic link; name the file itself"
						     : strerror(errno));
	why = fd < 0 ? NULL : reason_to_stay(fd);
	status = why ? refuse(record, why) : remove ? remove_files(record) : EXIT_OK;
	if (fd >= 0)
		close(fd);
	return status;
}

static int look_at_folder(const struct record *record)
{
	char folder[PATH_MAX];

	text_copy(folder, sizeof(folder), record->path);
	strrchr(folder, '/')[1] = 0;
	return faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS)
		       ? refuse(record, strerror(errno))
		       : EXIT_OK;
}

int record_open(struct record **out, const char *path)
{
	struct record *record;
	int status;

	*out = NULL;
	if (!path)
		return EXIT_OK;
	record = calloc(1, sizeof(*record));
	if (!record)
		return EXIT_RUN;
	*out = record;
	record->fd = -1;
	text_sanitize(record->shown, sizeof(record->shown), path, strlen(path));
	status = resolve(record, path);
	if (!status)
		status = look_at_folder(record);
	return status ? status : look_at_old(record, false);
}

int record_begin(struct record *record)
{
	char line[RECORDING_LINE_SIZE];
	int status;

	if (!record)
		return EXIT_OK;
	status = look_at_old(record, true);
	if (status)
		return status;
	record->fd = open(record->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (record->fd < 0)
		return refuse(record, strerror(errno));
	flock(record->fd, LOCK_EX | LOCK_NB);
	output_give_to_sudo_user(record->fd);
	if (!recording_create(record->path, "tegratrace " TEGRATRACE_VERSION, &record->recording,
			      line))
		return EXIT_OK;
	msg_error("%s", line);
	return EXIT_USAGE;
}

static void tell(struct record *record)
{
	if (!record->told)
		msg_warn("%s: what was written before is kept, and the run goes on",
			 recording_error(record->recording));
	record->told = true;
}

void record_line(struct record *record, int64_t t_ns, const char *text, size_t len)
{
	if (record && recording_line(record->recording, t_ns, text, len))
		tell(record);
}

bool record_due(const struct record *record, int64_t now_ns)
{
	return record && now_ns >= record->due_ns && recording_ready(record->recording);
}

void record_batch(struct record *record, const struct session *session, int64_t now_ns,
		  bool with_threads)
{
	record->due_ns = now_ns + PERIOD_NS;
	if (recording_batch(record->recording, session, with_threads))
		tell(record);
	else
		record->holds_data = true;
}

int record_finish(struct record *record, const struct session *session)
{
	if (!record)
		return EXIT_OK;
	record->holds_data = true;
	if (!recording_finish(record->recording, session))
		return EXIT_OK;
	msg_error("%s: the recording is not complete, what was written before is kept",
		  recording_error(record->recording));
	return EXIT_RUN;
}

void record_close(struct record *record)
{
	if (!record)
		return;
	recording_close(record->recording);
	if (record->fd >= 0) {
		if (!record->holds_data)
			remove_files(record);
		close(record->fd);
	}
	free(record);
}
