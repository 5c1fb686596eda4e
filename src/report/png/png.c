/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/png/png.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/text.h"
#include "report/output.h"
#include "report/png/png_parts.h"
#include "report/target_name.h"

static const char signature[] = "\x89PNG\r\n\x1a\n";

void png_quote(FILE *script, const char *text, int most_chars)
{
	int chars = 0;

	fputc('"', script);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if ((c & 0xc0) != 0x80 && chars++ == most_chars) {
			fputs("...", script);
			break;
		}
		if (c < 0x80 && (isalnum(c) || strchr(" .,:-()/", c)))
			fputc(c, script);
		else
			fprintf(script, "\\%03o", c);
	}
	fputc('"', script);
}

void png_title(char *title, size_t size, const struct session *session)
{
	const char *board = *session->board.module ? session->board.module : session->board.model;
	const char *source = session->tegra.source, *slash = strrchr(source, '/');

	report_target_name(title, size, session);
	if (!*title && slash)
		text_appendf(title, size, "%s", slash + 1);
	else if (!*title)
		text_appendf(title, size, "%s", *source ? source : "tegratrace");
	if (*board)
		text_appendf(title, size, " on %s%s", board,
			     session->board_guessed ? " (told from the lines)" : "");
	if (*session->board.mode)
		text_appendf(title, size, ", %s", session->board.mode);
}

/* `picture` was written by gnuplot; a picture that is not whole never takes a name. */
static int keep_picture(int folder, const char *name, int picture)
{
	struct stat st;
	const char *data;
	FILE *out;
	int err;

	if (fstat(picture, &st))
		return -errno;
	if (st.st_size < (off_t)sizeof(signature))
		return -ENODATA;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, picture, 0);
	if (data == MAP_FAILED)
		return -errno;
	err = memcmp(data, signature, sizeof(signature) - 1) ? -ENODATA : 0;
	if (!err)
		err = output_folder_file(folder, name, &out);
	if (!err) {
		err = output_write(out, data, (size_t)st.st_size);
		if (!err)
			err = output_finish(out);
		fclose(out);
	}
	munmap((void *)data, (size_t)st.st_size);
	return err;
}

static int say_failed(const char *name, int err, const char *why)
{
	if (err == -ELOOP)
		why = "it is a symbolic link; remove it";
	else if (err == -ENODATA)
		why = "gnuplot gave no picture; is its terminal pngcairo there?";
	else if (err < 0)
		why = strerror(-err);
	msg_error("cannot draw %s: %s%s", name, err > 0 ? "gnuplot: " : "", why);
	return 1;
}

typedef void script_fn(FILE *script, const struct session *session, const struct verdict *verdict);

static int draw(int folder, const char *name, script_fn *write_script,
		const struct session *session, const struct verdict *verdict)
{
	char why[256] = "", *script = NULL;
	size_t size;
	int picture = -1, err = 0;
	FILE *out = open_memstream(&script, &size);

	if (!out)
		return say_failed(name, -ENOMEM, why);
	write_script(out, session, verdict);
	if (fclose(out)) {
		err = -ENOMEM;
		goto done;
	}
	picture = memfd_create("picture", MFD_CLOEXEC);
	err = picture < 0 ? -errno : png_gnuplot(script, size, picture, why, sizeof(why));
	if (!err)
		err = keep_picture(folder, name, picture);
done:
	if (picture >= 0)
		close(picture);
	free(script);
	return err ? say_failed(name, err, why) : 0;
}

int png_session_write(int folder, const struct session *session, const struct verdict *verdict)
{
	int curves = 0, roofline = 0;

	if (png_has_curves(session))
		curves = draw(folder, "perf_curves.png", png_curves, session, verdict);
	else
		msg_note("no perf_curves.png: there are no samples of the board to draw");
	if (verdict->has_roofline)
		roofline = draw(folder, "roofline_analysis.png", png_roofline, session, verdict);
	else
		msg_note(
			"no roofline_analysis.png: it needs the workload; give --model or --gflop, "
			"and --latency or --fps");
	return curves || roofline;
}
