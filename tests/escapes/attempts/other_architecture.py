# Makes system calls of 32-bit programs, which have other numbers.
import mmap
def call(code):
    if os.fork() == 0:
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(code)
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        number = ctypes.CFUNCTYPE(ctypes.c_long)(address)()
        os._exit(0 if number > 0 else 1)
    return os.WIFEXITED(status := os.wait()[1]) and os.WEXITSTATUS(status) == 0
if call(bytes.fromhex("b814000000cd80c3")):
    escaped("getpid by int 0x80")
if call(bytes.fromhex("b827000040" "0f05c3")):
    escaped("getpid of x32")
