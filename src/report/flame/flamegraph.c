/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/flame/flamegraph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/flame/flame_script.h"
#include "report/flame/flame_tree.h"
#include "report/flame/folded.h"
#include "report/output.h"
#include "report/target_name.h"

#define WIDTH	  1200
#define MARGIN	  10
#define ROW	  18
#define HEAD	  78
#define CHAR_W	  6.6  /* of a 11 px monospace font */
#define LEAST_W	  0.05 /* px; what is narrower cannot be seen */
#define LEAST_TXT 3    /* characters */

enum { DEPTH_GROUP = 1, DEPTH_STATE };

/* The second frame of a stack tells the kind of its time. */
static const struct kind {
	const char *state, *css, *label;
} kinds[] = {
	{"on-CPU", "work", "on-CPU"},	     {"on-CPU:gpu-spin", "gpuspin", "spins for the GPU"},
	{"on-CPU:spin", "spin", "spins"},    {"off-CPU:gpu", "gpu", "GPU"},
	{"off-CPU:disk", "disk", "disk"},    {"off-CPU:fault", "disk", NULL},
	{"off-CPU:lock", "lock", "lock"},    {"off-CPU:thread", "thread", "other thread"},
	{"off-CPU:process", "thread", NULL}, {"off-CPU:net", "net", "network, device"},
	{"off-CPU:device", "net", NULL},     {"off-CPU", "idle", "timer, event, other"},
};

#define KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

static const char style[] =
	"<style>\n"
	"svg{font:11px ui-monospace,'DejaVu Sans Mono',monospace;background:#fff}\n"
	"text{fill:#1a1a1a;pointer-events:none}.h{font:600 17px sans-serif}.s{font:12px "
	"sans-serif}\n"
	"rect{stroke:#fff;stroke-width:.4}g.f:hover rect{stroke:#000;stroke-width:1}"
	"g.f{cursor:pointer}g.m rect{fill:#e6399b;fill-opacity:1}"
	".root{fill:#d9d9d9}.group{fill:#c6ccd4}.work{fill:#f0a04b}.gpuspin{fill:#e2662f}"
	".spin{fill:#d9b32e}.gpu{fill:#8cc266}.disk{fill:#c58fd0}.lock{fill:#e58a94}"
	".thread{fill:#79b8d9}.net{fill:#7fc7b5}.idle{fill:#b9bfd6}.k rect{fill-opacity:.72}\n"
	"@media(prefers-color-scheme:dark){svg{background:#16181c}rect{stroke:#16181c}"
	".h,.s{fill:#e6e6e6}}\n"
	"</style>\n";

/* U+FFFE and U+FFFF, which XML cannot hold in any form. */
static bool is_no_xml(const char *p)
{
	return (unsigned char)p[0] == 0xef && (unsigned char)p[1] == 0xbf &&
	       ((unsigned char)p[2] == 0xbe || (unsigned char)p[2] == 0xbf);
}

static void put_escaped(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (len - i >= 3 && is_no_xml(text + i)) {
			fputc('?', out);
			i += 2;
			continue;
		}
		switch (text[i]) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(text[i], out);
		}
	}
}

static const char *kind_of(const struct flame_node *state)
{
	for (int i = 0; i < KINDS; i++) {
		size_t len = strlen(kinds[i].state);

		if (len == state->name_len && !memcmp(kinds[i].state, state->name, len))
			return kinds[i].css;
	}
	return "idle";
}

static bool is_kernel(const struct flame_node *node)
{
	return node->depth > DEPTH_STATE && node->name_len > 4 &&
	       !memcmp(node->name + node->name_len - 4, "_[k]", 4);
}

/* Whole characters of a name that fit, two dots for what is cut. */
static void put_label(FILE *out, const struct flame_node *node, double x, int y, double width)
{
	size_t room = width > 6 ? (size_t)((width - 6) / CHAR_W) : 0, chars = 0, end = 0;
	size_t cut = 0;

	if (room < LEAST_TXT)
		return;
	while (end < node->name_len && chars <= room) {
		if (chars == room - 2)
			cut = end;
		chars++;
		do
			end++;
		while (end < node->name_len && ((unsigned char)node->name[end] & 0xc0) == 0x80);
	}
	fprintf(out, "<text x=\"%.2f\" y=\"%d\">", x + 3, y + 13);
	put_escaped(out, node->name, chars > room ? cut : node->name_len);
	fputs(chars > room ? "..</text>" : "</text>", out);
}

struct drawing {
	FILE *out;
	const struct flame_tree *tree;
	double px_per_us;
	int bottom;
	const char *css[FLAME_DEPTH_MAX + 1]; /* by depth on the way to the node drawn */
};

static const char *colour(struct drawing *drawing, const struct flame_node *node)
{
	const char *css = node->depth == 0	       ? "root"
			  : node->depth == DEPTH_GROUP ? "group"
			  : node->depth == DEPTH_STATE ? kind_of(node)
						       : drawing->css[node->depth - 1];

	drawing->css[node->depth] = css;
	return css;
}

static bool put_node(struct drawing *drawing, const struct flame_node *node, int64_t from_us)
{
	double x = MARGIN + (double)from_us * drawing->px_per_us;
	double width = (double)node->us * drawing->px_per_us;
	int y = drawing->bottom - ROW * ((int)node->depth + 1);
	const char *css = colour(drawing, node);
	char length[32];

	if (width < LEAST_W)
		return false;
	text_duration(length, sizeof(length), node->us * 1000);
	fprintf(drawing->out, "<g class=\"f%s\" data-us=\"%" PRId64 "\"><title>",
		is_kernel(node) ? " k" : "", node->us);
	put_escaped(drawing->out, node->name, node->name_len);
	fprintf(drawing->out,
		" (%s, %.2f %%)</title><rect class=\"%s\" x=\"%.3f\" y=\"%d\" width=\"%.3f\" "
		"height=\"%d\" rx=\"1\"/>",
		length, 100.0 * (double)node->us / (double)drawing->tree->nodes[0].us, css, x, y,
		width, ROW - 1);
	put_label(drawing->out, node, x, y, width);
	fputs("</g>\n", drawing->out);
	return true;
}

/* Depth is bounded by FLAME_DEPTH_MAX. */
static void put_tree(struct drawing *drawing, uint32_t number, int64_t from_us)
{
	const struct flame_node *node = &drawing->tree->nodes[number];

	if (!put_node(drawing, node, from_us))
		return;
	for (uint32_t at = node->first_child; at != FLAME_NONE;
	     at = drawing->tree->nodes[at].next_sibling) {
		put_tree(drawing, at, from_us);
		from_us += drawing->tree->nodes[at].us;
	}
}

static void put_legend(FILE *out)
{
	int x = MARGIN;

	for (int i = 0; i < KINDS; i++) {
		if (!kinds[i].label)
			continue;
		fprintf(out,
			"<rect class=\"%s\" x=\"%d\" y=\"54\" width=\"12\" height=\"12\"/>"
			"<text class=\"s\" x=\"%d\" y=\"64\">%s</text>\n",
			kinds[i].css, x, x + 16, kinds[i].label);
		x += 38 + (int)(7 * strlen(kinds[i].label));
	}
}

static void put_head(FILE *out, const struct session *session, const struct verdict *verdict,
		     int height, int64_t us)
{
	char name[128], length[32];

	report_target_name(name, sizeof(name), session);
	text_duration(length, sizeof(length), us * 1000);
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\">\n%s<text class=\"h\" x=\"%d\" y=\"24\">",
		WIDTH, height, WIDTH, height, style, MARGIN);
	put_escaped(out, name, strlen(name));
	fprintf(out,
		"%sthread time on and off the CPU</text>\n"
		"<text class=\"s\" x=\"%d\" y=\"43\">%s of stacks. ",
		*name ? ": " : "", MARGIN, length);
	put_escaped(out, verdict->headline, strlen(verdict->headline));
	fprintf(out,
		"</text>\n<text class=\"s found\" x=\"%d\" y=\"24\" text-anchor=\"end\"></text>\n",
		WIDTH - MARGIN);
	put_legend(out);
}

static int write_svg(FILE *out, const struct flame_tree *tree, const struct session *session,
		     const struct verdict *verdict)
{
	int height = HEAD + ROW * ((int)tree->depth + 1) + MARGIN;
	struct drawing drawing = {.out = out, .tree = tree, .bottom = height - MARGIN};

	put_head(out, session, verdict, height, tree->nodes[0].us);
	if (tree->nodes[0].us > 0) {
		drawing.px_per_us = (WIDTH - 2 * MARGIN) / (double)tree->nodes[0].us;
		put_tree(&drawing, 0, 0);
	} else {
		fprintf(out, "<text class=\"s\" x=\"%d\" y=\"%d\">no stacks were taken</text>\n",
			MARGIN, height - MARGIN);
	}
	fputs(flame_script, out);
	fputs("</svg>\n", out);
	return output_finish(out);
}

int report_flamegraph_write(FILE *out, const struct session *session, const struct verdict *verdict)
{
	struct flame_tree tree = {0};
	char *folded = NULL;
	size_t size;
	FILE *memory = open_memstream(&folded, &size);
	int err = memory ? report_folded_write(memory, session) : -ENOMEM;

	if (memory && fclose(memory) && !err)
		err = -ENOMEM;
	if (!err)
		err = flame_tree_build(&tree, folded);
	if (!err)
		err = write_svg(out, &tree, session, verdict);
	flame_tree_free(&tree);
	free(folded);
	return err;
}
