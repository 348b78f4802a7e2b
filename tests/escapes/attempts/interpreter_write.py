# Overwrites the interpreter that this program runs in.
for path in (sys.executable, "/proc/self/exe"):
    attempt(lambda: os.open(path, os.O_WRONLY))
