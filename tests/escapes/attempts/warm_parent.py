# Looks for the process that started interpreters ahead, and for their memory.
if os.getpid() != 1 or os.getppid() != 0:
    escaped(f"process {os.getpid()} of {os.getppid()}")
for pid in range(2, 64):
    attempt(lambda: os.open(f"/proc/{pid}/mem", os.O_RDWR))
