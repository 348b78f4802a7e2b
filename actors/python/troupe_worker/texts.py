"""Text worlds: environments that a language model plays in words."""

import math

from troupe_worker.channel import Refused, kind_of_result
from troupe_worker.environments import attribute_of


class _SkyRL:
    """An environment of skyrl-gym, which is made anew for each line of a dataset."""

    def __init__(self, name, options):
        import skyrl_gym

        self.make = lambda extras: skyrl_gym.make(name, env_config=options, extras=extras)
        self.env = None

    def reset(self, seed, item):
        if "prompt" not in item:
            raise Refused("expected a dataset (task.data) whose lines have the field \"prompt\", got none")
        prompt = item["prompt"]
        if isinstance(prompt, str):
            prompt = [{"role": "user", "content": prompt}]
        if self.env is not None:
            self.env.close()
        self.env = self.make(item)
        messages, _ = self.env.init(prompt)
        return messages

    def step(self, reply):
        result = self.env.step(reply)
        return result["observations"], result["reward"], result["done"], False, result.get("metadata") or {}


class Texts:
    """Carries out the commands to a text world."""

    def do_make_text(self, name, options):
        if name.startswith("skyrl:"):
            self.world = _SkyRL(name[len("skyrl:") :], options)
        else:
            self.world = attribute_of(name)(**options)
        return {}

    def do_practises_text(self):
        return {"practises": callable(getattr(self.world, "practise", None))}

    def do_practise_text(self, seed):
        turns = self.world.practise(seed=seed)
        is_list = isinstance(turns, (list, tuple)) and len(turns) > 0
        if not is_list or not all(_is_turn(turn) for turn in turns):
            raise Refused(f"practise: expected a list of pairs of texts, (shown, said), got {turns!r:.200}")
        return {"turns": [list(turn) for turn in turns]}

    def do_reset_text(self, seed, item):
        if isinstance(self.world, _SkyRL):
            first = self.world.reset(seed, item)
        else:
            first = self.world.reset(seed=seed, item=item) if item else self.world.reset(seed=seed)
        if isinstance(first, tuple):  # (text, info), as Gymnasium has it
            first = first[0]
        return _shown(first)

    def do_step_text(self, reply):
        result = self.world.step(reply)
        if not isinstance(result, tuple) or len(result) != 5:
            expected = "(text, reward, terminated, truncated, info), as Gymnasium has it"
            raise Refused(f"step: expected {expected}, got {kind_of_result(result)}")
        shown, reward, terminated, truncated, info = result
        refused = info.get("refused") if isinstance(info, dict) else None
        return {
            **_shown(shown),
            "reward": _number(reward),
            "ended": bool(terminated) or bool(truncated),
            "refused": str(refused) if refused else "",
            "info": _numbers(info),
        }


def _is_turn(value):
    return isinstance(value, (list, tuple)) and len(value) == 2 and all(isinstance(text, str) for text in value)


def _shown(value):
    """Returns the texts of an observation: a text, or messages with "role" and "content"."""
    if isinstance(value, str):
        return {"system": "", "shown": value}
    if isinstance(value, list):
        system = "\n".join(message["content"] for message in value if message["role"] == "system")
        others = [message["content"] for message in value if message["role"] != "system"]
        return {"system": system, "shown": "\n".join(others)}
    raise Refused(f"expected a text or a list of messages, got {type(value).__name__}")


def _number(value):
    """Returns the number, or None if it is not finite, which JSON can't say."""
    try:
        number = float(value)
    except Exception:
        raise Refused(f"expected a number as the reward, got {type(value).__name__}") from None
    return number if math.isfinite(number) else None


def _numbers(info):
    numbers = {}
    for name, value in info.items() if isinstance(info, dict) else ():
        try:
            number = float(value)
        except Exception:  # it is no number
            continue
        if math.isfinite(number):
            numbers[str(name)] = number
    return numbers
