# SPDX-License-Identifier: GPL-2.0-only
#
# make            build/tegratrace (no root)
# sudo make demo  install what is needed, build, trace a built-in pipeline, print the verdict
# sudo make check install what is needed, build, run every test
# make bench      what tracing costs, beside peers and against the targets (15 minutes); PART="..." only those
# sudo make check-attach     attach and detach 200 times, with nothing left behind
# sudo make verifier-counts  rewrite the table of what the verifier looks at on this kernel

BUILD     ?= build
CC        ?= gcc
CLANG     ?= clang
BPFTOOL   ?= $(shell tools/find-bpftool.sh)
LLVM_STRIP ?= llvm-strip
PKG_CONFIG ?= pkg-config
PREFIX    ?= /usr/local
V         ?= 0
SAN       ?=
PAGE      ?= $(BUILD)/page.html
# Of the makes that a target runs by itself.
JOBS      ?= -j$(shell nproc)

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(V),0)
Q := @
msg = @printf '  %-8s %s\n' '$(1)' '$(2)';
endif

# As libbpf's headers name it, of the machine that CC compiles for.
BPF_ARCH := $(shell $(CC) -dumpmachine | sed -e 's/x86_64.*/x86/' -e 's/aarch64.*/arm64/')
BPF_ARCHES := x86 arm64
VERSION := $(shell tools/version.sh)
# The time that built things bear, so that two builds give the same bytes.
export SOURCE_DATE_EPOCH ?= $(shell tools/version.sh --date)
LIBS := libbpf libdw libelf zlib jansson sqlite3 libprotobuf-c
# --live is left out where it is missing.
LIVE_LIBS := $(shell $(PKG_CONFIG) --exists libmicrohttpd && echo libmicrohttpd)

WARN     := -Wall -Wextra -Werror -Wmissing-prototypes -Wstrict-prototypes -Wshadow
CFLAGS   ?= -O2 -g
override CFLAGS += -std=gnu11 -D_GNU_SOURCE -Isrc -I. -Ibpf -I$(BUILD) $(WARN) $(SAN) \
	$(shell $(PKG_CONFIG) --cflags $(LIBS) $(LIVE_LIBS) 2>/dev/null) -DSCHEMA_PATH='"src/report/json/schema.json"' \
	-DPAGE_PATH='"$(PAGE)"' $(LIVE_LIBS:%=-DTEGRATRACE_LIVE)
LDLIBS   := $(shell $(PKG_CONFIG) --libs $(LIBS) $(LIVE_LIBS) 2>/dev/null) -liberty -lm
# v2: the arm64 JIT has no atomic with a result before 5.18
# No build path in the objects, so that two builds give the same bytes.
BPFFLAGS := -g -O2 -ffile-prefix-map=$(CURDIR)=. -target bpf -mcpu=v2 -Wall -Wextra -Werror \
	-Wno-unused-parameter -Ivmlinux -Ibpf

RUNGS    := sched_btf sched_raw sched_tracepoint block_tracepoint sampler fault_events cuda user_regs
SKELS    := $(RUNGS:%=$(BUILD)/%.skel.h)
# In a source archive (make dist) they are ready: no clang or bpftool is needed.
READY_SKELS := $(wildcard bpf/skel)
# Generated from src/report/trace/perfetto.proto.
PROTO    := $(BUILD)/skel/perfetto.pb-c
GENERATED := $(SKELS) $(BUILD)/build_version.h $(PROTO).h
SRCS     := $(sort $(wildcard src/*/*.c src/*/*/*.c))
OBJS     := $(SRCS:%.c=$(BUILD)/%.o) $(PROTO).o
LIBOBJS  := $(filter-out $(BUILD)/src/cli/main.o,$(OBJS))
UNIT     := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/unit/test_*.c)))
WORKLOADS := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/workloads/*.c)))
BENCH    := $(patsubst %.c,$(BUILD)/%,$(sort $(filter-out %.bpf.c,$(wildcard tests/bench/*.c))))
FORMATTED := $(wildcard bpf/*.[ch] vmlinux/*.h src/*/*.[ch] src/*/*/*.[ch] tests/*/*.[ch] tests/integration/code/*.c \
	tests/workloads/*/*.[ch])

.PHONY: FORCE all clean demo check check-format deps fuzz bench workloads unit verifier-counts check-attach
.DELETE_ON_ERROR:
.SECONDARY:

all: $(BUILD)/tegratrace

# Targets that install what they need first, or need none of it.
SELF_SUFFICIENT := clean deps demo check fuzz bench check-format kernels-deps check-kernels \
	check-kernels-short jetson-kernels install-files uninstall check-packages
ifeq ($(filter $(SELF_SUFFICIENT),$(MAKECMDGOALS)),)
ifneq ($(shell $(PKG_CONFIG) --exists 'libbpf >= 1.0' $(filter-out libbpf,$(LIBS)) 2>/dev/null && echo ok),ok)
LIBBPF_VERSION := $(shell $(PKG_CONFIG) --modversion libbpf 2>/dev/null)
ifneq ($(filter 0.%,$(LIBBPF_VERSION)),)
$(error libbpf $(LIBBPF_VERSION) is too old, 1.0 or newer is needed: install the .deb or copy the static binary, both made with make deb on another machine)
endif
$(error libbpf >= 1.0, libdw, libelf, zlib, jansson, sqlite3 and protobuf-c are needed: sudo tools/install-deps.sh build)
endif
endif

$(BUILD)/tegratrace: $(OBJS)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

ifeq ($(READY_SKELS),)
# $(1): folder, $(2): x86 or arm64, whose registers and types differ
define bpf_rules
$(1)/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h bpf/sched_btf.bpf.c vmlinux/*.h)
	$$(call msg,BPF,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CLANG) $$(BPFFLAGS) -D__TARGET_ARCH_$(2) -c $$< -o $$@
	$$(Q)$$(LLVM_STRIP) -g $$@
endef
$(eval $(call bpf_rules,$(BUILD),$(BPF_ARCH)))
$(foreach arch,$(BPF_ARCHES),$(eval $(call bpf_rules,$(BUILD)/skel/$(arch),$(arch))))
else
$(BUILD)/skel/%.skel.h: bpf/skel/%.skel.h
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $@

$(BUILD)/%.skel.h: bpf/skel/$(BPF_ARCH)/%.skel.h
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $@
endif

$(BUILD)/%.bpf.o: tests/bench/%.bpf.c
	$(call msg,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPFFLAGS) -D__TARGET_ARCH_$(BPF_ARCH) -c $< -o $@
	$(Q)$(LLVM_STRIP) -g $@

%.skel.h: %.bpf.o
	$(call msg,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(*F) > $@

$(BUILD)/build_version.h: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '#define TEGRATRACE_VERSION "$(VERSION)"' | cmp -s - $@ || \
		echo '#define TEGRATRACE_VERSION "$(VERSION)"' > $@

ifeq ($(READY_SKELS),)
$(PROTO).c $(PROTO).h &: src/report/trace/perfetto.proto
	$(call msg,PROTO,$@)
	$(Q)mkdir -p $(@D)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(@D) $(<F)
else
$(PROTO).%: bpf/skel/perfetto.pb-c.%
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $@
endif

$(PROTO).o: $(PROTO).c | $(PROTO).h
	$(call msg,CC,$@)
	$(Q)$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/%.o: %.c | $(GENERATED)
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/src/report/json/schema.o: src/report/json/schema.json

$(BUILD)/src/report/html/page.o: $(PAGE)

# An empty page is tried again: npm, or the network, may be there now.
$(PAGE): $(wildcard src/report/page/*.*) tools/build-page.sh $(if $(shell test -s $(PAGE) || echo FORCE),FORCE)
	$(call msg,PAGE,$@)
	$(Q)mkdir -p $(@D)
	$(Q)tools/build-page.sh $@

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

# Preloaded into tegratrace by tools/verifier-counts.sh.
$(BUILD)/tests/load_stats.so: tests/kernels/load_stats.c
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 $(WARN) -fPIC -shared -o $@ $< \
		$(shell $(PKG_CONFIG) --cflags --libs libbpf 2>/dev/null) -ldl

verifier-counts: all workloads $(BUILD)/tests/load_stats.so
	$(Q)BUILD=$(BUILD) tools/verifier-counts.sh write

workloads: $(WORKLOADS) $(BUILD)/tests/workloads/libcuda.so.1
unit: $(UNIT)

deps:
	$(Q)tools/install-deps.sh build

demo: deps
	$(Q)$(MAKE) $(JOBS) --no-print-directory all workloads
	$(Q)BUILD=$(BUILD) tools/demo.sh

check:
	$(Q)tools/install-deps.sh build test
	$(Q)$(MAKE) $(JOBS) --no-print-directory all workloads
	$(Q)BUILD=$(BUILD) tools/check.sh

check-format:
	$(Q)clang-format --dry-run --Werror $(FORMATTED)

# 20 times in make check.
check-attach: all workloads
	$(Q)BUILD=$(BUILD) ATTACH_RUNS=$(or $(ATTACH_RUNS),200) CHECK=full /usr/bin/python3 -m pytest -q -p no:cacheprovider \
		tests/integration/test_attach_detach.py

fuzz:
	$(Q)tools/install-deps.sh build test
	$(Q)BUILD=$(BUILD) FUZZ_SECONDS=$(or $(FUZZ_SECONDS),1200) tools/fuzz.sh

bench:
	$(Q)tools/install-deps.sh build bench
	$(Q)$(MAKE) $(JOBS) --no-print-directory all workloads $(BENCH)
	$(Q)BUILD=$(BUILD) tools/bench.sh $(PART)

$(BUILD)/tests/bench/%: tests/bench/%.c $(LIBOBJS) $(BUILD)/empty_btf.skel.h \
		$(BUILD)/empty_tracepoint.skel.h
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -MMD -MP -o $@ $< $(LIBOBJS) $(LDLIBS)

clean:
	rm -rf $(BUILD)

include tools/kernels/kernels.mk
include tools/packaging/packaging.mk

-include $(OBJS:.o=.d) $(UNIT:=.d)
