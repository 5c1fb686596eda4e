#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Boots a kernel in an emulated machine of two CPUs and prints its console. No root, no KVM.
# Usage: tools/kernels/boot.sh arm64|amd64 VMLINUZ INITRAMFS POSTURE
set -eu

# An x86 kernel that patches its code while another emulated CPU runs it dies of the int3 that it put
# there, unless the CPUs take turns.
accel=tcg
case $1:$2 in
amd64:*) machine='qemu-system-x86_64 -M q35 -cpu max' console=ttyS0 accel=tcg,thread=single ;;
# A Cortex-A72 has no 16 KiB pages.
*16k*) machine='qemu-system-aarch64 -M virt -cpu max' console=ttyAMA0 ;;
*) machine='qemu-system-aarch64 -M virt -cpu cortex-a72' console=ttyAMA0 ;;
esac
# shellcheck disable=SC2086
exec timeout --kill-after=10 "${BOOT_SECONDS:-300}" $machine -accel $accel \
	-smp 2 -m 512 -nographic -no-reboot -nic none -kernel "$2" -initrd "$3" \
	-append "console=$console quiet panic=-1 posture=$4" </dev/null
