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
    """The commands of the page's first two blocks; `./train_on_openenv` is that of the build that is tested."""
    text = (ROOT / "docs/guides/gymnasium.md").read_text()
    blocks = re.findall(r"^```sh by-hand\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    places = {"./train_on_openenv": f"{build}/examples/train_on_openenv",
              "examples/gymnasium_server.py": f"{ROOT}/examples/gymnasium_server.py"}
    return [[places.get(word, word) for word in shlex.split(line)]
            for block in blocks[:2] for line in block.splitlines()]


def read_own_environment():
    """The page's module with an environment of its own."""
    text = (ROOT / "docs/guides/gymnasium.md").read_text()
    return re.search(r"^```python\n(# corridor.py\n.*?)^```$", text, re.MULTILINE | re.DOTALL).group(1)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def runs(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=1800)
    print(f"$ {' '.join(command)}\n{done.stdout[-3000:]}", flush=True)
    return done.returncode == 0


def serves_own_environment(python, folder):
    """Whether the page's own environment is served."""
    (folder / "corridor.py").write_text(read_own_environment())
    port = str(free_port())
    command = [python, ROOT / "examples/gymnasium_server.py", "corridor:Corridor-v0", "--port", port]
    server = subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": "."}, stdout=subprocess.PIPE, text=True)
    try:
        said = server.stdout.readline()
    finally:
        server.kill()
        server.wait()
    print(said, end="")
    return said == f"serving corridor:Corridor-v0 at http://127.0.0.1:{port}, at most 64 sessions\n"


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
        results.append(serves_own_environment(python, folder))
        results += [refuses(python, arguments, wanted) for arguments, wanted in REFUSED.items()]
    finally:
        shutil.rmtree(folder)
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
