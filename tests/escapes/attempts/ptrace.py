# Traces other processes, and itself.
for pid in (host["pid"], 1, os.getppid()):
    for request in (16, 0x4206):
        syscall(101, request, pid, 0, 0)
syscall(101, 0, 0, 0, 0)
