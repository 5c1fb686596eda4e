# SPDX-License-Identifier: GPL-2.0-only
#
# make            build/tegratrace (no root)
# sudo make demo  install what is needed, build, trace a built-in pipeline, print the verdict
# sudo make check install what is needed, build, run every test
# make bench      cost per switch beside peers

BUILD     ?= build
CC        ?= gcc
CLANG     ?= clang
BPFTOOL   ?= $(shell tools/find-bpftool.sh)
LLVM_STRIP ?= llvm-strip
PKG_CONFIG ?= pkg-config
PREFIX    ?= /usr/local
V         ?= 0
SAN       ?=

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(V),0)
Q := @
msg = @printf '  %-8s %s\n' '$(1)' '$(2)';
endif

BPF_ARCH := $(shell $(CC) -dumpmachine | sed -e 's/x86_64.*/x86/' -e 's/aarch64.*/arm64/')
ARCH := $(BPF_ARCH)
LIBS := libbpf libdw libelf zlib jansson sqlite3

WARN     := -Wall -Wextra -Werror -Wmissing-prototypes -Wstrict-prototypes -Wshadow
CFLAGS   ?= -O2 -g
override CFLAGS += -std=gnu11 -D_GNU_SOURCE -Isrc -I. -Ibpf -I$(BUILD) $(WARN) $(SAN) \
	$(shell $(PKG_CONFIG) --cflags $(LIBS)) -DSCHEMA_PATH='"src/report/schema.json"'
LDLIBS   := $(shell $(PKG_CONFIG) --libs $(LIBS)) -liberty -lm
# v2: the arm64 JIT has no atomic with a result before 5.18
# No build path in the objects, so that two builds give the same bytes.
BPFFLAGS = -g -O2 -ffile-prefix-map=$(CURDIR)=. -target bpf -mcpu=v2 -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Wextra -Werror \
	-Wno-unused-parameter -Ivmlinux -Ibpf

RUNGS    := sched_btf sched_tracepoint block_tracepoint sampler fault_events cuda
SKELS    := $(RUNGS:%=$(BUILD)/%.skel.h)
SRCS     := $(sort $(wildcard src/*/*.c))
OBJS     := $(SRCS:%.c=$(BUILD)/%.o)
LIBOBJS  := $(filter-out $(BUILD)/src/cli/main.o,$(OBJS))
UNIT     := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/unit/test_*.c)))
WORKLOADS := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/workloads/*.c)))
BENCH    := $(patsubst %.c,$(BUILD)/%,$(sort $(filter-out %.bpf.c,$(wildcard tests/bench/*.c))))
FORMATTED := $(wildcard bpf/*.[ch] vmlinux/*.h src/*/*.[ch] tests/*/*.[ch] tests/integration/code/*.c \
	tests/workloads/*/*.[ch])

.PHONY: all clean demo check check-format deps fuzz bench workloads unit install
.DELETE_ON_ERROR:
.SECONDARY:

all: $(BUILD)/tegratrace

# Targets that install what they need first, or need none of it.
SELF_SUFFICIENT := clean deps demo check fuzz bench check-format kernels-deps check-kernels \
	check-kernels-short
ifeq ($(filter $(SELF_SUFFICIENT),$(MAKECMDGOALS)),)
ifneq ($(shell $(PKG_CONFIG) --exists 'libbpf >= 1.0' $(filter-out libbpf,$(LIBS)) && echo ok),ok)
$(error libbpf >= 1.0, libdw, libelf, zlib, jansson and sqlite3 are needed: sudo tools/install-deps.sh build)
endif
endif

$(BUILD)/tegratrace: $(OBJS)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h vmlinux/*.h)
	$(call msg,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPFFLAGS) -c $< -o $@
	$(Q)$(LLVM_STRIP) -g $@

$(BUILD)/%.bpf.o: tests/bench/%.bpf.c
	$(call msg,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPFFLAGS) -c $< -o $@
	$(Q)$(LLVM_STRIP) -g $@

$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	$(call msg,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $* > $@

$(BUILD)/%.o: %.c | $(SKELS)
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/src/report/schema.o: src/report/schema.json

$(BUILD)/tests/unit/%: tests/unit/%.c $(LIBOBJS)
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -Itests -MMD -MP -o $@ $< $(LIBOBJS) $(LDLIBS) -lcmocka

$(BUILD)/tests/workloads/%: tests/workloads/%.c $(wildcard tests/workloads/*.h)
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 $(WARN) -Itests/workloads -o $@ $< -lpthread -lm

# The stand-in for the CUDA driver library, and what is linked to it.
$(BUILD)/tests/workloads/libcuda.so.1: tests/workloads/fakecuda/libcuda.c \
		$(wildcard tests/workloads/*.h tests/workloads/fakecuda/*.h)
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 $(WARN) -fPIC -shared -Wl,-soname,libcuda.so.1 -o $@ $< -lpthread

$(BUILD)/tests/workloads/cuda_linked: tests/workloads/cuda_linked.c tests/workloads/cuda_app.c \
		$(BUILD)/tests/workloads/libcuda.so.1 $(wildcard tests/workloads/fakecuda/*.h)
	$(call msg,CC,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 $(WARN) -Itests/workloads -o $@ $< \
		$(BUILD)/tests/workloads/libcuda.so.1 -Wl,-rpath,'$$ORIGIN' -lpthread -lm

$(BUILD)/tests/workloads/cuda_app: tests/workloads/fakecuda/fakecuda.h

workloads: $(WORKLOADS) $(BUILD)/tests/workloads/libcuda.so.1
unit: $(UNIT)

deps:
	$(Q)tools/install-deps.sh build

demo: deps
	$(Q)$(MAKE) --no-print-directory all workloads
	$(Q)BUILD=$(BUILD) tools/demo.sh

check:
	$(Q)tools/install-deps.sh build test
	$(Q)$(MAKE) --no-print-directory all workloads
	$(Q)BUILD=$(BUILD) tools/check.sh

check-format:
	$(Q)clang-format --dry-run --Werror $(FORMATTED)

fuzz:
	$(Q)tools/install-deps.sh build test
	$(Q)BUILD=$(BUILD) FUZZ_SECONDS=$(or $(FUZZ_SECONDS),1200) tools/fuzz.sh

bench:
	$(Q)tools/install-deps.sh build bench
	$(Q)$(MAKE) --no-print-directory all workloads $(BENCH)
	$(Q)BUILD=$(BUILD) tools/bench.sh

install: all
	install -D -m 755 $(BUILD)/tegratrace $(DESTDIR)$(PREFIX)/sbin/tegratrace

$(BUILD)/tests/bench/%: tests/bench/%.c $(LIBOBJS) $(BUILD)/empty_btf.skel.h \
		$(BUILD)/empty_tracepoint.skel.h
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -MMD -MP -o $@ $< $(LIBOBJS) $(LDLIBS)

clean:
	rm -rf $(BUILD)

include tools/kernels/kernels.mk

-include $(OBJS:.o=.d) $(UNIT:=.d)
