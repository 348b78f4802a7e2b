# Looks for a run at the same time: its process, its files, its memory.
for path in ("/tmp/sibling", "/dev/shm/sibling"):
    attempt(lambda: open(path).read())
for pid in range(2, 200):
    attempt(lambda: os.kill(pid, 9) or f"process {pid}")
