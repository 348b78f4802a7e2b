# Writes to the file systems that bubblewrap itself makes in memory.
for folder in ("/", "/dev", "/run", "/etc", "/dev/pts", "/usr", "/proc"):
    attempt(lambda: open(f"{folder}/big", "wb").write(b"x" * (1 << 20)))
