# Stays longer than it may: ignores signals, closes all descriptors, and sleeps.
import signal, time
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
for number in range(64):
    if number != 3:
        try:
            os.close(number)
        except OSError:
            pass
time.sleep(300)
