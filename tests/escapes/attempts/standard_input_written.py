# Changes the file that holds the standard input, to keep memory or to leave a message.
for flags in (os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
    def change():
        file = os.open("/proc/self/fd/0", flags)
        os.write(file, b"x" * 4096)
        return "written"
    attempt(change)
