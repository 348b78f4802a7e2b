"""A network of this machine: the controller and each node have a network namespace of their own, with a cable (a veth
pair) to the hub, where the relay is. With NUMBER 0 for the controller:

  hub, to-NUMBER, 10.231.NUMBER.1  ----  10.231.NUMBER.2, eth0, of the controller or the node
"""
import subprocess

HUB = "hub"
PORT = 7700
NOWHERE = "02:00:00:00:00:01"  # No interface has this address, so nobody takes a frame that is sent to it.
USUAL_MTU, SMALL_MTU = 1500, 600


class Missing(Exception):
    """What this machine lacks, as a sentence."""


def call(*words):
    done = subprocess.run(words, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=30, check=False)
    if done.returncode != 0:
        raise Missing(f"`{' '.join(words)}` failed: {done.stdout.strip()}")


def ip(where, *words):
    call("ip", "-n", where, *words)


def tc(where, *words):
    call("tc", "-n", where, *words)


def namespace(number):
    return "controller" if number == 0 else f"node-{number}"


def hub_address(number):
    return f"10.231.{number}.1"


def own_address(number):
    return f"10.231.{number}.2"


def command_in(name, *words):
    return ["nsenter", f"--net=/run/netns/{name}", *words]


def make(nodes):
    """Makes all of it. The caller has a mount namespace of its own with an empty /run."""
    call("ip", "netns", "add", HUB)
    ip(HUB, "link", "set", "lo", "up")
    for number in range(nodes + 1):
        name = namespace(number)
        call("ip", "netns", "add", name)
        ip(name, "link", "set", "lo", "up")
        ip(HUB, "link", "add", f"to-{number}", "type", "veth", "peer", "name", "eth0", "netns", name)
        ip(HUB, "address", "add", f"{hub_address(number)}/24", "dev", f"to-{number}")
        ip(name, "address", "add", f"{own_address(number)}/24", "dev", "eth0")
        ip(HUB, "link", "set", f"to-{number}", "up")
        ip(name, "link", "set", "eth0", "up")


def ends(number):
    """The two ends of a cable: the namespace, the interface, and the address of the other end."""
    return (HUB, f"to-{number}", own_address(number)), (namespace(number), "eth0", hub_address(number))


def pull(number, _):
    ip(HUB, "link", "set", f"to-{number}", "down")


def plug(number, _):
    ip(HUB, "link", "set", f"to-{number}", "up")


def swallow(number, draw):
    """Packets in one direction go to an address that nobody has. Neither side is told."""
    where, interface, other = ends(number)[draw % 2]
    ip(where, "neighbour", "replace", other, "lladdr", NOWHERE, "dev", interface, "nud", "permanent")


def pass_again(number, draw):
    where, interface, other = ends(number)[draw % 2]
    ip(where, "neighbour", "del", other, "dev", interface)


def slow_down(number, draw):
    for where, interface, _ in ends(number):
        tc(where, "qdisc", "replace", "dev", interface, "root", "tbf", "rate", f"{(64, 256, 1024)[draw % 3]}kbit",
           "burst", "4kb", "latency", "200ms")


def speed_up(number, _):
    for where, interface, _ in ends(number):
        tc(where, "qdisc", "del", "dev", interface, "root")


def shrink(number, draw):
    where, interface, _ = ends(number)[draw % 2]
    ip(where, "link", "set", "dev", interface, "mtu", str(SMALL_MTU))


def widen(number, draw):
    where, interface, _ = ends(number)[draw % 2]
    ip(where, "link", "set", "dev", interface, "mtu", str(USUAL_MTU))


# By the kind of fault: what makes it and what ends it.
FAULTS = {"link down": (pull, plug), "swallow one way": (swallow, pass_again), "low rate": (slow_down, speed_up),
          "small mtu": (shrink, widen)}


def try_faults():
    """The kinds that this machine can make, and a sentence for each of the others."""
    possible, sentences = [], []
    for kind, (begin, end) in FAULTS.items():
        try:
            begin(1, 0)
            end(1, 0)
            possible.append(kind)
        except (Missing, OSError) as error:
            sentences.append(f"faults of the kind '{kind}' are left out: {error}")
    return possible, sentences
