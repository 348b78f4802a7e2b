# What stands before each attempt. `host` says what there is on the machine; escaped() reports a success.
import ctypes
import json
import os
import sys

host = json.load(sys.stdin)
libc = ctypes.CDLL(None, use_errno=True)
os.write(3, b"ran\n")


def escaped(what):
    os.write(3, f"escaped: {what}\n".encode())


def attempt(action):
    """Whatever comes of the action is an escape, other than an error or None."""
    try:
        result = action()
    except Exception:
        return
    if result is not None:
        escaped(f"{result!r:.100}")


def syscall(number, *arguments):
    """A system call that succeeds is an escape, too."""
    result = libc.syscall(number, *arguments)
    if result >= 0:
        escaped(f"system call {number}{arguments!r:.80}")
    return result
