# Changes the settings of the kernel, and reads what it keeps for root.
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches",
             "/proc/sys/kernel/modprobe", "/proc/sys/user/max_user_namespaces", "/sys/kernel/uevent_helper"):
    attempt(lambda: os.open(path, os.O_WRONLY))
for path in ("/proc/kcore", "/proc/kmsg", "/proc/kallsyms"):
    def look():
        if os.path.isdir(path):
            return os.listdir(path)
        with open(path, "rb") as file:
            text = file.read(4096)
        return None if path.endswith("kallsyms") and b"0000000000000000" in text[:64] else text
    attempt(look)
for call, arguments in ((103, (3, ctypes.create_string_buffer(64), 64)), (169, (0xfee1dead, 672274793, 0)), (170, (b"x", 1)),
                        (171, (b"x", 1)), (227, (0, ctypes.create_string_buffer(16))), (167, (b"/tmp/swap", 0)), (163, (b"/tmp/log",)),
                        (172, (3,)), (173, (0, 8, 1)), (135, (0x0040000,))):
    syscall(call, *arguments)
