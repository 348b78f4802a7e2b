# Makes 100,000 files.
made = 0
for folder in ("/tmp", "/dev/shm"):
    try:
        for number in range(100_000):
            os.close(os.open(f"{folder}/{number}", os.O_CREAT))
            made += 1
    except OSError:
        pass
if made > host["files"]:
    escaped(f"{made} files")
