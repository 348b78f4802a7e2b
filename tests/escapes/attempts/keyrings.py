# Reads and writes the keyrings of the kernel, which no namespace separates.
syscall(248, b"user", b"name", b"secret", 6, -4)
syscall(249, b"user", b"name", 0, -4)
for keyring in (-1, -2, -3, -4, -5):
    syscall(250, 0, keyring, 1)
