# Moves to other process groups, so that whoever kills its own misses it.
import time
for group in (0, os.getppid(), host["pid"], 1):
    try:
        os.setpgid(0, group)
    except OSError:
        pass
if os.fork() == 0:
    os.setpgid(0, 0)
    os.execv("/usr/bin/python3", ["python3", "-c", f"import time; time.sleep(300) # {host['mark']}"])
