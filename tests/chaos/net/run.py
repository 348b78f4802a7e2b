"""The processes and links of a run, what is done to them, and when everything serves again. What runs on them is decided by
a class of its own: calls.py and training.py."""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import network
import plan
import processes

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[2]
NODES, SLOTS = 3, 4
# docs/errors.md: a link that carries nothing for 5 s has closed, and a node waits for at most 5 s between two attempts
# to join.
RECOVERY_LIMIT = 10
RECOVERY_FACTOR = 2
START_LIMIT, END_LIMIT = 120, 90


class Failed(Exception):
    pass


def now():
    return time.monotonic()


def free_ports(count):
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in held]


class Run:
    """A class derived from it says what the processes are: make_secrets, controller_words, node_words, program; when all of
    it serves: serves_at; how it ends: ask_to_end; and whether it was as promised: judge."""

    program = ""  # Its path, by which the processes of replicas are known.
    recovery_limit = RECOVERY_LIMIT

    def __init__(self, options, folder, networked):
        self.options, self.networked = options, networked
        self.folder = folder / "histories"
        self.logs = folder / "logs"
        for made in (self.folder, self.logs):
            made.mkdir()
        self.secrets = folder / "certificates" if networked else folder / "join.secret"
        self.faults = open(self.folder / "faults.jsonl", "a", encoding="utf-8")  # pylint: disable=consider-using-with
        self.life, self.controller, self.relay = 0, None, None
        self.nodes = {}  # By number: its process.
        self.started = 0
        self.environment = {**os.environ, "OMP_NUM_THREADS": "1",
                            "PYTHONPATH": os.pathsep.join(map(str, (SOURCES / "tests/actors/python/worlds", HERE / "worlds")))}

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

    def place_of_controller(self):
        return f"{network.own_address(0) if self.networked else '127.0.0.1'}:{self.controller_port}"

    def place_of(self, number):
        """Where the relay takes the connections of that node."""
        if self.networked:
            return f"{network.hub_address(number)}:{network.PORT}"
        return f"127.0.0.1:{self.ports[number]}"

    def start_controller(self):
        self.life += 1
        self.controller = self.start(f"controller-{self.life}", network.namespace(0), self.program, *self.controller_words(),
                                     env=self.controller_environment())

    def controller_environment(self):
        return {}

    def start_node(self, number):
        self.nodes[number] = self.start(
            f"node-{number}", network.namespace(number), self.program, "node", "--join", self.place_of(number),
            "--name", f"node-{number}", "--slots", SLOTS, "--isolate", *self.known_by(f"node-{number}"), "--threads", "2",
            "--metrics-port", "0", *self.node_words())

    def node_words(self):
        return ()

    def start_all(self):
        if self.networked:
            self.make_secrets([network.own_address(0), *(network.hub_address(number) for number in range(1, NODES + 1))])
            self.controller_port = network.PORT
        else:
            self.ports = free_ports(NODES + 1)
            self.controller_port = self.ports[0]
        self.relay = self.start("relay", network.HUB, sys.executable, HERE / "relay.py", self.place_of_controller(),
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

    def await_recovery(self, healed, limit, settling):
        """The time from which on everything served for `settling` seconds, or None."""
        since = None
        while now() < healed + limit + settling:
            served = self.serves_at(healed)
            if served is None:
                since = None
            elif since is None:
                since = served
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

    def children_and_guests(self, number):
        return processes.children_and_guests(self.nodes[number].pid, self.program)

    def victims(self, who, fault):
        """Processes of that sort, on the node of the fault or, where that has none, on another."""
        if who == "controller":
            return [self.controller.pid]
        order = [*range(fault.node, NODES + 1), *range(1, fault.node)]
        for number in order:
            children, guests = self.children_and_guests(number)
            found = {"node": [self.nodes[number].pid], "child": children, "guest": guests}[who]
            if found:
                return [found[fault.draw % len(found)]]
        return []

    def several(self, fault):
        """Two nodes, or a node and a child and a guest of another one."""
        other = fault.node % NODES + 1
        first = self.nodes[fault.node].pid
        if fault.draw % 2:
            return [first, self.nodes[other].pid]
        return [first, *(pids[0] for pids in self.children_and_guests(other) if pids)]

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
            recovered = self.await_recovery(healed, RECOVERY_FACTOR * self.recovery_limit + START_LIMIT,
                                            plan.settling(fault.kind))
            kind = fault.kind + (f" {fault.seconds:g} s" if fault.seconds else "")
            self.write(what="fault", kind=kind, id=victims, at=begun, until=healed, limit=self.recovery_limit,
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
        self.ask_to_end()
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
        self.end_helpers()
        left = self.await_nobody()
        if left:
            wrong.append(f"processes were left: {left}")
        return wrong

    def end_helpers(self):
        self.relay.kill()
        self.relay.wait()

    def await_nobody(self):
        until = now() + END_LIMIT / 9
        while (left := processes.descendants(os.getpid())) and now() < until:
            processes.reap_orphans(set())
            time.sleep(0.1)
        return [processes.command_line(pid) for pid in left]

    def kill_all(self):
        for pid in processes.descendants(os.getpid()):
            processes.tell(pid, signal.SIGKILL)
