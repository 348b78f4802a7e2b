#!/usr/bin/python3
"""The real gymnasium package and MiniGrid, in a virtual environment of their own.

Usage: gymnasium_venv.py BUILD_DIR. Makes the environment unless it is there, and prints its python on the last
line. Where that can't be: exit code 1, and why on the last line.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import virtual_environment  # noqa: E402

PACKAGES = (("gymnasium[classic-control]>=1.1", "minigrid>=3", "numpy>=2"),)
# Box2D has no wheel for every Python; what needs it is left out without it.
OPTIONAL = (("gymnasium[box2d]>=1.1",),)

if __name__ == "__main__":
    venv = pathlib.Path(sys.argv[1]).resolve() / "venvs/gymnasium"
    sys.exit(virtual_environment.print_python(venv, PACKAGES, "the package gymnasium", OPTIONAL))
