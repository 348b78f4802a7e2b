# Starts threads without end.
import threading, time
started = 0
try:
    for _ in range(2000):
        threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
        started += 1
except RuntimeError:
    pass
if started >= host["processes"]:
    escaped(f"{started} threads")
os._exit(0)
