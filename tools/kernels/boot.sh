#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Boots a kernel in an emulated machine of two CPUs and prints its console. No root, no KVM. What is
# written to the disk is thrown away.
# Usage: tools/kernels/boot.sh arm64|amd64 VMLINUZ INITRAMFS DISK POSTURE [KERNEL ARGUMENTS]
set -eu

# An x86 kernel that patches its code while another emulated CPU runs it dies of the int3 that it put
# there, unless the CPUs take turns.
accel=tcg
case $1:$2 in
amd64:*) machine='qemu-system-x86_64 -M q35 -cpu max' console=ttyS0 accel=tcg,thread=single ;;
# A Cortex-A72 has no 16 KiB pages; "max" has, and pointer authentication, which is slow to emulate.
*16k*) machine='qemu-system-aarch64 -cpu cortex-a76 -M virt' console=ttyAMA0 ;;
*) machine='qemu-system-aarch64 -cpu cortex-a72 -M virt' console=ttyAMA0 ;;
esac
cpus=2 mib=512 more=${6:-}
if [ "$5" = cpus ]; then
	# So many only with the newer interrupt controller; see init for what is started of them.
	machine="$machine,gic-version=3" cpus=72 mib=1024 more="$more maxcpus=4"
fi
# shellcheck disable=SC2086
exec timeout --kill-after=10 "${BOOT_SECONDS:-300}" $machine -accel $accel \
	-smp $cpus -m $mib -nographic -no-reboot -nic none -kernel "$2" -initrd "$3" \
	-drive "file=$4,if=none,id=disk,format=raw,snapshot=on" -device virtio-blk-pci,drive=disk \
	-append "console=$console quiet panic=-1 posture=$5 $more" </dev/null
