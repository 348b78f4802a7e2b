# Mounts file systems.
os.makedirs("/tmp/at", exist_ok=True)
for source, kind, flags in ((b"none", b"tmpfs", 0), (b"proc", b"proc", 0), (b"/usr", b"", 4096), (b"none", b"sysfs", 0),
                            (b"overlay", b"overlay", 0), (b"/dev/vda", b"ext4", 0)):
    syscall(165, source, b"/tmp/at", kind, flags, 0)
for path in (b"/", b"/usr", b"/dev", b"/proc"):
    syscall(165, b"none", path, b"", 32 | 4096, 0)
