/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/rung.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "probe/rungs/skeleton.h"
#include "probe/rungs/type_data.h"
#include "sched_btf.skel.h"

/* 16 KiB on x86-64, and on arm64 (THREAD_SHIFT, asm/memory.h) unless a page is larger. */
static __u32 thread_size(void)
{
	long page = sysconf(_SC_PAGESIZE);

	return page > 16384 ? (__u32)page : 16384;
}

static int btf_load(const struct rung_settings *settings, struct rung_objects *objects,
		    char reason[RUNG_REASON_LEN])
{
	struct sched_btf *skel;
	int err;

	if (access(KERNEL_TYPE_DATA, R_OK)) {
		snprintf(reason, RUNG_REASON_LEN,
			 "this kernel has no type data (" KERNEL_TYPE_DATA
			 "): stock Jetson kernels lack "
			 "CONFIG_DEBUG_INFO_BTF; a file can stand in (--btf)");
		return -ENOENT;
	}
	skel = sched_btf__open();
	if (!skel) {
		err = -errno;
		rung_explain_load(err, reason);
		return err;
	}
	SKELETON_CHOOSE(skel, settings, objects);
	skel->rodata->thread_size = thread_size();
	err = rung_size_maps(skel->obj, settings);
	if (!err)
		err = sched_btf__load(skel);
	if (err) {
		rung_explain_load(err, reason);
		sched_btf__destroy(skel);
		return err;
	}
	SKELETON_KEEP(skel, objects);
	objects->calls = true;
	return 0;
}

static int btf_attach(struct rung_objects *objects, char reason[RUNG_REASON_LEN])
{
	int err = sched_btf__attach(objects->skeleton);

	if (err)
		snprintf(reason, RUNG_REASON_LEN, "cannot attach to the scheduler tracepoints: %s",
			 strerror(-err));
	return err;
}

static void btf_detach(struct rung_objects *objects)
{
	sched_btf__detach(objects->skeleton);
}

static void btf_destroy(struct rung_objects *objects)
{
	sched_btf__destroy(objects->skeleton);
}

const struct rung_ops rung_btf = {
	.name = "btf",
	.load = btf_load,
	.attach = btf_attach,
	.detach = btf_detach,
	.destroy = btf_destroy,
};
