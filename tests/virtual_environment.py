"""Virtual environments with packages from PyPI, for what is compared with other implementations."""
import contextlib
import fcntl
import subprocess
import sys
import time

LONGEST_S = 1800  # of one installation, and of the wait for another process that makes the same environment


class Unavailable(Exception):
    """Something that can't be had; the text says why."""


def run_quietly(command, what):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              timeout=LONGEST_S)
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{what} has not ended after {LONGEST_S} s: {' '.join(map(str, command))}") from error
    if done.returncode != 0:
        raise Unavailable(f"{what} failed: {' '.join(map(str, command))}\n{done.stdout[-2000:]}")
    return done.stdout


@contextlib.contextmanager
def locked(path):
    """One process at a time is inside. The system releases the lock of a process that is killed."""
    with path.open("w") as file:
        deadline = time.monotonic() + LONGEST_S
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise Unavailable(f"another process has held {path} for {LONGEST_S} s") from error
                time.sleep(0.2)
        yield


def make(folder, packages, what, optional=()):
    """Makes it once, and again when `packages` change: tuples, each installed after the one before.

    `optional` are such tuples, too, which have no wheel everywhere: the environment is made without them there.
    Several processes may ask for the same folder: one makes it, the others wait.
    """
    wanted = repr((packages, optional))
    stamp = folder / "packages"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_name(folder.name + ".lock")):
        if stamp.exists() and stamp.read_text() == wanted:
            return
        print(f"Making {folder} ({what}) from PyPI...", file=sys.stderr, flush=True)
        run_quietly(["/usr/bin/python3", "-m", "venv", "--clear", folder], "venv (apt-get install python3-venv)")
        pip = [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        for some in packages:
            run_quietly([*pip, *some], "pip")
        for some in optional:
            with contextlib.suppress(Unavailable):
                run_quietly([*pip, *some], "pip")
        stamp.write_text(wanted)


def print_python(folder, packages, what, optional=()):
    """For a script: prints the path of the environment's python as its last line, or why there is none; the exit code."""
    try:
        make(folder, packages, what, optional)
    except Unavailable as why:
        # The last line is what a test that is skipped says.
        print(f"{what} could not be installed: {str(why).splitlines()[-1]}")
        return 1
    print(folder / "bin/python")
    return 0
