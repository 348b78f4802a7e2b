# Takes memory with files that no limit of a process counts.
taken = 0
for number in range(64):
    file = libc.syscall(319, b"m", 0)
    if file < 0:
        file = os.open(f"/dev/shm/{number}", os.O_RDWR | os.O_CREAT)
    try:
        for _ in range(64):
            taken += os.write(file, b"x" * (1 << 20))
    except OSError:
        pass
if taken > host["written_bytes"] + (1 << 20):
    escaped(f"{taken} bytes")
