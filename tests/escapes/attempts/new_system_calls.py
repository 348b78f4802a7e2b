# Makes system calls that this filter has never heard of.
for number in range(443, 600):
    if number not in (449, 452, 459, 460, 461):
        if libc.syscall(number, 0, 0, 0, 0, 0, 0) >= 0:
            escaped(f"system call {number}")
