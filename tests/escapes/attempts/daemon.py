# Leaves a process of a session of its own behind, twice removed from this one.
import time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (0, 1, 2, 3):
            os.close(number)
        os.execv("/usr/bin/python3", ["python3", "-c", f"import time; time.sleep(300) # {host['mark']}"])
    os._exit(0)
os.wait()
time.sleep(0.05)
