# Starts processes without end.
import time
started = 0
for _ in range(2000):
    try:
        if os.fork() == 0:
            time.sleep(100)
    except OSError:
        break
    started += 1
if started >= host["processes"]:
    escaped(f"{started} processes")
