# Removes mounts, to see what lies below them.
for path in (b"/tmp", b"/proc", b"/dev", b"/dev/shm", b"/usr", b"/"):
    syscall(166, path, 2)
