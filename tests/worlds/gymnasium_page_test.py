#!/usr/bin/python3
"""The commands of docs/guides/gymnasium.md, as they stand there, with the real OpenEnv package and the real Gymnasium.

Usage: gymnasium_page_test.py BUILD_DIR; with TROUPE_WORLDS set, as `./dev test --worlds` sets it.
"""
import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What the server says of what it can't serve.
REFUSED = {
    ("CartPol-v1",): "CartPol",
    ("nosuchmodule:CartPole-v1",): "nosuchmodule",
    ("CartPole-v1", "--observation", "image"): "--observation: expected a part of the observation",
}


def skip(why):
    print(f"gymnasium page: skipped: {why}\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def read_commands(build):
    """The page's commands; build/release is the build that is tested."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "docs/guides/gymnasium.md").read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [[word.replace("build/release", str(build)).replace("examples/gymnasium_server", f"{ROOT}/examples/gymnasium_server")
             for word in shlex.split(line)] for line in lines]


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def runs(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=1800)
    print(f"$ {' '.join(command)}\n{done.stdout[-3000:]}", flush=True)
    return done.returncode == 0


def refuses(python, arguments, wanted):
    command = [python, ROOT / "examples/gymnasium_server.py", *arguments, "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    said = done.stderr.strip().splitlines()[-1:]
    print(f"{' '.join(arguments)}: {said}")
    return done.returncode == 1 and bool(said) and said[0].startswith("gymnasium_server: ") and wanted in said[0]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if not os.environ.get("TROUPE_WORLDS"):
        skip("it needs ./dev test --worlds")
    make, install, serve, *troupe = read_commands(build)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="troupe-gymnasium-"))
    try:
        for command in (make, install):
            if not runs(command, folder, None):
                skip(f"{' '.join(command)} failed")
        python = folder / "venv/bin/python"
        port = str(free_port())
        serve[serve.index("--port") + 1] = port
        server = subprocess.Popen(serve, cwd=folder, stdout=subprocess.PIPE, text=True)
        try:
            said = server.stdout.readline()
            results = [said == f"serving CartPole-v1 at http://127.0.0.1:{port}, at most 64 sessions\n"]
            print(said, end="")
            environment = {**os.environ, "OPENENV_URL": f"http://127.0.0.1:{port}"}
            results += [runs(command, folder, environment) for command in troupe]
        finally:
            server.kill()
            server.wait()
        results += [refuses(python, arguments, wanted) for arguments, wanted in REFUSED.items()]
    finally:
        shutil.rmtree(folder)
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
