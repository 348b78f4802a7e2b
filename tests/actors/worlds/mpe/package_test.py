#!/usr/bin/python3
"""The particle environments beside the real package mpe2, which comes from PyPI: 100 episodes of each, bit for bit.

Usage: package_test.py BUILD_DIR; with TROUPE_WORLDS set, as `./dev test --worlds` sets it.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import package
from package import virtual_environment

HERE = pathlib.Path(__file__).resolve().parent
EPISODES = 100


def skip(why):
    print(f"mpe2: skipped: {why}\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if not os.environ.get("TROUPE_WORLDS"):
        skip("it needs ./dev test --worlds")
    try:
        python = package.make(build)
    except virtual_environment.Unavailable as why:
        skip(why)
    with tempfile.TemporaryDirectory(prefix="troupe-mpe2-") as folder:
        record = pathlib.Path(folder) / "episodes.txt"
        subprocess.run([python, HERE / "record_package.py", record, str(EPISODES)], check=True)
        tests = build / "tests/actors/test_environments"
        done = subprocess.run([tests, "[.mpe2]"], env={**os.environ, "TROUPE_MPE2_RECORD": str(record)})
    is_equal = done.returncode == 0
    print("1 passed, 0 failed" if is_equal else "0 passed, 1 failed")
    return 0 if is_equal else 1


if __name__ == "__main__":
    sys.exit(main())
