#!/usr/bin/python3
"""./dev chaos --net: real processes, in network namespaces where the machine allows them, are hurt by a plan of faults
while clients write a history that is judged in the end: net.py BUILD_DIR [--seconds N] [--seed S] [--json]

  net.py --+-- chaos_net controller    serves roles on the nodes, and has the clients
           +-- relay.py                 every link between a node and the controller passes it
           +-- chaos_net node (3)       with a process for each replica, and Python processes below some of them
           `-- chaos_net judge          in the end

With --train the controller is `troupe train`, and the nodes are `troupe node`; scrape.py says by the controller's
metrics what serves. What the run has left is judged.

It exits with 1 if anything was found, with 2 for a wrong argument, and with 130 when it was interrupted. All namespaces
and processes end with it, however it ends: they are in namespaces of its own, or are killed with their parent.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import calls
import network
import plan
import processes
import run
import training

HERE = pathlib.Path(__file__).resolve().parent
INSIDE = "CHAOS_NET_INSIDE"
PREFIX, OWNER = "troupe-chaos-", "owner"  # Of the folders of runs, and the file in them that has the process.


def judge(options, of, more, wrong):
    """Prints the verdict. Returns whether everything was as promised."""
    for sentence in wrong:
        print(f"NOT AS PROMISED: {sentence}")
    text, figures, holds = of.judge()
    print(text)
    if options.json and figures:
        print(json.dumps({**figures, **more, "wrong_ends": wrong}))
    return holds and not wrong


def carry_out(options, folder):
    """In the namespaces, if there are any."""
    networked = os.environ.get(INSIDE) == "network"
    sentences, kinds = [], []
    if networked:
        network.make(run.NODES)
        kinds, sentences = network.try_faults()
    else:
        sentences.append(os.environ[INSIDE])
    for sentence in sentences:
        print(f"chaos --net: {sentence}")
    faults = plan.draw_plan(options.seed, options.seconds, run.NODES, kinds, options.longest, options.kill_controller_every)
    print(f"the plan of seed {options.seed}, each fault at that time or once the one before is recovered from:")
    for fault in faults:
        print(f"  {fault}")
    sys.stdout.flush()
    processes.adopt_orphans()
    hurt = (training.Training if options.train else calls.Calls)(options, folder, networked)
    wrong = []
    try:
        hurt.start_all()
        hurt.follow(faults)
        wrong = hurt.end()
    except run.Failed as error:
        wrong = [str(error)]
    finally:
        hurt.kill_all()
        hurt.faults.close()
    return judge(options, hurt, {"seed": options.seed, "seconds": options.seconds, "left_out": sentences}, wrong)


# ---- outside

def isolation():
    """The command in whose namespaces the run takes place, and an empty text; or none, and a sentence that says why."""
    flags = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        flags += ["--user", "--map-root-user"]
    what = f"faults of the kinds {', '.join(repr(kind) for kind in plan.NETWORKED)} are left out"
    for tool, package in (("unshare", "util-linux"), ("nsenter", "util-linux"), ("ip", "iproute2"), ("tc", "iproute2")):
        if not shutil.which(tool):
            return [], f"{what}: the command {tool} is missing (apt-get install {package})"
    command = ["unshare", *flags]
    probe = "mount -t tmpfs tmpfs /run && ip netns add one && ip link add to-one type veth peer name eth0 netns one"
    tried = subprocess.run([*command, "sh", "-c", probe], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           stdin=subprocess.DEVNULL, timeout=60, check=False)
    if tried.returncode == 0:
        return command, ""
    return [], f"{what}: this machine allows no network namespaces to this user, expected root with CAP_NET_ADMIN and " \
               f"CAP_SYS_ADMIN, or user namespaces ({tried.stdout.strip()})"


def remove_stale_folders():
    """Removes what runs of this user left that were killed."""
    for owner in pathlib.Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{OWNER}"):
        with contextlib.suppress(OSError, ValueError):
            if owner.parent.stat().st_uid == os.geteuid() and "net.py" not in processes.command_line(int(owner.read_text())):
                shutil.rmtree(owner.parent, ignore_errors=True)


def read_options(words):
    parser = argparse.ArgumentParser(prog="./dev chaos --net", description="Hurts processes and links under load.")
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve(), help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=600, help="how long; 600 unless said")
    parser.add_argument("--seed", type=int, default=1, help="of the plan of faults; 1 unless said")
    parser.add_argument("--longest", type=int, default=plan.PAUSES[-1], choices=plan.PAUSES,
                        help="seconds that a fault lasts at most")
    parser.add_argument("--train", action="store_true",
                        help="hurt a run of `troupe train` in place of clients of roles")
    parser.add_argument("--kill-controller-every", type=float, default=plan.CONTROLLER_KILLED_EVERY, metavar="SECONDS",
                        help="how often the controller is killed; 60 unless said, and 0 means never")
    parser.add_argument("--sample-every", type=float, metavar="SECONDS",
                        help="how often --train writes memory, descriptors and threads of all processes into the folder of "
                             "the histories; a sixtieth of the time unless said")
    parser.add_argument("--no-namespaces", action="store_true", help="do without network namespaces")
    parser.add_argument("--json", action="store_true", help="end with a line of JSON")
    options = parser.parse_args(words)
    if not 10 <= options.seconds <= 86400:
        parser.error(f"--seconds: expected 10 to 86400, got {options.seconds:g}")
    if not (options.kill_controller_every == 0 or 10 <= options.kill_controller_every <= 86400):
        parser.error(f"--kill-controller-every: expected 0 or 10 to 86400, got {options.kill_controller_every:g}")
    if options.sample_every is not None and not options.train:
        parser.error("--sample-every: expected it beside --train")
    if options.sample_every is not None and not 0.1 <= options.sample_every <= 86400:
        parser.error(f"--sample-every: expected 0.1 to 86400, got {options.sample_every:g}")
    options.sample_every = options.sample_every or options.seconds / 60
    return options


def interrupted(*_):
    raise KeyboardInterrupt


def main(words):
    options = read_options(words)
    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGINT, interrupted)
    if INSIDE in os.environ:
        if os.environ[INSIDE] == "network":
            network.call("mount", "-t", "tmpfs", "tmpfs", "/run")  # Where ip keeps the names of namespaces.
        return 0 if carry_out(options, pathlib.Path(os.environ["CHAOS_NET_ROOT"])) else 1
    command, sentence = ([], "network namespaces are not to be used") if options.no_namespaces else isolation()
    remove_stale_folders()
    folder = pathlib.Path(tempfile.mkdtemp(prefix=PREFIX))
    (folder / OWNER).write_text(str(os.getpid()))
    environment = {**os.environ, INSIDE: sentence or "network", "CHAOS_NET_ROOT": str(folder)}
    inner = subprocess.Popen([*command, sys.executable, str(HERE / "net.py"), *words], env=environment,
                             preexec_fn=processes.die_with_parent)
    code = 130
    try:
        code = inner.wait()
    finally:
        if inner.poll() is None:
            inner.send_signal(signal.SIGINT)  # unshare does not pass it on, and is killed below.
            with contextlib.suppress(subprocess.TimeoutExpired):
                inner.wait(2)
            inner.kill()
            inner.wait()
        if code in (1, 70):
            (folder / OWNER).unlink()  # So that the folder stays.
            print(f"the histories and the logs are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return code if code >= 0 else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
