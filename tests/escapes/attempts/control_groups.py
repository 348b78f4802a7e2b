# Leaves its control group, or changes the limits of others.
for folder in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory"):
    attempt(lambda: os.listdir(folder))
    attempt(lambda: open(folder + "/cgroup.procs", "w").write(str(os.getpid())))
    attempt(lambda: os.mkdir(folder + "/left") or "made")
