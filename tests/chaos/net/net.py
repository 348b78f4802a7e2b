#!/usr/bin/python3
"""./dev chaos --net: real processes, in network namespaces where the machine allows them, are hurt by a plan of faults
while clients write a history that is judged in the end: net.py BUILD_DIR [--seconds N] [--seed S] [--json]

  net.py --+-- chaos_net controller    serves roles on the nodes, and has the clients
           +-- relay.py                 every link between a node and the controller passes it
           +-- chaos_net node (3)       with a process for each replica, and Python processes below some of them
           `-- chaos_net judge          in the end

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
import socket
import subprocess
import sys
import tempfile
import time

import network
import plan
import processes

HERE = pathlib.Path(__file__).resolve().parent
NODES, REPLICAS, CALLERS, SLOTS = 3, 2, 2, 4
KINDS_OF_CALLS = ("work", "ask", "read", "produce", "publish", "enter", "step")
# docs/errors.md: a link that carries nothing for 5 s has closed, and a node waits for at most 5 s between two attempts
# to join.
RECOVERY_LIMIT = 10
RECOVERY_FACTOR = 2
START_LIMIT, END_LIMIT = 120, 90
STATUS_LIMIT = 2  # Seconds after which a controller that writes no status does not serve.
INSIDE = "CHAOS_NET_INSIDE"
PREFIX, OWNER = "troupe-chaos-", "owner"  # Of the folders of runs, and the file in them that has the process.


class Failed(Exception):
    pass


def now():
    return time.monotonic()


class Run:
    def __init__(self, options, folder, networked):
        self.options, self.networked = options, networked
        self.folder = folder / "histories"
        self.logs = folder / "logs"
        for made in (self.folder, self.logs):
            made.mkdir()
        self.program = str(options.build / "tests/chaos/chaos_net")
        self.secrets = folder / "certificates" if networked else folder / "join.secret"
        self.faults = open(self.folder / "faults.jsonl", "a", encoding="utf-8")  # pylint: disable=consider-using-with
        self.life, self.controller, self.relay = 0, None, None
        self.nodes = {}  # By number: its process.
        self.started = 0
        sources = HERE.parents[2]
        self.environment = {
            **os.environ, "CHAOS_NET_FOLDER": str(self.folder), "CHAOS_NET_REPLICAS": str(REPLICAS),
            "CHAOS_NET_CALLERS": str(CALLERS), "PYTHONPATH": str(sources / "tests/actors/python/worlds"),
            "OMP_NUM_THREADS": "1"}

    # ---- processes

    def start(self, name, where, *words, **more):
        """A process with a log of its own; `where` is the namespace, if there is one."""
        self.started += 1
        command = network.command_in(where, *words) if self.networked else list(words)
        with open(self.logs / f"{self.started:03}-{name}.log", "wb") as log:
            return subprocess.Popen([str(word) for word in command], env={**self.environment, **more.pop("env", {})},
                                    stderr=log, preexec_fn=processes.die_with_parent,
                                    **{"stdin": subprocess.DEVNULL, "stdout": log, **more})

    def known_by(self, name):
        return ("--certs", self.secrets / name) if self.networked else ("--join-secret", self.secrets)

    def start_controller(self):
        self.life += 1
        host = network.own_address(0) if self.networked else "127.0.0.1"
        self.controller = self.start(
            f"controller-{self.life}", network.namespace(0), self.program, "controller", "--listen",
            f"{host}:{self.controller_port}", *self.known_by("controller"), "--threads", "2", "--log-level", "warn",
            "--metrics-port", "0", env={"CHAOS_NET_LIFE": str(self.life)})

    def start_node(self, number):
        self.nodes[number] = self.start(
            f"node-{number}", network.namespace(number), self.program, "node", "--join", self.place_of(number),
            "--name", f"node-{number}", "--slots", SLOTS, "--isolate", *self.known_by(f"node-{number}"), "--threads", "2",
            "--log-level", "warn", "--metrics-port", "0")

    def place_of(self, number):
        """Where the relay takes the connections of that node."""
        if self.networked:
            return f"{network.hub_address(number)}:{network.PORT}"
        return f"127.0.0.1:{self.ports[number]}"

    def start_all(self):
        if self.networked:
            hosts = [network.own_address(0), *(network.hub_address(number) for number in range(1, NODES + 1))]
            subprocess.run([self.program, "certify", self.secrets, str(NODES), *hosts], check=True, timeout=60)
            self.controller_port = network.PORT
            host = network.own_address(0)
        else:
            self.ports = free_ports(NODES + 1)
            self.controller_port = self.ports[0]
            host = "127.0.0.1"
        self.relay = self.start("relay", network.HUB, sys.executable, HERE / "relay.py", f"{host}:{self.controller_port}",
                                *(f"{number}={self.place_of(number)}" for number in range(1, NODES + 1)),
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.await_relay()
        self.start_controller()
        for number in range(1, NODES + 1):
            self.start_node(number)
        if not self.await_recovery(now(), START_LIMIT, 1):
            raise Failed(f"not everything served within {START_LIMIT} s of the start")

    def await_relay(self):
        if self.relay.stdout.readline() != b"ok\n":
            raise Failed("the relay has ended")

    def tell_relay(self, number, action, **more):
        self.relay.stdin.write(json.dumps({"link": str(number), "do": action, **more}).encode() + b"\n")
        self.relay.stdin.flush()
        self.await_relay()

    # ---- what serves

    def status(self):
        with contextlib.suppress(OSError, ValueError):
            return json.loads((self.folder / "status").read_text())
        return {}

    def serves_since(self, healed):
        """Whether all nodes and replicas are there, and a call of each kind that began after `healed` was answered."""
        status = self.status()
        if status.get("at", 0) <= max(healed, now() - STATUS_LIMIT):
            return False
        return (status["life"] == self.life and status["nodes"] == NODES and status["serve"]
                and all(status["answered"].get(kind, 0) > healed for kind in KINDS_OF_CALLS))

    def await_recovery(self, healed, limit, settling):
        """The time from which on everything served for `settling` seconds, or None."""
        since = None
        while now() < healed + limit + settling:
            if not self.serves_since(healed):
                since = None
            elif since is None:
                since = self.status()["at"]
            elif now() >= since + settling:
                return since
            self.check_processes()
            time.sleep(0.1)
        return None

    def check_processes(self):
        owned = {self.controller, self.relay, *self.nodes.values()}
        processes.reap_orphans({process.pid for process in owned})
        if self.controller.poll() is not None:
            raise Failed(f"controller {self.life} has ended with {self.controller.returncode}")
        for number, node in self.nodes.items():
            if node.poll() is not None:
                raise Failed(f"node-{number} has ended with {node.returncode}")

    # ---- faults

    def write(self, **fields):
        self.faults.write(json.dumps(fields) + "\n")
        self.faults.flush()

    def victims(self, who, fault):
        """Processes of that sort, on the node of the fault or, where that has none, on another."""
        if who == "controller":
            return [self.controller.pid]
        order = [*range(fault.node, NODES + 1), *range(1, fault.node)]
        for number in order:
            node = self.nodes[number].pid
            children, guests = processes.children_and_guests(node)
            found = {"node": [node], "child": children, "guest": guests}[who]
            if found:
                return [found[fault.draw % len(found)]]
        return []

    def several(self, fault):
        """Two nodes, or a node and a child and a guest of another one."""
        other = fault.node % NODES + 1
        first = self.nodes[fault.node].pid
        if fault.draw % 2:
            return [first, self.nodes[other].pid]
        elsewhere = [*(pids[0] for pids in processes.children_and_guests(self.nodes[other].pid) if pids)]
        return [first, *elsewhere]

    def stop(self, pids, seconds):
        for pid in pids:
            processes.tell(pid, signal.SIGSTOP)
        begun = now()
        try:
            self.wait(seconds)
        finally:
            for pid in pids:
                processes.tell(pid, signal.SIGCONT)
        for pid in pids:
            self.write(what="paused", process=pid, at=begun, until=now())

    def wait(self, seconds):
        until = now() + seconds
        while (left := until - now()) > 0:
            time.sleep(min(left, 0.2))

    def kill(self, pids):
        for pid in pids:
            processes.tell(pid, signal.SIGKILL)
        if self.controller.pid in pids:
            self.controller.wait()
            self.start_controller()
        for number, node in list(self.nodes.items()):
            if node.pid in pids:
                node.wait()
                self.start_node(number)

    def hurt_link(self, kind, fault):
        if kind == "forget link":
            return self.tell_relay(fault.node, "forget")
        if kind == "cut link":
            return self.tell_relay(fault.node, "cut")
        if kind == "delay link":
            self.tell_relay(fault.node, "delay", seconds=(0.05, 0.2, 0.8)[fault.draw % 3])
        else:
            way = ("up", "down")[fault.draw % 2] if kind == "stall link one way" else "both"
            self.tell_relay(fault.node, "stall", way=way)
        self.wait(fault.seconds)
        return self.tell_relay(fault.node, "clear")

    def inject(self, fault):
        """Makes the fault and ends it. Returns what it was done to."""
        kind = fault.kind
        if kind in network.FAULTS:
            begin, end = network.FAULTS[kind]
            begin(fault.node, fault.draw)
            try:
                self.wait(fault.seconds)
            finally:
                end(fault.node, fault.draw)
            return network.namespace(fault.node)
        if kind in plan.RELAYED:
            self.hurt_link(kind, fault)
            return f"node-{fault.node}"
        action, who = kind.split(" ", 1)
        pids = self.several(fault) if who == "several" else self.victims(who, fault)
        if action == "stop":
            self.stop(pids, fault.seconds)
        else:
            self.kill(pids)
        return f"node-{fault.node}, processes {pids}" if fault.node else f"controller, process {pids}"

    def follow(self, faults):
        start = now()
        for fault in faults:
            self.wait(start + fault.at - now())
            begun = now()
            if begun + fault.seconds > start + self.options.seconds:
                print("the rest of the plan is left out, because recoveries have taken its time")
                break
            victims = self.inject(fault)
            healed = now()
            recovered = self.await_recovery(healed, RECOVERY_FACTOR * RECOVERY_LIMIT + START_LIMIT,
                                            plan.settling(fault.kind))
            kind = fault.kind + (f" {fault.seconds:g} s" if fault.seconds else "")
            self.write(what="fault", kind=kind, id=victims, at=begun, until=healed, limit=RECOVERY_LIMIT,
                       recovered=-1 if recovered is None else recovered)
            took = "never" if recovered is None else f"{recovered - healed:.1f} s"
            print(f"{begun - start:7.1f} s  {kind}, {victims}: everything served again after {took}", flush=True)
            if recovered is None:
                raise Failed("not everything serves any more")
        self.wait(start + self.options.seconds - now())

    # ---- the end

    def end(self):
        """What went wrong at the end, a sentence each."""
        wrong = []
        (self.folder / "end").touch()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.controller.wait(END_LIMIT)
        if self.controller.returncode != 0:
            wrong.append(f"the controller ended with {self.controller.returncode}, expected 0")
        for node in self.nodes.values():
            node.terminate()
        for number, node in self.nodes.items():
            with contextlib.suppress(subprocess.TimeoutExpired):
                node.wait(END_LIMIT)
            if node.returncode != 0:
                wrong.append(f"node-{number} ended with {node.returncode}, expected 0")
        self.relay.kill()
        self.relay.wait()
        left = self.await_nobody()
        if left:
            wrong.append(f"processes were left: {left}")
        return wrong

    def await_nobody(self):
        until = now() + END_LIMIT / 9
        while (left := processes.descendants(os.getpid())) and now() < until:
            processes.reap_orphans(set())
            time.sleep(0.1)
        return [processes.command_line(pid) for pid in left]

    def kill_all(self):
        for pid in processes.descendants(os.getpid()):
            processes.tell(pid, signal.SIGKILL)


def free_ports(count):
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in held]


def judge(options, folder, more, wrong):
    """Prints the verdict. Returns whether everything was as promised."""
    done = subprocess.run([str(options.build / "tests/chaos/chaos_net"), "judge", str(folder / "histories"), "--json"],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)
    text, _, last = done.stdout.rstrip().rpartition("\n")
    for sentence in wrong:
        print(f"NOT AS PROMISED: {sentence}")
    try:
        figures = json.loads(last)
    except ValueError:
        print(done.stdout)
        return False
    print(text)
    if options.json:
        print(json.dumps({**figures, **more, "wrong_ends": wrong}))
    return done.returncode == 0 and not wrong


def carry_out(options, folder):
    """In the namespaces, if there are any."""
    networked = os.environ.get(INSIDE) == "network"
    sentences, kinds = [], []
    if networked:
        network.make(NODES)
        kinds, sentences = network.try_faults()
    else:
        sentences.append(os.environ[INSIDE])
    for sentence in sentences:
        print(f"chaos --net: {sentence}")
    faults = plan.draw_plan(options.seed, options.seconds, NODES, kinds, options.longest)
    print(f"the plan of seed {options.seed}, each fault at that time or once the one before is recovered from:")
    for fault in faults:
        print(f"  {fault}")
    sys.stdout.flush()
    processes.adopt_orphans()
    run = Run(options, folder, networked)
    wrong = []
    try:
        run.start_all()
        run.follow(faults)
        wrong = run.end()
    except Failed as error:
        wrong = [str(error)]
    finally:
        run.kill_all()
        run.faults.close()
    return judge(options, folder, {"seed": options.seed, "seconds": options.seconds, "left_out": sentences}, wrong)


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
    parser.add_argument("--no-namespaces", action="store_true", help="do without network namespaces")
    parser.add_argument("--json", action="store_true", help="end with a line of JSON")
    options = parser.parse_args(words)
    if not 10 <= options.seconds <= 86400:
        parser.error(f"--seconds: expected 10 to 86400, got {options.seconds:g}")
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
