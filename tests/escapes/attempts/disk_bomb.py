# Writes more than its limit, to one file and to many.
taken = 0
for folder in ("/tmp", "/dev/shm"):
    for number in range(100):
        try:
            with open(f"{folder}/{number}", "wb", buffering=0) as file:
                for _ in range(10):
                    taken += file.write(b"x" * (1 << 20))
        except OSError:
            pass
if taken > host["written_bytes"]:
    escaped(f"{taken} bytes")
