/* SPDX-License-Identifier: GPL-2.0-only */
/* In place of dlopen() in a static binary, see kernels.mk. */
void *__wrap_dlopen(const char *file, int mode);

void *__wrap_dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return 0;
}
