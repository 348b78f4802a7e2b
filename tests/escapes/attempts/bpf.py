# Loads a program into the kernel.
attributes = ctypes.create_string_buffer(128)
for command in (0, 5):
    syscall(321, command, ctypes.byref(attributes), 128)
