#!/usr/bin/python3
"""The real OpenEnv package and OpenSpiel, in a virtual environment of their own.

Usage: openenv_venv.py BUILD_DIR. Makes the environment unless it is there, and prints its python on the last
line. Where that can't be: exit code 1, and why on the last line.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import virtual_environment  # noqa: E402

PACKAGES = (("openenv>=0.10,<0.11", "open-spiel>=2,<3"),)

if __name__ == "__main__":
    venv = pathlib.Path(sys.argv[1]).resolve() / "venvs/openenv"
    sys.exit(virtual_environment.print_python(venv, PACKAGES, "the packages openenv and open-spiel"))
