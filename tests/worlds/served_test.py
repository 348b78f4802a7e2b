#!/usr/bin/python3
"""`troupe serve-env` before the real OpenEnv client and validator, which come from PyPI.

Usage: served_test.py BUILD_DIR; with TROUPE_WORLDS set, as `./dev test --worlds` sets it.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CRITERIA = 6  # that `openenv validate` has


def skip(why):
    print(f"served: skipped: {why}\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def serve(build):
    """The running server, and its URL."""
    command = [build / "deploy/troupe/troupe", "serve-env", "CartPole-v1", "--port", "0", "--metrics-port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return server, re.search(r"http://\S+(?=,)", server.stdout.readline()).group()


def plays(python, url):
    done = subprocess.run([python, HERE / "play_served.py", url], timeout=120)
    return done.returncode == 0


def runs_guide(python, url):
    """The program of the guide to OpenEnv, at this server's address."""
    guide = (HERE.parent.parent / "docs/guides/openenv.md").read_text()
    program = re.search(r"^```python\n(.*?GenericEnvClient.*?)^```$", guide, re.MULTILINE | re.DOTALL).group(1)
    program = program.replace("http://localhost:8000", url)
    done = subprocess.run([python, "-c", program], timeout=120, capture_output=True, text=True)
    print(f"the guide's program: {done.stdout.strip()}{done.stderr.strip()}")
    return "'terminated': True, 'truncated': False" in done.stdout


def validates(python, url):
    command = [pathlib.Path(python).parent / "openenv", "validate", "--json", "--url", url]
    done = subprocess.run(command, timeout=120, capture_output=True, text=True)
    report = json.loads(done.stdout)
    summary = report["summary"]
    print(f"openenv validate: {summary['passed_count']} of {summary['total_count']}")
    if done.returncode != 0 or summary["passed_count"] != CRITERIA or summary["total_count"] != CRITERIA:
        print(done.stdout)
        return False
    return True


def ends(server):
    server.send_signal(signal.SIGTERM)
    return server.wait(timeout=60) == 0


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if not os.environ.get("TROUPE_WORLDS"):
        skip("it needs ./dev test --worlds")
    made = subprocess.run([HERE / "openenv_venv.py", build], capture_output=True, text=True)
    python = made.stdout.strip().splitlines()[-1]
    if made.returncode != 0:
        skip(python)
    server, url = serve(build)
    try:
        results = [plays(python, url), runs_guide(python, url), validates(python, url), ends(server)]
    finally:
        server.kill()
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
