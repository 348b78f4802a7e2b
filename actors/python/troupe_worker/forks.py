"""Serving in forked processes: one after another has the state of a process that has just imported its
modules, without importing them again."""

import atexit
import ctypes
import json
import os
import signal
import sys

from troupe_worker.channel import Closed
from troupe_worker.worker import Renewed

_PR_SET_PDEATHSIG = 1


def serve_in_forks(worker, first):
    """Serves in a forked process until Troupe closes the socket, and after the command `renew` in
    another one. Returns the exit code. If modules have started threads, which a fork would lose, it
    serves in this process, whose answer to `renew` is an error."""
    if len(os.listdir("/proc/self/task")) > 1:
        return _serve_here(worker, first)
    while True:
        ours, theirs = os.pipe()
        worker.channel.stays_in_fork = True
        process = os.fork()
        if process == 0:
            os.close(ours)
            _die_with_parent()
            return _serve(worker, first, theirs)
        worker.channel.stays_in_fork = False
        os.close(theirs)
        _, status = os.waitpid(process, 0)
        is_renewed = _has_told(ours)
        os.close(ours)
        if not is_renewed:
            return _end_like(status)
        first = b"J", json.dumps({"do": "is_renewed"})


def _has_told(pipe):
    """Whether the process that has ended wrote into the pipe, which others that it left behind may hold."""
    os.set_blocking(pipe, False)
    try:
        return os.read(pipe, 1) == b"r"
    except BlockingIOError:
        return False


def _serve(worker, first, tell):
    try:
        worker.serve(first)
    except Closed:
        pass
    except Renewed:
        os.write(tell, b"r")
        _leave(worker)
    return 0


def _leave(worker):
    """Ends this process without the interpreter's own end, which takes long and waits for threads."""
    worker.owners.clear()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _serve_here(worker, first):
    while True:
        try:
            worker.serve(first)
        except Closed:
            return 0
        except Renewed:
            worker.channel.answer({"error": "its modules have started threads"})
        first = None


def _die_with_parent():
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def _end_like(status):
    """Ends this process as the other one has ended, which Troupe tells its users."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return os.waitstatus_to_exitcode(status)
