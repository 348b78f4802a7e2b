# Keeps data in the buffers of socket pairs, made as large as they can be, and in pairs under way.
import array, socket
taken, kept = 0, []
try:
    for _ in range(512):
        pair = socket.socketpair(socket.AF_UNIX)
        kept.append(pair)
        for end in pair:
            end.setblocking(False)
            try:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
            except OSError:
                pass
            try:
                while True:
                    taken += end.send(b"x" * 65536)
            except BlockingIOError:
                pass
        if len(kept) > 2:
            one, other = kept.pop()
            try:
                kept[0][0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [one.fileno()]))])
                one.close()
            except OSError:
                kept.append((one, other))
except OSError:
    pass
if taken > host["open_files"] * (512 << 10):
    escaped(f"{taken} bytes in sockets")
