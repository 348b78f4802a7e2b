# Makes device nodes, and opens devices.
import stat
for kind, major, minor in ((stat.S_IFBLK, 254, 0), (stat.S_IFBLK, 8, 0), (stat.S_IFCHR, 1, 1)):
    attempt(lambda: os.mknod("/tmp/device", 0o666 | kind, os.makedev(major, minor)) or "made")
for path in ("/dev/mem", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/dev/vda", "/dev/sda", "/dev/net/tun", "/dev/loop0"):
    attempt(lambda: os.open(path, os.O_RDONLY))
