# Ends with a core file of all its memory.
import resource
attempt(lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30)) or "limit")
if os.fork() == 0:
    os.abort()
os.wait()
found = [name for name in os.listdir("/tmp") if "core" in name]
if found:
    escaped(f"{found}")
