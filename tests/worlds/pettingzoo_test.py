#!/usr/bin/python3
"""Environments of the real packages PettingZoo and MPE2 behind Troupe, against what they do by themselves, and the
worlds and commands of docs/guides/pettingzoo.md, as they stand there.

Usage: pettingzoo_test.py BUILD_DIR; with TROUPE_WORLDS set, as `./dev test --worlds` sets it. PETTINGZOO_PYTHON names a
Python that has the packages; without it a virtual environment is made. The test cases are in
tests/actors/python/python_agents_test.cpp.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import virtual_environment  # noqa: E402

PACKAGES = (("pettingzoo>=1.27,<2", "mpe2>=1,<2"),)


def skip(why):
    print(f"pettingzoo: skipped: {why}\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def python_of(build):
    given = os.environ.get("PETTINGZOO_PYTHON")
    if given:
        return given
    folder = build / "venvs/pettingzoo"
    try:
        virtual_environment.make(folder, PACKAGES, "PettingZoo and MPE2")
    except virtual_environment.Unavailable as error:
        skip(error)
    return folder / "bin/python"


def passes(command, environment, folder=None):
    done = subprocess.run(command, env={**os.environ, **environment}, cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=1800)
    print(done.stdout[-5000:], flush=True)
    return done.returncode == 0


def page_results(build, python, folder):
    """Runs the commands of the page: all but those that make the virtual environment."""
    text = (ROOT / "docs/guides/pettingzoo.md").read_text()
    for name, module in re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        pathlib.Path(folder, name).write_text(module)
    blocks = re.findall(r"^```sh by-hand\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines() if line.startswith("troupe ")]
    commands.append("troupe check-env spread:spread --steps 100")
    # Names of the registry, of an environment at once and of one in turn that has masks.
    commands.append("troupe check-env pettingzoo:classic/rps-v2 --steps 100")
    commands.append("troupe train --algo ippo --env pettingzoo:classic/connect_four-v3 --steps 300")
    environment = {"VIRTUAL_ENV": str(pathlib.Path(python).parents[1]),
                   "PATH": f"{build / 'deploy/troupe'}:{os.environ['PATH']}"}
    for command in commands:
        # The first one trains with the default number of steps.
        command += "" if "--steps" in command or "check-env" in command else " --steps 5000"
        print(f"$ {command}", flush=True)
        yield passes(["sh", "-c", command], environment, folder)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if not os.environ.get("TROUPE_WORLDS"):
        skip("it needs ./dev test --worlds")
    python = python_of(build)
    with tempfile.TemporaryDirectory() as folder:
        record = f"{folder}/record"
        results = [passes([python, ROOT / "tests/actors/python/pettingzoo_reference.py", record], {})]
        if results[0]:
            environment = {"TROUPE_PETTINGZOO_RECORD": record, "TROUPE_PETTINGZOO_PYTHON": str(python)}
            results.append(passes([build / "tests/actors/test_environments", "[.pettingzoo]"], environment))
        results += page_results(build, python, folder)
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
