# Keeps data in pipes, made as large as the kernel lets them be.
import fcntl
taken = 0
try:
    for _ in range(512):
        end, start = os.pipe()
        os.set_blocking(start, False)
        try:
            fcntl.fcntl(start, 1031, 1 << 20)
        except OSError:
            pass
        try:
            while True:
                taken += os.write(start, b"x" * 4096)
        except BlockingIOError:
            pass
except OSError:
    pass
if taken > host["open_files"] * (64 << 10):
    escaped(f"{taken} bytes in pipes")
