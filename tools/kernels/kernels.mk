# SPDX-License-Identifier: GPL-2.0-only
#
# make static ARCH=arm64|amd64  one static binary, BPF programs inside: runs wherever the kernel can
# make check-kernels            boots that binary on Debian's kernels under QEMU: no root, no KVM
# make check-kernels-short      the oldest of them without BTF, as on a Jetson
# make jetson-kernels           slow: builds two with the stock configuration of JetPack 5 and 6, which
#                               check-kernels boots from then on
#
# Included by the Makefile; everything it makes lies in $(BUILD)/static.

STATIC := $(BUILD)/static
STATIC_ARCHES := amd64 arm64
# Others build kernels with an ARCH in the environment: it matters where it is used.
ifneq ($(filter static static-workloads deb,$(MAKECMDGOALS)),)
ifneq ($(filter-out $(STATIC_ARCHES),$(ARCH)),)
$(error ARCH=$(ARCH): amd64 or arm64, or none for this machine's)
endif
endif
STATIC_ARCH := $(or $(filter $(STATIC_ARCHES),$(ARCH)),$(BPF_ARCH:x86=amd64))
STATIC_TRIPLET_amd64 := x86_64-linux-gnu
STATIC_TRIPLET_arm64 := aarch64-linux-gnu
STATIC_SKEL_amd64 := $(BUILD)/skel/x86
STATIC_SKEL_arm64 := $(BUILD)/skel/arm64
STATIC_MAX_BYTES := $(shell echo $$((6 * 1024 * 1024)))
STATIC_CFLAGS := $(filter-out -g -DTEGRATRACE_LIVE,$(CFLAGS)) -DTEGRATRACE_LIVE -ffunction-sections -fdata-sections \
	-ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=$(BUILD)=build
# libdw would load libdebuginfod, which in a static binary brings another libc's: it finds none.
STATIC_LDFLAGS := -static -Wl,--gc-sections -Wl,--build-id=sha1 -s -Wl,--wrap=dlopen
STATIC_STANDINS := no_dlopen no_tls
# Not by its pkg-config file: that names GnuTLS too.
STATIC_LIVE_LIBS := -lmicrohttpd -lpthread

# What runs inside the virtual machine.
KERNELS_LOADS := hog sleepers pingpong churn exec_thread stopped demo_pipeline fake_tegrastats \
	libcuda.so.1 fault_load refuse waits_sync waits_ipc waits_disk demo/libcuda.so.1
KERNELS_ALL   := 5.10 6.1 6.12 sid 5.10-rt 6.12-16k 5.10-amd64 sid-amd64 5.10-jp5 6.1-jp6
KERNELS_SHORT := 5.10

.PHONY: static static-workloads kernels-deps check-kernels check-kernels-short jetson-kernels

static: $(STATIC)/tegratrace-$(STATIC_ARCH)
	@:
# With it, the tool that asks the verifier what each program cost, see load_stats.c.
static-workloads: $(STATIC)/$(STATIC_ARCH)/tegratrace-counts $(KERNELS_LOADS:%=$(STATIC)/$(STATIC_ARCH)/load/%) \
		$(STATIC)/$(STATIC_ARCH)/load/guest_check
	@:

# $(1): Debian architecture, $(2): GNU triplet. The libraries are Debian's, of that architecture.
define static_rules
$(STATIC)/$(1)/%.o: %.c | $(RUNGS:%=$(STATIC_SKEL_$(1))/%.skel.h) $(BUILD)/build_version.h $(PROTO).h
	$$(call msg,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$(2)-gcc -I$(STATIC_SKEL_$(1)) $$(STATIC_CFLAGS) -MMD -MP -c $$< -o $$@

$(STATIC)/$(1)/perfetto.pb-c.o: $(PROTO).c | $(PROTO).h
	$$(call msg,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$(2)-gcc $$(STATIC_CFLAGS) -MMD -MP -c $$< -o $$@

$(STATIC)/$(1)/no_tls_names.h: /usr/lib/$(2)/libmicrohttpd.a
	$(Q)mkdir -p $$(@D)
	$(Q)nm $$< 2>/dev/null | sed -nE 's/^ *U (gnutls_.*)$$$$/NEVER(\1)/p' | sort -u | \
		grep -vE 'gnutls_(global_init|global_deinit|malloc|free)\)' >$$@

$(STATIC)/$(1)/tools/kernels/no_tls.o: STATIC_CFLAGS += -DNO_TLS_NAMES='"$(STATIC)/$(1)/no_tls_names.h"'
$(STATIC)/$(1)/tools/kernels/no_tls.o: $(STATIC)/$(1)/no_tls_names.h

$(STATIC)/$(1)/src/report/json/schema.o: src/report/json/schema.json

$(STATIC)/$(1)/src/report/html/page.o: $(PAGE)

$(STATIC)/tegratrace-$(1): $(SRCS:%.c=$(STATIC)/$(1)/%.o) $(STATIC)/$(1)/perfetto.pb-c.o \
		$(STATIC_STANDINS:%=$(STATIC)/$(1)/tools/kernels/%.o)
	$$(call msg,LINK,$$@)
	$$(Q)$(2)-gcc $$(STATIC_LDFLAGS) -Wl,-Map=$$@.map -o $$@ $$^ $(STATIC_LIVE_LIBS) $$$$(PKG_CONFIG_LIBDIR=/usr/lib/$(2)/pkgconfig \
		$(PKG_CONFIG) --static --libs $(LIBS)) -liberty -lm
	$$(Q)size=$$$$(wc -c <$$@); [ "$$$$size" -le $(STATIC_MAX_BYTES) ] || \
		{ echo "$$@: $$$$size bytes, more than $(STATIC_MAX_BYTES)" >&2; rm $$@; exit 1; }

$(STATIC)/$(1)/load_stats.o: tests/kernels/load_stats.c
	$$(call msg,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$(2)-gcc -DWRAPPED $$(STATIC_CFLAGS) -c $$< -o $$@

$(STATIC)/$(1)/tegratrace-counts: $(SRCS:%.c=$(STATIC)/$(1)/%.o) $(STATIC)/$(1)/perfetto.pb-c.o \
		$(STATIC_STANDINS:%=$(STATIC)/$(1)/tools/kernels/%.o) $(STATIC)/$(1)/load_stats.o
	$$(call msg,LINK,$$@)
	$$(Q)$(2)-gcc $$(STATIC_LDFLAGS) -Wl,--wrap=syscall -o $$@ $$^ $(STATIC_LIVE_LIBS) $$$$(PKG_CONFIG_LIBDIR=/usr/lib/$(2)/pkgconfig \
		$(PKG_CONFIG) --static --libs $(LIBS)) -liberty -lm

$(STATIC)/$(1)/load/%: tests/workloads/%.c $(wildcard tests/workloads/*.h)
	$$(call msg,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$(2)-gcc -std=gnu11 -D_GNU_SOURCE -O2 $(WARN) -Itests/workloads -static -s -o $$@ $$< \
		-lpthread -lm

# In one file with the library, whose name it bears: a uprobe needs no more.
$(STATIC)/$(1)/load/libcuda.so.1: tests/workloads/cuda_linked.c tests/workloads/cuda_app.c \
		$(wildcard tests/workloads/*.h tests/workloads/fakecuda/*)
	$$(call msg,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$(2)-gcc -std=gnu11 -D_GNU_SOURCE -O2 $(WARN) -Itests/workloads -static -o $$@ $$< \
		tests/workloads/fakecuda/libcuda.c -lpthread -lm

$(STATIC)/$(1)/load/demo/libcuda.so.1: tests/workloads/demo_pipeline.c $(wildcard tests/workloads/*.h tests/workloads/fakecuda/*)
	$$(call msg,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$(2)-gcc -std=gnu11 -D_GNU_SOURCE -O2 $(WARN) -DGPU_LINKED -Itests/workloads -static -o $$@ $$< \
		tests/workloads/fakecuda/libcuda.c -lpthread -lm

$(STATIC)/$(1)/load/guest_check: $(wildcard tests/kernels/guest*.[ch])
	$$(call msg,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$(2)-gcc -std=gnu11 -D_GNU_SOURCE -O2 $(WARN) -static -s -o $$@ $$(filter %.c,$$^) \
		$$$$(PKG_CONFIG_LIBDIR=/usr/lib/$(2)/pkgconfig $(PKG_CONFIG) --static --libs jansson)

-include $(SRCS:%.c=$(STATIC)/$(1)/%.d)
endef
$(foreach arch,$(STATIC_ARCHES),$(eval $(call static_rules,$(arch),$(STATIC_TRIPLET_$(arch)))))

kernels-deps:
	$(Q)tools/install-deps.sh build page
	$(Q)tools/kernels/install-deps.sh

check-kernels: kernels-deps
	$(Q)$(MAKE) $(JOBS) --no-print-directory static static-workloads ARCH=arm64
	$(Q)$(MAKE) $(JOBS) --no-print-directory static static-workloads ARCH=amd64
	$(Q)BUILD=$(BUILD) tools/kernels/check.sh $(or $(KERNELS),$(KERNELS_ALL))

check-kernels-short: kernels-deps
	$(Q)$(MAKE) $(JOBS) --no-print-directory static static-workloads ARCH=arm64
	$(Q)BUILD=$(BUILD) BRIEF=1 POSTURES="$(or $(POSTURES),no-btf)" \
		tools/kernels/check.sh $(or $(KERNELS),$(KERNELS_SHORT))

jetson-kernels:
	$(Q)tools/kernels/install-deps.sh jetson
	$(Q)BUILD=$(BUILD) nice -n 19 tools/kernels/jetson.sh
