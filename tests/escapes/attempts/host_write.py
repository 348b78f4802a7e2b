# Writes to the system's folders, through each way that leads there.
for path in ("/usr/bin/left", "/usr/lib/left", "/left", "/bin/left", "/dev/left", "/proc/self/root/usr/left"):
    attempt(lambda: open(path, "w").close() or path)
