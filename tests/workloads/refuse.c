/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * refuse ERROR CALL[,CALL] COMMAND...: runs the command where these system calls (bpf,
 * perf_event_open) fail with EPERM or ENOSYS, as under a container's filter or on a kernel without
 * them.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int number_of(const char *call)
{
	if (!strcmp(call, "bpf"))
		return SYS_bpf;
	if (!strcmp(call, "perf_event_open"))
		return SYS_perf_event_open;
	return -1;
}

static int refuse(int number, int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	int error;

	if (argc < 4) {
		fprintf(stderr, "usage: refuse EPERM|ENOSYS CALL[,CALL] COMMAND...\n");
		return 2;
	}
	error = strcmp(argv[1], "ENOSYS") ? EPERM : ENOSYS;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	for (char *call = strtok(argv[2], ","); call; call = strtok(NULL, ",")) {
		if (number_of(call) < 0 || refuse(number_of(call), error)) {
			perror(call);
			return 2;
		}
	}
	execvp(argv[3], &argv[3]);
	perror(argv[3]);
	return 127;
}
