# Leaves a file in /dev/shm, and an object of System V.
open("/dev/shm/" + host["mark"], "w").write("left")
for call, arguments in ((29, (4242, 1 << 20, 0o1777)), (64, (4242, 1, 0o1777)), (68, (4242, 0o1777)), (240, (b"/mark", 66, 0o777, 0))):
    syscall(call, *arguments)
