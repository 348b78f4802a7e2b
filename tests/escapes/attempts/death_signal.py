# Takes back that the kernel kills it with its parent.
for option in (1, 1 + (1 << 32)):
    if libc.syscall(157, ctypes.c_ulong(option), 0, 0, 0, 0) == 0:
        escaped("prctl")
