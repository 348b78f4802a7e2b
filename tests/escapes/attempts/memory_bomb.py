# Takes more memory than its limit, in one process.
import mmap
taken, kept = 0, []
try:
    while taken < 4 * host["memory_bytes"]:
        kept.append(mmap.mmap(-1, 1 << 20))
        kept[-1].write(b"x" * (1 << 20))
        taken += 1 << 20
except (OSError, MemoryError, ValueError):
    pass
if taken > host["memory_bytes"]:
    escaped(f"{taken} bytes")
