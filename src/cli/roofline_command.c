/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/roofline_command.h"

#include <argp.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/workload_options.h"
#include "diagnose/models.h"
#include "diagnose/roofline.h"
#include "report/text/lines.h"
#include "tegra/modules.h"

#define MAX_LINES 25
#define NUMBER	  32

struct request {
	const char *module, *mode; /* NULL: not given */
	struct workload workload;
	bool json;
};

/* What was asked for, looked up and computed. */
struct answer {
	const char *board; /* name as in the table, or as given; NULL */
	struct roofline_origin origin;
	const struct module_mode *largest;
	const char *assumption; /* about the module or its mode; NULL */
	struct roofline_input input;
	struct roofline_point point;
	struct roofline_wording words;
	struct roofline_notes notes;
};

static const char doc[] =
	"Where a workload lies under the roofline of a Jetson, by arithmetic alone.\n"
	"\n"
	"  tegratrace roofline --module orin-nano-super --mode MAXN_SUPER --model yolov8n "
	"--latency 4.4\n"
	"  tegratrace roofline --peak-flops 16.7T --peak-bw 102.4G --gflop 8.9 --bytes 10M "
	"--fps 200\n"
	"\v"
	"The clock is the cap of the power mode: for a run at other clocks give --peak-flops and "
	"--peak-bw. All peaks are dense. Not so, though often copied: ";

enum {
	KEY_MODULE = 1000,
	KEY_MODE,
	KEY_JSON,
};

static const struct argp_child children[] = {{&workload_argp, 0, NULL, 2}, {0}};

static const struct argp_option entries[] = {
	{NULL, 0, NULL, 0, "Board:", 1},
	{"module", KEY_MODULE, "NAME", 0, "Jetson module: \"orin-nano-super\", p3767-0005", 0},
	{"mode", KEY_MODE, "NAME", 0, "Power mode by name (default: the module's default mode)", 0},
	{NULL, 0, NULL, 0, "Output:", 6},
	{"json", KEY_JSON, NULL, 0, "One JSON object", 0},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &request->workload;
		return 0;
	case KEY_MODULE:
		request->module = arg;
		return 0;
	case KEY_MODE:
		request->mode = arg;
		return 0;
	case KEY_JSON:
		request->json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unknown word '%s'", arg);
		return EINVAL;
	case ARGP_KEY_END:
		if (!request->module && isnan(request->workload.peak_flops) &&
		    isnan(request->workload.peak_bw))
			argp_error(state, "no ceilings: give --module, or --peak-flops and "
					  "--peak-bw");
		if (request->mode && !request->module)
			argp_error(state, "--mode needs --module");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static char *help_filter(int key, const char *text, void *input)
{
	char *all = NULL, *more;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC || !text)
		return (char *)text;
	all = strdup(text);
	for (int i = 0; all && i < ROOFLINE_CLAIMS; i++) {
		if (asprintf(&more, "%s%s%s (%s)", all, i ? "; " : "", roofline_claims[i].claim,
			     roofline_claims[i].fact) < 0)
			more = NULL;
		free(all);
		all = more;
	}
	return all;
}

static void list_modules(void)
{
	const struct module *modules;
	char names[2048] = "";
	size_t n;

	modules = modules_all(&n);
	for (size_t i = 0; i < n; i++)
		text_appendf(names, sizeof(names), "%s%s", i ? ", " : "",
			     modules[i].name + (strncmp(modules[i].name, "Jetson ", 7) ? 0 : 7));
	msg_error("known modules: %s", names);
}

static int find_mode(struct answer *answer, const struct request *request)
{
	const struct module *module = answer->origin.module;
	char names[512] = "";

	answer->largest = module_mode_max(module);
	answer->origin.mode = request->mode ? module_mode_by_name(module, request->mode)
					    : module_mode_default(module);
	if (!answer->origin.mode && !request->mode)
		answer->origin.mode = answer->largest;
	if (answer->origin.mode) {
		if (!request->mode && module->nmodes > 1)
			answer->assumption = answer->assumption
						     ? "the devkit's memory size and the module's "
						       "default mode are assumed"
						     : "the module's default mode is assumed";
		return EXIT_OK;
	}
	for (size_t i = 0; i < module->nmodes; i++)
		text_appendf(names, sizeof(names), "%s%s", i ? ", " : "", module->modes[i].name);
	msg_error("%s has no mode '%s': it has %s", module->name, request->mode, names);
	return EXIT_USAGE;
}

static int find_module(struct answer *answer, const struct request *request)
{
	struct roofline_origin *origin = &answer->origin;
	struct roofline_input *input = &answer->input;
	bool assumed = false,
	     given = !isnan(request->workload.peak_flops) || !isnan(request->workload.peak_bw);
	const struct module *module;

	board_ceilings_init(&origin->table);
	answer->board = request->module;
	if (!request->module)
		return EXIT_OK;
	module = module_by_name(request->module, &assumed);
	if (!module && given && !request->mode) {
		answer->assumption = "this module is not in the table: only the ceilings given";
		return EXIT_OK;
	}
	if (!module) {
		msg_error("unknown module '%s'", request->module);
		list_modules();
		msg_error("for another board leave --module out and give --peak-flops and "
			  "--peak-bw");
		return EXIT_USAGE;
	}
	origin->module = module;
	answer->board = module->name;
	if (assumed)
		answer->assumption = "the devkit's memory size is assumed";
	if (find_mode(answer, request))
		return EXIT_USAGE;
	module_mode_ceilings(&origin->table, module, origin->mode);
	if (answer->largest)
		module_mode_ceilings(&input->largest, module, answer->largest);
	input->unverified = gpu_rates(module->soc)->unverified;
	input->sparse_tensor_cores = module->soc == SOC_T234 || module->soc == SOC_T264;
	/* The Orin Nano is the one Orin without. */
	input->dla = module->soc == SOC_T194 ||
		     (module->soc == SOC_T234 && !strstr(module->name, "Orin Nano"));
	return EXIT_OK;
}

static int find_precision(struct answer *answer, const struct request *request,
			  struct roofline_format *format)
{
	const char *given = request->workload.precision, *name = *given ? given : "fp16";
	const struct module *module = answer->origin.module;
	const struct gpu_rates *rates = module ? gpu_rates(module->soc) : NULL;
	char names[256] = "";

	if (!roofline_format_parse(name, &answer->input.largest, format)) {
		msg_error("unknown precision '%s': fp32, tf32, fp16, fp16-cuda, int8, fp8, fp4, "
			  "w8a16, w4a16",
			  name);
		return EXIT_USAGE;
	}
	answer->input.precision = format->precision;
	if (!rates || rates->fma[format->precision] || !isnan(request->workload.peak_flops))
		return EXIT_OK;
	for (int i = 0; i < PRECISIONS; i++)
		if (rates->fma[i])
			text_appendf(names, sizeof(names), "%s%s", *names ? ", " : "",
				     precision_name(i));
	msg_error("%s has no %s: it has %s", module->name,
		  roofline_precision_label(format->precision), names);
	return EXIT_USAGE;
}

static void take_model(struct answer *answer, const struct request *request,
		       const struct roofline_format *format)
{
	const struct model *model;

	answer->input.flop_per_item = request->workload.flop_per_item;
	if (!*request->workload.model)
		return;
	model = model_by_name(request->workload.model);
	answer->origin.model = model;
	answer->input.weight_bytes = model->params_m * 1e6 * format->weight_bytes;
	answer->input.io_bytes_per_item = model->io_melem * 1e6 * format->activation_bytes;
}

static int answer_find(struct answer *answer, const struct request *request)
{
	const struct workload *workload = &request->workload;
	struct roofline_input *input = &answer->input;
	struct roofline_format format;

	roofline_input_init(input);
	if (find_module(answer, request) || find_precision(answer, request, &format))
		return EXIT_USAGE;
	take_model(answer, request, &format);
	input->now = answer->origin.table;
	answer->origin.peak_flops = workload->peak_flops;
	answer->origin.peak_bw = workload->peak_bw;
	if (!isnan(workload->peak_flops))
		input->now.flops[format.precision] = workload->peak_flops;
	if (!isnan(workload->peak_bw)) {
		input->now.dram = workload->peak_bw;
		input->now.dram_practical =
			roofline_thresholds[ROOFLINE_DRAM_PRACTICAL].share * workload->peak_bw;
	}
	input->peak_given = !isnan(workload->peak_flops);
	input->batch = workload->batch;
	input->latency_s = workload->latency_s;
	input->items_per_s = workload->items_per_s;
	input->bytes_per_item = workload->bytes_per_item;
	roofline_compute(input, &answer->point);
	roofline_words(input, &answer->point, &answer->words);
	roofline_check(&answer->origin, input, &answer->notes);
	if (answer->assumption)
		roofline_note(&answer->notes, "%s", answer->assumption);
	return EXIT_OK;
}

static void board_line(struct lines *lines, const struct answer *answer)
{
	const struct module *module = answer->origin.module;
	const struct module_mode *mode = answer->origin.mode;
	char text[256] = "";

	if (!module) {
		text_appendf(text, sizeof(text), "%s: the ceilings given",
			     answer->board ? answer->board : "unknown");
	} else {
		text_appendf(text, sizeof(text), "%s, %s:", module->name, mode->name);
		if (isnan(mode->gpu_mhz))
			text_appendf(text, sizeof(text), " GPU clock unknown");
		else
			text_appendf(text, sizeof(text), " GPU %.0f MHz", mode->gpu_mhz);
		if (mode->sm > 0)
			text_appendf(text, sizeof(text), ", %d of %d SM", mode->sm, module->sm);
		if (!isnan(mode->emc_mhz))
			text_appendf(text, sizeof(text), ", EMC %.0f MHz", mode->emc_mhz);
	}
	lines_label(lines, "board", text, 2);
}

static void work_line(struct lines *lines, const struct answer *answer)
{
	const struct model *model = answer->origin.model;
	const struct roofline_input *input = &answer->input;
	const char *item = model ? model->item : "item";
	char text[256] = "", work[NUMBER];

	if (isnan(input->flop_per_item))
		return;
	roofline_format_si(work, sizeof(work), input->flop_per_item, "FLOP");
	if (model)
		text_appendf(text, sizeof(text), "%s (%s, %s): ", model->name, model->input,
			     model->unit == MODEL_GIVES_GMAC	? "2 x the GMAC of torchvision"
			     : model->unit == MODEL_GIVES_GFLOP ? model->source
								: "2 x its multiply-adds");
	text_appendf(text, sizeof(text), "%s per %s", work, item);
	if (!isnan(input->latency_s))
		text_appendf(text, sizeof(text), ", %.0f in %.4g ms",
			     isnan(input->batch) ? 1 : input->batch, 1e3 * input->latency_s);
	if (!isnan(answer->point.items_per_s))
		text_appendf(text, sizeof(text), ", %.4g %ss/s", answer->point.items_per_s, item);
	lines_label(lines, "work", text, 2);
}

static void point_lines(struct lines *lines, const struct answer *answer)
{
	static const char *const traffic[] = {
		[ROOFLINE_TRAFFIC_UNKNOWN] = "unknown",
		[ROOFLINE_TRAFFIC_GIVEN] = "as given",
		[ROOFLINE_TRAFFIC_EMC] = "EMC load: of the whole SoC",
		[ROOFLINE_TRAFFIC_LOWER_BOUND] =
			"a lower bound: weights once per batch, input, output",
	};
	const struct roofline_point *point = &answer->point;
	double ridge = point->ridge[answer->input.precision];
	char flops[NUMBER], bytes[NUMBER], rate[NUMBER], text[256] = "";

	if (!isnan(point->flops)) {
		roofline_format_si(flops, sizeof(flops), point->flops, "FLOP/s");
		text_appendf(text, sizeof(text), "%s", flops);
		if (!isnan(point->intensity))
			text_appendf(text, sizeof(text), " at %.4g FLOP/B", point->intensity);
		if (!isnan(point->intensity) && !isnan(ridge))
			text_appendf(text, sizeof(text), ", %s of the ridge",
				     point->intensity < ridge ? "memory side" : "compute side");
		lines_label(lines, "point", text, 1);
	}
	if (isnan(point->bytes_per_item))
		return;
	roofline_format_si(bytes, sizeof(bytes), point->bytes_per_item, "B");
	roofline_format_si(rate, sizeof(rate), point->bytes_per_s, "B/s");
	snprintf(text, sizeof(text), "%s an item, %s (%s)", bytes, rate, traffic[point->traffic]);
	lines_label(lines, "traffic", text, 1);
}

static void ceiling_row(struct lines *lines, const char *name, double now, double largest,
			const char *unit, double ridge, double share)
{
	char cells[2][NUMBER], ridge_text[NUMBER] = "", share_text[NUMBER] = "";

	roofline_format_si(cells[0], NUMBER, now, unit);
	roofline_format_si(cells[1], NUMBER, largest, unit);
	if (!isnan(ridge))
		snprintf(ridge_text, NUMBER, "%.1f FLOP/B", ridge);
	if (!isnan(share))
		roofline_format_share(share_text, NUMBER, share);
	lines_addf(lines, "%-22s %14s %20s %16s %9s", name, cells[0],
		   isnan(largest) ? "" : cells[1], ridge_text, share_text);
}

static void flops_row(struct lines *lines, const struct answer *answer, int i)
{
	const struct roofline_input *input = &answer->input;
	const struct roofline_point *point = &answer->point;
	bool chosen = (int)input->precision == i;
	char name[NUMBER];

	if (isnan(input->now.flops[i]) && isnan(input->largest.flops[i]))
		return;
	snprintf(name, sizeof(name), "  %s %s%s", chosen ? ">" : " ", roofline_precision_label(i),
		 chosen && input->peak_given   ? ", given"
		 : input->unverified & 1U << i ? " (unsure)"
					       : "");
	ceiling_row(lines, name, input->now.flops[i], input->largest.flops[i],
		    i == PREC_INT8_TC ? "OP/s" : "FLOP/s", point->ridge[i], point->roof_share[i]);
}

static void ceiling_table(struct lines *lines, const struct answer *answer)
{
	const struct roofline_input *input = &answer->input;
	const struct roofline_point *point = &answer->point;
	char largest[64] = "";

	if (answer->largest)
		snprintf(largest, sizeof(largest), "max %s", answer->largest->name);
	lines_addf(lines, "    %-18s %14s %20s %16s %9s", "dense ceilings",
		   answer->largest ? "this mode" : "", largest, "ridge", "point");
	for (int i = 0; i < PRECISIONS; i++)
		flops_row(lines, answer, i);
	ceiling_row(lines,
		    isnan(answer->origin.peak_bw) ? "    DRAM theoretical" : "    DRAM, given",
		    input->now.dram, input->largest.dram, "B/s", NAN, point->dram_share);
	ceiling_row(lines, "    DRAM practical", input->now.dram_practical,
		    input->largest.dram_practical, "B/s", NAN, point->dram_practical_share);
}

static int print_text(const struct answer *answer)
{
	struct lines lines = {.bold = strcspn(answer->words.headline, ":")};
	const struct roofline_wording *words = &answer->words;
	int err;

	lines_wrap(&lines, "", "  ", words->headline, 2);
	board_line(&lines, answer);
	work_line(&lines, answer);
	point_lines(&lines, answer);
	ceiling_table(&lines, answer);
	for (int i = 0; i < words->nsteps; i++)
		lines_label(&lines,
			    i						 ? ""
			    : answer->point.bound == ROOFLINE_IMPOSSIBLE ? "check"
									 : "next",
			    words->steps[i], 1);
	for (int i = 0; i < answer->notes.n && lines.n < MAX_LINES; i++)
		lines_label(&lines, i ? "" : "note", answer->notes.text[i],
			    lines.n + 3 <= MAX_LINES ? 3 : MAX_LINES - lines.n);
	err = lines_write(stdout, &lines, isatty(STDOUT_FILENO) && !getenv("NO_COLOR"));
	lines_free(&lines);
	if (err)
		msg_error("cannot write the roofline: %s", strerror(-err));
	return err ? EXIT_RUN : EXIT_OK;
}

static json_t *workload_json(const struct answer *answer)
{
	const struct model *model = answer->origin.model;
	json_t *workload = roofline_workload_json(&answer->input, &answer->point);
	json_t *name = model ? json_string(model->name) : json_null();

	if (json_object_set_new(workload, "model", name)) {
		json_decref(workload);
		return NULL;
	}
	return workload;
}

static json_t *texts_json(const char *texts, size_t stride, int n)
{
	json_t *list = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_string(texts + (size_t)i * stride));
	return list;
}

static int print_json(const struct answer *answer)
{
	const struct module_mode *mode = answer->origin.mode, *largest = answer->largest;
	json_t *object = json_pack(
		"{s:s,s:s?,s:s?,s:s?,s:o,s:o,s:o,s:s,s:o,s:o}", "schema", "tegratrace-roofline/1",
		"module", answer->origin.module ? answer->board : NULL, "mode",
		mode ? mode->name : NULL, "largest_mode", largest ? largest->name : NULL,
		"workload", workload_json(answer), "roofline",
		roofline_json(&answer->input, &answer->point), "ceilings",
		roofline_ceilings_json(&answer->input, &answer->point), "headline",
		answer->words.headline, "next_steps",
		texts_json(answer->words.steps[0], sizeof(answer->words.steps[0]),
			   answer->words.nsteps),
		"notes",
		texts_json(answer->notes.text[0], sizeof(answer->notes.text[0]), answer->notes.n));
	int failed = !object ||
		     json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15)) ||
		     putchar('\n') == EOF || fflush(stdout);

	json_decref(object);
	if (failed)
		msg_error("cannot write the JSON");
	return failed ? EXIT_RUN : EXIT_OK;
}

int roofline_command(int argc, char **argv)
{
	static const struct argp argp = {entries,  parse_option, NULL, doc,
					 children, help_filter,	 NULL};
	struct request request = {0};
	struct answer answer = {0};
	int status;

	workload_init(&request.workload);
	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &request))
		return EXIT_USAGE;
	status = answer_find(&answer, &request);
	if (status)
		return status;
	return request.json ? print_json(&answer) : print_text(&answer);
}
