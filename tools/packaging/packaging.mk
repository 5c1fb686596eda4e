# SPDX-License-Identifier: GPL-2.0-only
#
# make install [DESTDIR=] [PREFIX=]  the program, man page, completion, documents; make uninstall
# make deb [ARCH=arm64|amd64]        a Debian package with the static binary
# make dist                          a source archive that builds without clang and bpftool
# make check-packages                all of it built, looked at and used; ARCHES=amd64 for one
#
# Included by the Makefile.

PACKAGES := $(BUILD)/packages
ARCHIVE  := $(PACKAGES)/tegratrace-$(VERSION)
# What is installed as the program: also a static binary that was built elsewhere.
PROGRAM  ?= $(BUILD)/tegratrace
MAINTAINER ?= tegratrace maintainers <maintainers@tegratrace.example>

SBIN_DIR := $(DESTDIR)$(PREFIX)/sbin
BIN_DIR  := $(DESTDIR)$(PREFIX)/bin
MAN_DIR  := $(DESTDIR)$(PREFIX)/share/man/man8
COMPLETION_DIR := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
DOC_DIR  := $(DESTDIR)$(PREFIX)/share/doc/tegratrace

.PHONY: install install-files uninstall deb dist check-packages

install: $(PROGRAM) install-files

# The program must be there: see install.
install-files: $(if $(filter install,$(MAKECMDGOALS)),$(PROGRAM))
	install -D -m 755 $(PROGRAM) $(SBIN_DIR)/tegratrace
	install -m 755 tools/make-btf.sh $(SBIN_DIR)/tegratrace-make-btf
	install -d $(BIN_DIR)
	ln -sfn ../sbin/tegratrace $(BIN_DIR)/tegratrace
	ln -sfn ../sbin/tegratrace-make-btf $(BIN_DIR)/tegratrace-make-btf
	install -D -m 644 tools/completion/tegratrace $(COMPLETION_DIR)/tegratrace
	install -D -m 644 README.md $(DOC_DIR)/README.md
	install -m 644 LICENSE $(DOC_DIR)/LICENSE
	install -d $(MAN_DIR)
	for page in tegratrace tegratrace-make-btf; do \
		gzip -9n < tools/man/$$page.8 > $(MAN_DIR)/$$page.8.gz && \
		chmod 644 $(MAN_DIR)/$$page.8.gz || exit 1; \
	done

# Folders that other programs use too stay, also when they are empty.
uninstall:
	rm -f $(SBIN_DIR)/tegratrace $(SBIN_DIR)/tegratrace-make-btf $(COMPLETION_DIR)/tegratrace \
		$(BIN_DIR)/tegratrace $(BIN_DIR)/tegratrace-make-btf \
		$(MAN_DIR)/tegratrace.8.gz $(MAN_DIR)/tegratrace-make-btf.8.gz \
		$(DOC_DIR)/README.md $(DOC_DIR)/LICENSE
	[ ! -d $(DOC_DIR) ] || rmdir --ignore-fail-on-non-empty $(DOC_DIR)

deb: static
	$(Q)VERSION=$(VERSION) MAINTAINER='$(MAINTAINER)' MAKE='$(MAKE)' tools/packaging/deb.sh \
		$(STATIC_ARCH) $(STATIC)/tegratrace-$(STATIC_ARCH) $(PACKAGES)
	$(Q)[ -s $(PAGE) ] || echo "  note     no --html and no --live in this package: sudo tools/install-deps.sh page, then again" >&2

ifeq ($(READY_SKELS),)
dist: $(foreach arch,$(BPF_ARCHES),$(RUNGS:%=$(BUILD)/skel/$(arch)/%.skel.h)) $(PROTO).c $(PROTO).h | $(PAGE)
	$(Q)VERSION=$(VERSION) BUILD=$(BUILD) PAGE=$(PAGE) tools/packaging/dist.sh $(PACKAGES) $(patsubst $(BUILD)/%,%,$^)
else
dist:
	$(error this is a source archive already; make dist needs a clone of the repository)
endif

check-packages:
	$(Q)tools/install-deps.sh build test packages
	$(Q)tools/kernels/install-deps.sh
	$(Q)ARCHES="$(or $(ARCHES),$(STATIC_ARCHES))" BUILD=$(BUILD) \
		/usr/bin/python3 -m pytest -q -rs -p no:cacheprovider tests/packages
