# Begins namespaces, in which it would have all rights.
for flag in (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000, 0x00000080):
    syscall(272, flag)
