# Replaces itself by new processes all the time, so that who kills one is late for the next.
import time
until = time.monotonic() + 300
while time.monotonic() < until:
    try:
        if os.fork() > 0:
            os._exit(0) if os.getpid() != 1 else os.wait()
    except OSError:
        pass
