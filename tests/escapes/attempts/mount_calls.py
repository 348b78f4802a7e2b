# Mounts with the newer system calls.
for call in (428, 429, 430, 431, 432, 433, 442):
    syscall(call, -100, b"/usr", 1, 0, 0)
