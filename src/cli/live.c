/* SPDX-License-Identifier: GPL-2.0-only */
#ifdef TEGRATRACE_LIVE
#include "cli/live.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/text.h"
#include "cli/live_log.h"
#include "cli/options.h"
#include "report/html/html.h"
#include "report/json/json_series.h"
#include "report/html/page.h"

#define PERIOD_NS	1000000000LL
#define VIEWERS		16
#define VIEWERS_WAIT_MS 3000
#define TOKEN_BYTES	16

/* A day of curves; from there on viewers get the report at the end alone. */
#define LOG_BYTES (256UL << 20)

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct live {
	struct MHD_Daemon *daemon;
	struct live_log *log;
	char token[2 * TOKEN_BYTES + 1];
	struct MHD_Response *page, *refused, *missing;
	int64_t due_ns;
	/* How much of the series was sent, and how they were thinned out then. */
	size_t board_sent, host_sent;
	unsigned int board_merged, host_merged;
};

/* Told apart by time as little as a guess can use. */
static bool same_token(const char *a, const char *b, size_t size)
{
	unsigned char differ = 0;

	for (size_t i = 0; i < size; i++)
		differ |= (unsigned char)(a[i] ^ b[i]);
	return !differ;
}

/* The path behind the token, "" or more; NULL: another token. */
static const char *behind_token(const struct live *live, const char *url)
{
	size_t size = strlen(live->token);

	if (strlen(url) < size + 2 || url[0] != '/' || url[size + 1] != '/' ||
	    !same_token(url + 1, live->token, size))
		return NULL;
	return url + size + 2;
}

static enum MHD_Result send_events(struct live *live, struct MHD_Connection *connection)
{
	struct MHD_Response *response = live_log_response(live->log, connection);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	result = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	struct live *live = context;
	const char *path = behind_token(live, url);

	(void)version;
	(void)upload;
	(void)state;
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	if (!path)
		return MHD_queue_response(connection, MHD_HTTP_FORBIDDEN, live->refused);
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0)
		return MHD_queue_response(connection, MHD_HTTP_METHOD_NOT_ALLOWED, live->refused);
	if (!strcmp(path, "events"))
		return send_events(live, connection);
	if (!*path)
		return MHD_queue_response(connection, MHD_HTTP_OK, live->page);
	return MHD_queue_response(connection, MHD_HTTP_NOT_FOUND, live->missing);
}

static struct MHD_Response *fixed(char *text, size_t size, const char *type)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_COPY);

	if (!response)
		return NULL;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	return response;
}

static int make_responses(struct live *live)
{
	static char refused[] = "Not this way: open the address that tegratrace printed.\n";
	static char missing[] = "There is no such page.\n";
	static const char data[] = "{\"live\":true}";
	struct page page;
	char *text = NULL;
	size_t size;
	FILE *out;

	if (report_page(&page))
		return -ENOENT;
	out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	fwrite(page.head, 1, page.head_size, out);
	fwrite(data, 1, sizeof(data) - 1, out);
	fwrite(page.tail, 1, page.tail_size, out);
	if (!fclose(out))
		live->page = fixed(text, size, "text/html; charset=utf-8");
	free(text);
	live->refused = fixed(refused, sizeof(refused) - 1, "text/plain");
	live->missing = fixed(missing, sizeof(missing) - 1, "text/plain");
	return live->page && live->refused && live->missing ? 0 : -ENOMEM;
}

static int make_token(struct live *live)
{
	unsigned char bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	for (int i = 0; i < TOKEN_BYTES; i++)
		snprintf(live->token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* "ADDR", "ADDR:PORT", "PORT", "[ADDR6]:PORT" into host and port; false: none of them. */
static bool split(const char *where, char *host, size_t size, char *port, size_t port_size)
{
	const char *colon = strrchr(where, ':');
	size_t len;

	text_copy(host, size, LIVE_DEFAULT);
	text_copy(port, port_size, "0");
	if (*where && strspn(where, "0123456789") == strlen(where)) {
		text_copy(port, port_size, where);
		return true;
	}
	if (where[0] == '[') {
		const char *end = strchr(where, ']');

		if (!end || (end[1] && end[1] != ':'))
			return false;
		where++;
		len = (size_t)(end - where);
		colon = end[1] ? end + 1 : NULL;
	} else {
		len = colon ? (size_t)(colon - where) : strlen(where);
	}
	if (!len || len >= size)
		return false;
	memcpy(host, where, len);
	host[len] = 0;
	if (colon)
		text_copy(port, port_size, colon + 1);
	return true;
}

/* The C library takes larger ones, and cuts them. */
static bool is_port(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) <= 5 &&
	       atoi(text) <= 65535;
}

/* "fe80::1%eth0", too. */
static bool read_v6(char *host, struct sockaddr_in6 *address)
{
	char *zone = strchr(host, '%');

	if (zone) {
		*zone++ = 0;
		address->sin6_scope_id = if_nametoindex(zone);
		if (!address->sin6_scope_id)
			return false;
	}
	return inet_pton(AF_INET6, host, &address->sin6_addr) == 1;
}

/* Not getaddrinfo(), which loads libraries, and in a static binary another libc's. */
static bool resolve(const char *where, union address *address)
{
	char host[64], port[8];

	memset(address, 0, sizeof(*address));
	if (!split(where, host, sizeof(host), port, sizeof(port)) || !is_port(port))
		return false;
	if (inet_pton(AF_INET, host, &address->v4.sin_addr) == 1) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_port = htons((uint16_t)atoi(port));
		return true;
	}
	address->v6.sin6_family = AF_INET6;
	address->v6.sin6_port = htons((uint16_t)atoi(port));
	return read_v6(host, &address->v6);
}

/* With every signal blocked, which its threads inherit: the run has its own way with signals. */
static int start(struct live *live, const union address *address)
{
	unsigned int flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL |
			     MHD_ALLOW_SUSPEND_RESUME |
			     (address->any.sa_family == AF_INET6 ? MHD_USE_IPv6 : 0);
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errno = 0;
	live->daemon = MHD_start_daemon(flags, 0, NULL, NULL, answer, live, MHD_OPTION_SOCK_ADDR,
					&address->any, MHD_OPTION_CONNECTION_LIMIT, VIEWERS,
					MHD_OPTION_END);
	err = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return live->daemon ? 0 : err ? -err : -EIO;
}

static bool is_loopback(const union address *address)
{
	if (address->any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
	return ntohl(address->v4.sin_addr.s_addr) >> 24 == 127;
}

static void tell(const struct live *live, const union address *address)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(live->daemon, MHD_DAEMON_INFO_BIND_PORT);
	unsigned int port = info ? info->port : 0;
	char host[INET6_ADDRSTRLEN] = "", own[65] = "BOARD", shown[sizeof(host) + 2];

	if (address->any.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &address->v6.sin6_addr, host, sizeof(host));
	else
		inet_ntop(AF_INET, &address->v4.sin_addr, host, sizeof(host));
	snprintf(shown, sizeof(shown), strchr(host, ':') ? "[%s]" : "%s", host);
	msg_say("live: http://%s:%u/%s/", shown, port, live->token);
	if (!is_loopback(address)) {
		msg_warn("%s can be reached from elsewhere, and what it sends is not encrypted: "
			 "keep the address to yourself",
			 shown);
		return;
	}
	gethostname(own, sizeof(own) - 1);
	msg_say("live: from another machine: ssh -N -L %u:%s:%u %s, then the same address with "
		"127.0.0.1",
		port, shown, port, own);
}

static int open_server(struct live *live, const union address *address, const char *where)
{
	int err = make_responses(live);

	if (!err)
		err = make_token(live);
	live->log = live_log_new(LOG_BYTES);
	if (!err)
		err = live->log ? start(live, address) : -ENOMEM;
	if (!err) {
		tell(live, address);
		return EXIT_OK;
	}
	if (err == -ENOENT) {
		msg_error("no --live: this tegratrace was built without the page, for want of npm; "
			  "install it (tools/install-deps.sh page) and build again");
		return EXIT_UNSUPPORTED;
	}
	msg_error("--live cannot serve at %s: %s", where, strerror(-err));
	return EXIT_USAGE;
}

int live_open(struct live **out, const char *where)
{
	char shown[TEXT_SANITIZED_SIZE(64)];
	union address address;

	*out = NULL;
	if (!where)
		return EXIT_OK;
	text_sanitize(shown, sizeof(shown), where, strnlen(where, 64));
	if (!resolve(where, &address)) {
		msg_error("--live takes an address and a port in numbers, as 127.0.0.1:8080, not "
			  "'%s'",
			  shown);
		return EXIT_USAGE;
	}
	*out = calloc(1, sizeof(**out));
	return *out ? open_server(*out, &address, shown) : EXIT_RUN;
}

static json_t *nothing_yet(const struct session *session)
{
	static struct verdict none;
	json_t *data;

	none.confidence = none.share = none.gain_bound = NAN;
	data = report_html_data(session, &none);
	return data;
}

void live_begin(struct live *live, const struct session *session)
{
	if (live)
		live_log_add(live->log, "begin", nothing_yet(session));
}

/* The points behind those that were sent; all of them once they were thinned out. */
static bool new_points(struct live *live, const struct session *session, struct session *view)
{
	bool again = live->board_merged != session->series.merged ||
		     live->host_merged != session->host_series.merged;
	size_t board = again ? 0 : live->board_sent, host = again ? 0 : live->host_sent;

	*view = *session;
	view->series.points += board;
	view->series.n -= board;
	view->host_series.points += host;
	view->host_series.n -= host;
	live->board_sent = session->series.n;
	live->host_sent = session->host_series.n;
	live->board_merged = session->series.merged;
	live->host_merged = session->host_series.merged;
	return again;
}

void live_tick(struct live *live, const struct session *session, int64_t now_ns)
{
	static const struct verdict none;
	struct session *view;
	bool again;

	if (!live || now_ns < live->due_ns)
		return;
	live->due_ns = now_ns + PERIOD_NS;
	view = malloc(sizeof(*view));
	if (!view)
		return;
	again = new_points(live, session, view);
	live_log_add(live->log, again ? "series" : "points", json_series(view, &none));
	free(view);
}

void live_end(struct live *live, const struct session *session, const struct verdict *verdict)
{
	const struct timespec step = {0, 20000000};

	if (!live)
		return;
	live_log_add_last(live->log, "report", report_html_data(session, verdict));
	live_log_end(live->log);
	for (int waited = 0; waited < VIEWERS_WAIT_MS && !live_log_all_read(live->log);
	     waited += 20)
		nanosleep(&step, NULL);
	/* Read is not yet sent: what the server still holds of it goes out. */
	nanosleep(&(struct timespec){0, 200000000}, NULL);
}

void live_close(struct live *live)
{
	if (!live)
		return;
	if (live->log)
		live_log_end(live->log);
	if (live->daemon)
		MHD_stop_daemon(live->daemon);
	if (live->page)
		MHD_destroy_response(live->page);
	if (live->refused)
		MHD_destroy_response(live->refused);
	if (live->missing)
		MHD_destroy_response(live->missing);
	live_log_free(live->log);
	free(live);
}

#endif
