# Sends signals to the trainer, to its group and to everything.
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for pid in (host["pid"], -host["pid"], os.getppid() or host["pid"]):
    attempt(lambda: os.kill(pid, signal.SIGTERM) or "sent")
try:
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass
