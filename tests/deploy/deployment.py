"""What the tests of deploy/ share: its folder, tools that may be missing, a live scrape, and the closing line."""
import contextlib
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"


def require(case, tool, package):
    """Skips the test where a tool is missing."""
    if not shutil.which(tool):
        case.skipTest(f"no {tool}: apt-get install {package}")


def run(*command, **options):
    """The finished process, its stdout and stderr as one text."""
    return subprocess.run([str(word) for word in command], text=True, check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, **options)


def is_there(*command):
    """Whether the command can be run, and succeeds."""
    return bool(shutil.which(command[0])) and run(*command).returncode == 0


def build_folder():
    return pathlib.Path(sys.argv[1]).resolve()


def troupe():
    return build_folder() / "deploy/troupe/troupe"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def get(url):
    """A page, or an empty text where nobody answers."""
    with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5) as page:
        return page.read().decode()
    return ""


def await_page(url, pattern):
    """The page once it holds the pattern, for at most 60 s."""
    deadline = time.monotonic() + 60
    while True:
        text = get(url)
        if re.search(pattern, text, re.MULTILINE):
            return text
        if time.monotonic() > deadline:
            raise AssertionError(f"{url} did not hold {pattern} within 60 s, but:\n{text}")
        time.sleep(0.1)


@contextlib.contextmanager
def answering(answer):
    """A server that says this to whoever asks, and nothing where it is empty; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            with contextlib.suppress(OSError):
                client, _ = server.accept()
                with client:
                    client.sendall(answer)
                    while client.recv(4096):
                        pass

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


@contextlib.contextmanager
def training(*arguments):
    """A training run with all that has metrics of its own, in a folder that is removed; gives its port."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = [troupe(), "train", "-n", "1000000000", "--mode", "async", "--metrics-port", port,
                   "checkpoint.every_updates=5", "rollout.n_steps=256", *arguments]
        process = subprocess.Popen([str(word) for word in command], cwd=folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            yield port
        finally:
            process.kill()
            process.wait()


def train_briefly(case, config):
    """Trains with a configuration file, for its first update alone."""
    with tempfile.TemporaryDirectory() as folder:
        result = run(troupe(), "train", "--config", config, "-n", 2048, "--metrics-port", 0,
                     "evaluation.final_episodes=1", cwd=folder)
    case.assertEqual(result.returncode, 0, result.stdout)


def live_scrape():
    """/metrics of a run that has a child process and lets nodes in, has written a checkpoint, and trains on: while it
    writes one it has no services."""
    written_and_serving = (r'^troupe_checkpoints_total\{outcome="ok"\} [1-9][^$]*\n'
                           r'troupe_hosted_replicas\{process="environments-0",[^$]*\n'
                           r'troupe_replicas_ready\{service="replay"\} 1$')
    with tempfile.TemporaryDirectory() as certs:
        for words in ("init", certs), ("add", certs, "--name", "head", "--role", "controller", "--host", "localhost"):
            run(troupe(), "certs", *words)
        with training("--listen", f"127.0.0.1:{free_port()}", "--certs", f"{certs}/head",
                      "env.placement=process", "checkpoint.every_updates=20") as port:
            return await_page(f"http://127.0.0.1:{port}/metrics", written_and_serving)


def main():
    """Runs the tests of the calling program, and says what was skipped and why."""
    result = unittest.main(argv=[sys.argv[0]], exit=False, verbosity=1).result
    for case, why in result.skipped:
        print(f"skipped {case.id()}: {why}")

    def tests_of(found):  # a test counts one, however many of its parts did so
        return {getattr(case, "test_case", case).id() for case, _ in found}

    failed = tests_of(result.failures + result.errors)
    skipped = tests_of(result.skipped) - failed
    passed = max(result.testsRun - len(failed) - len(skipped), 0)
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    sys.exit(1 if failed else 0)
