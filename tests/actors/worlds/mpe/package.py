"""The Python package mpe2, in a virtual environment of its own.

Usage: package.py BUILD_DIR. Makes the environment unless it is there, and prints its python on the last
line. Where that can't be: exit code 1, and why.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import virtual_environment  # noqa: E402

PACKAGES = (("mpe2==1.1.1", "numpy>=2"),)


def make(build):
    """The environment's python. Throws virtual_environment.Unavailable."""
    folder = pathlib.Path(build).resolve() / "venvs/mpe2"
    virtual_environment.make(folder, PACKAGES, "mpe2")
    return folder / "bin/python"


if __name__ == "__main__":
    try:
        print(make(sys.argv[1]))
    except virtual_environment.Unavailable as why:
        sys.exit(str(why))
