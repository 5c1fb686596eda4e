#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Boots a kernel in an emulated arm64 machine of two CPUs and prints its console. No root, no KVM.
# Usage: tools/kernels/boot.sh VMLINUZ INITRAMFS POSTURE
set -eu

# A Cortex-A72 has no 16 KiB pages.
case $1 in
*16k*) cpu=max ;;
*) cpu=cortex-a72 ;;
esac
exec timeout --kill-after=10 "${BOOT_SECONDS:-300}" qemu-system-aarch64 -M virt -cpu $cpu \
	-smp 2 -m 512 -nographic -no-reboot -nic none -kernel "$1" -initrd "$2" \
	-append "console=ttyAMA0 quiet panic=-1 posture=$3" </dev/null
