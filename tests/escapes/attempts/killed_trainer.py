# Outlives a trainer that is killed with SIGKILL.
libc.prctl(1, 0, 0, 0, 0)
if os.fork() == 0:
    os.setsid()
os.execv("/usr/bin/python3", ["python3", "-c", f"import time; time.sleep(300) # {host['mark']}"])
