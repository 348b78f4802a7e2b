"""Text worlds, some of them with faults."""

import os
import time


class SaysA:
    """Wants an "a", in as many turns as the option says."""

    def __init__(self, turns=1):
        self.turns = turns

    def reset(self, seed, item=None):
        self.left = self.turns
        return f"say {item['letter'] if item else 'a'}, {seed % 10}"

    def step(self, reply):
        self.left -= 1
        if not reply:
            return "", 0, False, False, {"refused": "expected a letter"}
        return "again", float(reply[0] == "a"), self.left == 0, False, {"success": reply[0] == "a"}


class Practised(SaysA):
    """Shows how a reply is written."""

    def practise(self, seed):
        return [("say a", "a"), ("again", "ab"[seed % 2])]


class BadlyPractised(SaysA):
    def practise(self, seed):
        return ["a"]


class Faulty(SaysA):
    """Does something wrong at the reply of that name."""

    def step(self, reply):
        if reply == "throw":
            raise KeyError("the door")
        if reply == "exit":
            os._exit(3)
        if reply == "hang":
            time.sleep(1000)
        if reply == "nan":
            return "x", float("nan"), True, False, {}
        if reply == "form":
            return "x", 1.0, True
        return super().step(reply)


class Talks:
    """Begins with messages."""

    def reset(self, seed):
        return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi."}], {}
