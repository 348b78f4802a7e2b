# Stops the kernel at page faults of its choice.
for flags in (0, 1, 0o2000000):
    syscall(323, flags)
attempt(lambda: os.open("/dev/userfaultfd", os.O_RDWR))
