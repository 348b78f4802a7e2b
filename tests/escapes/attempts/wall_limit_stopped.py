# Stops itself, so that it can't receive anything but SIGKILL.
import signal
if os.fork() == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
os.kill(os.getpid(), signal.SIGSTOP)
import time
time.sleep(300)
