# Makes a file that is larger than its limit without writing it.
for make in (os.truncate, lambda path, size: os.posix_fallocate(os.open(path, os.O_RDWR), 0, size)):
    open("/tmp/out", "w").close()
    attempt(lambda: make("/tmp/out", 1 << 40) or "made")
