# Locks files of the whole machine, and keeps the memory of the kernel that a lock takes.
import fcntl, struct
file = os.open("/usr/bin/env", os.O_RDONLY)
attempt(lambda: fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB) or "flock")
for command in (fcntl.F_SETLK, fcntl.F_SETLKW, 37, 38):
    attempt(lambda: fcntl.fcntl(file, command, struct.pack("hhqqi", fcntl.F_RDLCK, 0, 0, 1, 0)))
