/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/output.h"

#include <errno.h>

static int output_error(void)
{
	return errno ? -errno : -EIO;
}

int output_write(FILE *out, const char *data, size_t size)
{
	errno = 0;
	return fwrite(data, 1, size, out) == size ? 0 : output_error();
}

int output_finish(FILE *out)
{
	errno = 0;
	if (fflush(out))
		return output_error();
	return ferror(out) ? -EIO : 0;
}
