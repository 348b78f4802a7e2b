# Asks for rights, and adds them to a file.
status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
    if int(status[name], 16):
        escaped(name)
if status["NoNewPrivs"] != "1":
    escaped("new privileges")
class header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]
class data(ctypes.Structure):
    _fields_ = [("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32)]
wanted = (data * 2)(data(0xffffffff, 0xffffffff, 0), data(0, 0, 0))
syscall(126, ctypes.byref(header(0x20080522, 0)), ctypes.byref(wanted))
open("/tmp/program", "w").close()
attempt(lambda: os.setxattr("/tmp/program", "security.capability", bytes([1, 0, 0, 2]) + bytes(16)) or "set")
