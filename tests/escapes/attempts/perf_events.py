# Watches the processors and the kernel with perf.
attributes = ctypes.create_string_buffer(128)
attributes[4] = 112
for pid, processor in ((0, -1), (-1, 0)):
    syscall(298, ctypes.byref(attributes), pid, processor, -1, 0)
