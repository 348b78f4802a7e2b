# Enters the namespaces of other processes.
for pid in (1, host["pid"], "self"):
    for name in ("mnt", "net", "pid", "user", "ipc", "uts", "cgroup"):
        try:
            file = os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY)
        except OSError:
            continue
        syscall(308, file, 0)
