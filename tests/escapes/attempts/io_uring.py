# Asks for a ring, whose operations no filter sees.
parameters = ctypes.create_string_buffer(120)
syscall(425, 8, ctypes.byref(parameters))
syscall(427, 0, 0, 0, 0)
