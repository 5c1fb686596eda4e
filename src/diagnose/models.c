/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/models.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

#define KEY_LEN 64

#define MAC(giga)  2 * (giga), giga
#define FLOP(giga) giga, NAN

#define IMAGE_224   "224x224", "image"
#define IMAGE_640   "640x640", "image"
#define TORCHVISION 0.152, "torchvision", MODEL_GIVES_GMAC, false
/* Of 640x640: 84 x 8400 outputs, YOLOv5 85 x 25200. */
#define ULTRALYTICS	   1.934, "Ultralytics", MODEL_GIVES_GFLOP, false
#define ULTRALYTICS_YOLOV5 3.371, "Ultralytics", MODEL_GIVES_GFLOP, true
/* 255 outputs in each cell of its grids. */
#define DARKNET(io) io, "darknet", MODEL_GIVES_GFLOP, true
#define COUNTED(io) io, "various", MODEL_GIVES_GFLOP, true
#define BERT	    "sequence"
#define BERT_SOURCE NAN, "2 x encoder params x S + 4 S^2 d x layers", MODEL_ARITHMETIC, false
/* The KV cache comes on top of the weights. */
#define LLM(params) "decode", "token", params, FLOP(2 * (params) / 1000)
#define LLM_SOURCE  NAN, "2 x params a token", MODEL_ARITHMETIC, false

static const struct model models[] = {
	{"ResNet-18", "", IMAGE_224, 11.7, MAC(1.814), TORCHVISION},
	{"ResNet-50", "resnet50v1.5", IMAGE_224, 25.6, MAC(4.089), TORCHVISION},
	{"MobileNetV2", "", IMAGE_224, 3.5, MAC(0.301), TORCHVISION},
	{"EfficientNet-B0", "", IMAGE_224, 5.3, MAC(0.386), TORCHVISION},
	{"VGG-16", "", IMAGE_224, 138.4, MAC(15.47), TORCHVISION},
	{"VGG-19", "", IMAGE_224, 143.7, MAC(19.63), TORCHVISION},
	{"ViT-B/16", "vit vit-base", IMAGE_224, 86.6, MAC(17.56), TORCHVISION},
	{"YOLOv8n", "", IMAGE_640, 3.2, FLOP(8.9), ULTRALYTICS},
	{"YOLOv8s", "", IMAGE_640, 11.2, FLOP(28.8), ULTRALYTICS},
	{"YOLOv8m", "", IMAGE_640, 25.9, FLOP(79.3), ULTRALYTICS},
	{"YOLOv8l", "", IMAGE_640, 43.7, FLOP(165.7), ULTRALYTICS},
	{"YOLOv8x", "", IMAGE_640, 68.2, FLOP(258.5), ULTRALYTICS},
	{"YOLO11n", "", IMAGE_640, 2.6, FLOP(6.6), ULTRALYTICS},
	{"YOLO11s", "", IMAGE_640, 9.5, FLOP(21.7), ULTRALYTICS},
	{"YOLO11m", "", IMAGE_640, 20.1, FLOP(68.5), ULTRALYTICS},
	{"YOLO11l", "", IMAGE_640, 25.4, FLOP(87.6), ULTRALYTICS},
	{"YOLO11x", "", IMAGE_640, 57.0, FLOP(196.0), ULTRALYTICS},
	{"YOLOv5n", "", IMAGE_640, 1.9, FLOP(4.5), ULTRALYTICS_YOLOV5},
	{"YOLOv5s", "", IMAGE_640, 7.2, FLOP(16.5), ULTRALYTICS_YOLOV5},
	{"YOLOv5m", "", IMAGE_640, 21.2, FLOP(49.0), ULTRALYTICS_YOLOV5},
	{"YOLOv5l", "", IMAGE_640, 46.5, FLOP(109.1), ULTRALYTICS_YOLOV5},
	{"YOLOv5x", "", IMAGE_640, 86.7, FLOP(205.7), ULTRALYTICS_YOLOV5},
	{"YOLOv3-416", "", "416x416", "image", 62, FLOP(65.9), DARKNET(1.424)},
	{"YOLOv3-608", "", "608x608", "image", 62, FLOP(140.7), DARKNET(3.042)},
	{"YOLOv4-416", "", "416x416", "image", 64, FLOP(60.1), DARKNET(1.424)},
	{"YOLOv4-608", "", "608x608", "image", 64, FLOP(128.5), DARKNET(3.042)},
	{"YOLOv3-tiny-416", "yolov3-tiny", "416x416", "image", 8.9, FLOP(5.57), DARKNET(0.735)},
	{"SSD300-VGG16", "ssd300", "300x300", "image", 35.6, FLOP(69.7), COUNTED(1.100)},
	{"SSDLite-MobileNetV3", "ssdlite", "320x320", "image", 3.4, FLOP(1.17), COUNTED(0.614)},
	{"Inception-v4", "", "299x299", "image", 42.7, FLOP(24.6), COUNTED(0.269)},
	{"U-Net-256", "unet", "256x256", "image", 31, FLOP(110), COUNTED(NAN)},
	{"BERT-base-128", "", "128 tokens", BERT, 110, FLOP(22.4), BERT_SOURCE},
	{"BERT-base-384", "", "384 tokens", BERT, 110, FLOP(69), BERT_SOURCE},
	{"BERT-large-384", "bert-large", "384 tokens", BERT, 335, FLOP(246), BERT_SOURCE},
	{"Llama-3.1-8B", "llama-3-8b", LLM(8030.0), LLM_SOURCE},
	{"Llama-3.2-3B", "", LLM(3213.0), LLM_SOURCE},
	{"Llama-2-7B", "", LLM(6738.0), LLM_SOURCE},
};

#define MODELS (sizeof(models) / sizeof(models[0]))

const struct model *models_all(size_t *n)
{
	*n = MODELS;
	return models;
}

/* Letters and digits in lower case; "yolov8n" and "yolo8n" are the same. */
static void make_key(char *key, const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < KEY_LEN - 1; i++)
		if (isalnum((unsigned char)text[i]))
			key[n++] = (char)tolower((unsigned char)text[i]);
	key[n] = '\0';
	if (!strncmp(key, "yolov", 5) && isdigit((unsigned char)key[5]))
		memmove(key + 4, key + 5, strlen(key + 5) + 1);
}

static size_t without_extension(const char *name)
{
	static const char *const extensions[] = {".pt",	  ".pth", ".onnx", ".engine",
						 ".plan", ".trt", ".uff"};
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++) {
		size_t n = strlen(extensions[i]);

		if (len > n && !strcasecmp(name + len - n, extensions[i]))
			return len - n;
	}
	return len;
}

/* What may follow the name: nothing, the input "640x640", or its first number "640". */
static bool is_input(const struct model *model, const char *rest)
{
	char input[KEY_LEN];

	make_key(input, model->input, strlen(model->input));
	return !*rest || !strcmp(rest, input) ||
	       (isdigit((unsigned char)*rest) && strlen(rest) == strspn(input, "0123456789") &&
		!strncmp(rest, input, strlen(rest)));
}

static bool named(const struct model *model, const char *name, size_t len, const char *wanted)
{
	char key[KEY_LEN];

	make_key(key, name, len);
	return !strncmp(wanted, key, strlen(key)) && is_input(model, wanted + strlen(key));
}

static bool answers_to(const struct model *model, const char *wanted)
{
	const char *alias = model->aliases;

	if (named(model, model->name, strlen(model->name), wanted))
		return true;
	while (*alias) {
		size_t len = strcspn(alias, " ");

		if (named(model, alias, len, wanted))
			return true;
		alias += len + strspn(alias + len, " ");
	}
	return false;
}

const struct model *model_by_name(const char *name)
{
	char wanted[KEY_LEN];

	/* A longer name would be cut and could then match. */
	if (strlen(name) >= KEY_LEN)
		return NULL;
	make_key(wanted, name, without_extension(name));
	for (size_t i = 0; i < MODELS; i++)
		if (answers_to(&models[i], wanted))
			return &models[i];
	return NULL;
}

static size_t common_prefix(const char *name, const char *wanted)
{
	char key[KEY_LEN];
	size_t n = 0;

	make_key(key, name, strlen(name));
	while (key[n] && key[n] == wanted[n])
		n++;
	return n;
}

void models_like(const char *name, char *dst, size_t size)
{
	char wanted[KEY_LEN];
	size_t best = 0;

	if (size)
		*dst = '\0';
	make_key(wanted, name, without_extension(name));
	for (size_t i = 0; i < MODELS; i++) {
		size_t n = common_prefix(models[i].name, wanted);

		best = n > best ? n : best;
	}
	for (size_t i = 0; i < MODELS; i++) {
		/* Below 4 letters a likeness is chance. */
		if (best >= 4 && common_prefix(models[i].name, wanted) < best)
			continue;
		text_appendf(dst, size, "%s%s", *dst ? ", " : "", models[i].name);
	}
}
