#!/usr/bin/python3
"""The environment and the commands of docs/guides/python.md, as they stand there, with the real Gymnasium.

Usage: python_page_test.py BUILD_DIR
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main(build):
    made = subprocess.run([ROOT / "tests/actors/worlds/gymnasium_venv.py", build], stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        print(f"python page: skipped: {made.stdout.strip()}\n0 passed, 0 failed, 1 skipped")
        return 0
    text = (ROOT / "docs/guides/python.md").read_text()
    module = re.search(r"^```python\n# corridor.py\n(.*?)^```$", text, re.MULTILINE | re.DOTALL).group(1)
    blocks = re.findall(r"^```sh by-hand\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    commands = next(block for block in blocks if "corridor:Corridor" in block).splitlines()
    troupe = build / "deploy/troupe/troupe"
    environment = {**os.environ, "VIRTUAL_ENV": str(pathlib.Path(made.stdout.split()[-1]).parents[1]),
                   "PATH": f"{troupe.parent}:{os.environ['PATH']}"}
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "corridor.py").write_text(module)
        for command in commands:
            done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=300)
            passed, failed = (passed + 1, failed) if done.returncode == 0 else (passed, failed + 1)
            if done.returncode != 0:
                print(f"{command}: ended with {done.returncode}: {done.stdout}")
        run = pathlib.Path(folder, "runs/ppo/corridor-Corridor_1")
        try:
            summary = json.loads((run / "summary.json").read_text())
            columns = (run / "progress.csv").read_text().splitlines()[0].split(",")
            assert summary["eval_mean"] > 0.9, summary
            assert {"rollout/success_rate", "rollout/ep_steps_mean"} <= set(columns), columns
            assert "rollout/ep_is_success_mean" not in columns, columns
            passed += 1
        except (OSError, AssertionError) as error:
            print(f"the run of the page: {error!r}")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
