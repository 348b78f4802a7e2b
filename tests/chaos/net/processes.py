"""The processes of a run, and what they are found by in /proc."""
import contextlib
import ctypes
import os
import pathlib
import signal

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LIBC = ctypes.CDLL(None, use_errno=True)


def adopt_orphans():
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent():
    """For a process that begins: it is killed when its parent ends."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def read_stat(pid):
    """The state and the parent of a process, or None."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return fields[0], int(fields[1])
    return None


def command_line(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def descendants(root):
    """Those that live, without zombies."""
    children = {}
    for entry in os.listdir("/proc"):
        stat = read_stat(entry) if entry.isdigit() else None
        if stat and stat[0] != "Z":
            children.setdefault(stat[1], []).append(int(entry))
    found, left = [], [root]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def children_and_guests(node, program):
    """The processes of replicas below a node, which run that program, and the Python processes of their environments."""
    children, guests = [], []
    for pid in sorted(descendants(node)):
        line = command_line(pid)
        if "troupe_worker" in line:
            guests.append(pid)
        elif program in line:
            children.append(pid)
    return children, guests


def reap_orphans(known):
    """Takes note of the ends of processes that fell to this one; those in `known` are left to their owners."""
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) not in known and read_stat(entry) == ("Z", os.getpid()):
            with contextlib.suppress(OSError):
                os.waitpid(int(entry), os.WNOHANG)


def tell(pid, number):
    """True if that process was there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False
