"""Virtual environments with packages from PyPI, for what is compared with other implementations."""
import subprocess


class Unavailable(Exception):
    """Something that can't be had; the text says why."""


def run_quietly(command, what):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{what} failed: {' '.join(map(str, command))}\n{done.stdout[-2000:]}")
    return done.stdout


def make(folder, packages, what):
    """Makes it once, and again when `packages` change: tuples, each installed after the one before."""
    wanted = repr(packages)
    stamp = folder / "packages"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"Making {folder} ({what}) from PyPI...", flush=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    run_quietly(["/usr/bin/python3", "-m", "venv", folder], "venv (apt-get install python3-venv)")
    for some in packages:
        run_quietly([folder / "bin/python", "-m", "pip", "install", "--quiet", *some], "pip")
    stamp.write_text(wanted)
