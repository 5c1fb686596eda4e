/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In place of GnuTLS in a static binary, see kernels.mk: libmicrohttpd is built to use it, and Debian has
 * no static form of it. The live page goes out as plain HTTP, so only the first two are ever called. The
 * other names are those that the library at hand wants (NO_TLS_NAMES): versions differ.
 */
#include <stddef.h>
#include <stdlib.h>

int gnutls_global_init(void);
void gnutls_global_deinit(void);
void *(*gnutls_malloc)(size_t size) = malloc;
void (*gnutls_free)(void *memory) = free;

int gnutls_global_init(void)
{
	return 0;
}

void gnutls_global_deinit(void)
{
}

#define NEVER(name)      \
	void name(void); \
	void name(void)  \
	{                \
		abort(); \
	}

#include NO_TLS_NAMES
