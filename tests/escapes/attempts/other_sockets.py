# Opens sockets of other kinds: raw, netlink, packet, vsock, Bluetooth, crypto.
for family in (2, 10, 16, 17, 31, 38, 40):
    for kind in (1, 2, 3):
        if syscall(41, family, kind, 0) >= 0:
            escaped(f"a socket of family {family}")
