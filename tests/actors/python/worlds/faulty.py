"""Worlds that break the contract, each in one way, at step `at` of an episode."""

import os
import struct
import sys
import threading
import time

import numpy as np

from good import Counter, Leaks
from spaces import Box, Graph


class Fails(Counter):
    """Counts its steps, and does something wrong at step `at` of every episode."""

    def __init__(self, at=3, only=None):
        super().__init__(length=10)
        self.at, self.only = at, only

    def step(self, action):
        result = super().step(action)
        if self.steps == self.at and self.only in (None, self.seed):
            return self.fail(*result) or result
        return result


class Throws(Fails):
    def fail(self, *result):
        raise KeyError("the door")


class Exits(Fails):
    def fail(self, *result):
        sys.exit(3)


class Dies(Fails):
    def fail(self, *result):
        print("about to die", flush=True)
        os._exit(7)


class Forges(Fails):
    """Writes into the worker's socket that a step of an environment that does not exist has ended."""

    def fail(self, *result):
        text = b'[{"row": 99}]'
        os.write(3, struct.pack("<cI", b"R", len(text)) + text)


class Hangs(Fails):
    def fail(self, *result):
        time.sleep(1000)


class HangsWhenMade(Counter):
    def __init__(self):
        time.sleep(1000)


class HangsInReset(Counter):
    def reset(self, **more):
        time.sleep(1000)


class SlowToReset(Counter):
    """Its resets from the second on take so many seconds. The first step with the seed `hangs` takes for ever."""

    def __init__(self, length=2, seconds=1000, hangs=None):
        super().__init__(length)
        self.seconds, self.hangs = seconds, hangs

    def reset(self, **more):
        if self.resets > 0:
            time.sleep(self.seconds)
        return super().reset(**more)

    def step(self, action):
        if self.seed == self.hangs:
            time.sleep(1000)
        return super().step(action)


class DiesInReset(Counter):
    def reset(self, **more):
        if self.resets > 0:
            os._exit(7)
        return super().reset(**more)


class ThrowsInReset(Counter):
    def reset(self, **more):
        raise RuntimeError("no level")


class NaN(Fails):
    def fail(self, obs, reward, terminated, truncated, info):
        return obs, float("nan"), terminated, truncated, info


class NaNObservation(Fails):
    def fail(self, obs, *rest):
        return (np.full(2, np.nan, np.float32), *rest)


class OtherShape(Fails):
    def fail(self, obs, *rest):
        return (np.zeros(3, np.float32), *rest)


class OtherType(Fails):
    def fail(self, obs, *rest):
        return (np.array(["a", "b"]), *rest)


class OldForm(Fails):
    def fail(self, obs, reward, terminated, truncated, info):
        return obs, reward, terminated, info


class NoResult(Counter):
    def __init__(self, at=3, only=None):
        super().__init__(length=10)
        self.at, self.only = at, only

    def step(self, action):
        result = super().step(action)
        return None if self.steps == self.at and self.only in (None, self.seed) else result


class UnpacksWrongly(Fails):
    """Its own code throws the error that Python raises for a step of the old form."""

    def fail(self, *result):
        left, right = (1, 2, 3)


class ChangesSpaces(Counter):
    def reset(self, **more):
        result = super().reset(**more)
        if self.resets > 1:
            self.observation_space = Box(-1, 1, (5,))
        return result


class Prints(Fails):
    def fail(self, *result):
        print("a line", "x" * 10000, flush=True)
        sys.stderr.write("no end of line")
        os.write(1, b"\xff\x00 bytes\n")


class Forks(Fails):
    """The forked process goes on in the worker's loop and prints; it must not answer."""

    def fail(self, *result):
        if os.fork() == 0:
            return None
        os.wait()


class ForksAndDies(Fails):
    """Leaves a process that holds the pipes."""

    def fail(self, *result):
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(9)


class Threads(Fails):
    def fail(self, *result):
        threading.Thread(target=time.sleep, args=(1000,), daemon=False).start()


class Leaks(Counter):
    def __init__(self):
        super().__init__(length=10**9)
        self.leak = []

    def step(self, action):
        self.leak.append(np.ones(1 << 20))
        return super().step(action)


class UnknownSpace(Counter):
    def __init__(self):
        super().__init__()
        self.observation_space = Graph()


def nothing():
    return 3


number = 3


class ExitsAtClose(Leaks):
    def close(self):
        raise SystemExit(4)


class KillsAtClose(Leaks):
    """Ends its process when it is closed, as one that hangs then has its process ended."""

    def close(self):
        os._exit(4)
