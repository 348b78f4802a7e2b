"""The plan of faults, which the seed decides."""
import dataclasses
import math
import random

PAUSES = (1, 4, 6, 20)  # Seconds for which a process is stopped, or a link is hurt.
STOPPED = ("node", "child", "guest", "controller")
RELAYED = ("delay link", "stall link", "stall link one way", "forget link", "cut link")
NETWORKED = ("link down", "swallow one way", "low rate", "small mtu")
KILLED = ("kill node", "kill child", "kill guest", "kill several", "stop several")
CONTROLLER_KILLED_EVERY = 60
# After these each side may have a connection whose other side is gone, which it notices by 5 s of silence.
UNNOTICED = ("forget link", "stall link", "stall link one way", *NETWORKED, "stop node", "stop controller", "stop several")
NOMINAL_RECOVERY = 4  # Seconds that the plan allows for; a fault waits until the last one is recovered from.


@dataclasses.dataclass(frozen=True)
class Fault:
    at: float      # Seconds after the start at which it begins, or later.
    kind: str
    node: int      # Whose link or processes; 0 means the controller's.
    seconds: float  # How long it lasts; 0 for a moment.
    draw: int      # Decides everything else about it.

    def __str__(self):
        lasts = f" for {self.seconds:g} s" if self.seconds else ""
        return f"{self.at:7.1f} s  {self.kind}{lasts}, {'controller' if self.node == 0 else f'node-{self.node}'}"


def settling(kind):
    """Seconds for which everything must serve after such a fault before it is recovered from."""
    return 6 if kind in UNNOTICED else 1.5


class Bag:
    """Gives everything that is in it once, in an order of chance, and then again."""

    def __init__(self, chance, things):
        self.chance, self.things, self.left = chance, tuple(things), []

    def draw(self):
        if not self.left:
            self.left = list(self.things)
            self.chance.shuffle(self.left)
        return self.left.pop()


def draw_plan(seed, seconds, nodes, networked=NETWORKED, longest=PAUSES[-1],
              killed_every=CONTROLLER_KILLED_EVERY):
    """The faults in the order of time. The controller is killed so often, in a shorter run once at the half; 0: never."""
    chance = random.Random(seed)
    pauses = [pause for pause in PAUSES if pause <= longest]
    kinds = Bag(chance, [*(f"stop {who}" for who in STOPPED), *RELAYED, *networked, *KILLED])
    lengths = {}
    next_kill = min(killed_every, seconds / 2) if killed_every else math.inf
    plan, at = [], 1.0
    while True:
        at += chance.uniform(0.5, 2.5)
        if at >= next_kill:
            fault = Fault(at, "kill controller", 0, 0, chance.getrandbits(30))
            next_kill += killed_every
        else:
            kind = kinds.draw()
            momentary = kind.startswith("kill") or kind in ("forget link", "cut link")
            length = 0 if momentary else lengths.setdefault(kind, Bag(chance, pauses)).draw()
            node = chance.randint(1, nodes)
            if kind == "stop controller" or (kind in networked and chance.random() < 0.3):
                node = 0
            fault = Fault(at, kind, node, length, chance.getrandbits(30))
        if at + fault.seconds > seconds:
            return plan
        plan.append(fault)
        at += fault.seconds + NOMINAL_RECOVERY + settling(fault.kind)
