# Looks for descriptors of files, folders or sockets that were left open.
import stat
for number in range(3, 1024):
    try:
        is_now = os.fstat(number)
    except OSError:
        continue
    target = os.readlink(f"/proc/self/fd/{number}")
    if not stat.S_ISFIFO(is_now.st_mode) and not target.startswith("/memfd:"):
        escaped(f"descriptor {number} of {target}")
