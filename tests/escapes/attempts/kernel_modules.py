# Loads code into the kernel.
image = ctypes.create_string_buffer(64)
syscall(175, ctypes.byref(image), 64, b"")
syscall(313, 0, b"", 0)
syscall(246, 0, 0, 0, 0)
syscall(320, -1, -1, 0, b"", 0)
