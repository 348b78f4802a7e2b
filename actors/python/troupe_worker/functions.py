"""Reward functions and generators of prompts, called by their names."""

import asyncio
import inspect
import itertools
import json
import math
import signal
import time

import numpy as np

from troupe_worker.channel import Refused, failure_of
from troupe_worker.environments import attribute_of

ITEM_BYTES_MAX = 16 << 20
BATCH_BYTES = 4 << 20  # a batch of items ends when it has so many bytes
BATCH_SECONDS = 0.5  # or when it has taken so long
REWARD_MAX = 1e30  # reward_size_max of Troupe: sums and squares of many such numbers are finite


def _parameters_of(function):
    """Returns the function's parameters by name, or None if Python doesn't know them."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None


class Late(BaseException):
    """Raised in a reward function that takes too long. It is no Exception, which functions catch."""


class TrainerState:
    """The progress of a run, by the names of transformers.TrainerState."""

    def __init__(self, global_step, max_steps, epoch):
        self.global_step = global_step
        self.max_steps = max_steps
        self.epoch = epoch

    def __getattr__(self, name):
        raise AttributeError(f"trainer_state has {', '.join(vars(self))}, but no {name!r}")


# What Troupe gives by these names, so that columns of the same names are left out, as TRL does.
_GIVEN = ("prompts", "completions", "completion_ids", "trainer_state")
_NO_COLUMNS = (*_GIVEN, "prompt", "completion")


class Rewards:
    """Reward functions as TRL's GRPOTrainer calls them: f(prompts, completions, **columns)."""

    def __init__(self, names, columns):
        """`columns`: those that the items have, or None if that is not known."""
        self.columns = None if columns is None else [c for c in columns if c not in _NO_COLUMNS]
        self.functions = []
        self.is_judging = False
        for name in names:
            function = attribute_of(name, name)
            if not callable(function):
                raise Refused(f"{name}: expected a function, got {function!r}")
            parameters = _parameters_of(function)
            if self.columns is not None:
                _require(name + ": ", parameters, self.columns)
            self.functions.append((function, parameters))

    def give_up(self, *_):
        """Ends the call of a function. A signal that comes after its end does nothing."""
        if self.is_judging:
            raise Late

    def score(self, which, prompts, completions, completion_ids, columns, state):
        """Returns a function's values, None where it does not apply, and the items' errors. Or it returns
        that the function was late, has thrown, or has answered what no reward function may."""
        columns = {name: values for name, values in columns.items() if name not in _NO_COLUMNS}
        for name in self.columns or ():
            columns.setdefault(name, [None] * len(completions))
        given = {
            **columns,
            "prompts": prompts,
            "completions": [_completion(*pair) for pair in zip(prompts, completions)],
            "completion_ids": completion_ids,
            "trainer_state": TrainerState(**state),
        }
        function, parameters = self.functions[which]
        try:
            arguments = _arguments(given, columns, parameters)
            result = self._call(function, arguments)
        except Refused as error:
            return {"refused": failure_of(error)}
        except Late:
            return {"late": True}
        except BaseException as error:  # also SystemExit and KeyboardInterrupt
            return {"threw": failure_of(error)}
        finally:
            self.is_judging = False
        try:
            values, errors = _numbers(result, len(completions))
        except Refused as error:
            return {"refused": failure_of(error)}
        return {"values": values, "errors": errors}

    def _call(self, function, arguments):
        self.is_judging = True
        result = function(**arguments)
        if inspect.isawaitable(result):
            result = asyncio.run(_awaited(result))
        self.is_judging = False
        return result


def _completion(prompt, text):
    """Returns a completion in the form of its prompt: a text, or a list of messages."""
    return text if isinstance(prompt, str) else [{"role": "assistant", "content": text}]


def _require(place, parameters, columns):
    """Raises Refused for a parameter that nothing is given for."""
    for name, parameter in (parameters or {}).items():
        kind = parameter.kind
        if kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL) or parameter.default is not parameter.empty:
            continue
        if kind == parameter.POSITIONAL_ONLY:
            raise Refused(f"{place}it takes the positional parameter {name!r}, but arguments are given by name")
        if name not in _GIVEN and name not in columns:
            there = ", ".join(columns) or "none"
            raise Refused(f"{place}it takes {name!r}, but there are {', '.join(_GIVEN)} and the columns: {there}")


def _arguments(given, columns, parameters):
    """Returns the arguments that the function takes. Raises Refused if one is missing."""
    _require("", parameters, sorted(columns))
    if parameters is None or any(p.kind == p.VAR_KEYWORD for p in parameters.values()):
        return dict(given)
    return {name: value for name, value in given.items() if name in parameters}


async def _awaited(result):
    return await result


def _numbers(result, count):
    """Returns the numbers of a result, None where there is none, and the error of each wrong value."""
    if isinstance(result, (str, bytes, dict)) or not hasattr(result, "__len__"):
        raise Refused(f"expected a list of {count} numbers, got {type(result).__name__}")
    if len(result) != count:
        raise Refused(f"expected {count} numbers, one for each completion, got {len(result)}")
    numbers, errors = [], []
    for item, value in enumerate(result):
        try:
            numbers.append(_number(value))
        except Refused as error:
            numbers.append(None)
            errors.append([item, str(error)])
    return numbers, errors


def _number(value):
    if value is None:
        return None
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        number = float(value)
    except Exception:
        wrong = f"{value!r:.100} of type {type(value).__name__}"
        raise Refused(f"expected a number or None, got {wrong}") from None
    if not math.isfinite(number):
        raise Refused(f"expected a finite number, got {number}")
    if abs(number) > REWARD_MAX:
        raise Refused(f"expected a number from {-REWARD_MAX:g} to {REWARD_MAX:g}, got {number:g}")
    return number


class Items:
    """The items of a generator: dictionaries, or texts and lists of messages that stand for {"prompt": item}."""

    def __init__(self, name, seed, skip):
        found = attribute_of(name, name)
        if callable(found):
            parameters = _parameters_of(found) or {}
            found = found(seed=seed) if "seed" in parameters else found()
        try:
            self.items = iter(found)
        except TypeError:
            raise Refused(
                f"expected a generator or a list of items, got {type(found).__name__}"
            ) from None
        self.given = sum(1 for _ in itertools.islice(self.items, skip))
        if self.given < skip:
            raise Refused(f"expected the {skip} items that it has given before, got {self.given}")
        self.error = None  # of the item after those that were given

    def next(self, count):
        """Returns up to `count` items as JSON, and whether there are no more."""
        batch, size, until = [], 0, time.monotonic() + BATCH_SECONDS
        while len(batch) < count and size < BATCH_BYTES and time.monotonic() < until:
            try:
                if self.error is not None:
                    raise self.error
                text = self._text_of(next(self.items))
            except StopIteration:
                return {"items": batch, "ended": True}
            except Exception as error:
                self.error = error  # a generator that has thrown would only seem to end
                if not batch:
                    raise
                break  # what came before it is not lost
            self.given += 1
            size += len(text)
            batch.append(text)
        return {"items": batch, "ended": False}

    def _text_of(self, item):
        if isinstance(item, (str, list)):
            item = {"prompt": item}
        if not isinstance(item, dict):
            kind = type(item).__name__
            raise Refused(
                f"item {self.given}: expected a dictionary, a text or a list of messages, got {kind}"
            )
        try:
            text = json.dumps(item, default=_plain, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise Refused(f"item {self.given}: expected values of JSON: {error}") from None
        if len(text) > ITEM_BYTES_MAX:
            raise Refused(
                f"item {self.given}: expected at most {ITEM_BYTES_MAX} bytes, got {len(text)}"
            )
        return text


def _plain(value):
    """Returns a NumPy value as a value of JSON."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"got a value of type {type(value).__name__}")


class Functions:
    """Carries out the commands of rewards and generators."""

    def do_load_rewards(self, names, columns, give_up_signal):
        self.rewards = Rewards(names, columns)
        signal.signal(give_up_signal, self.rewards.give_up)
        return {}

    def do_score(self, **command):
        return self.rewards.score(**command)

    def do_open_items(self, name, seed, skip):
        self.items = Items(name, seed, skip)
        return {}

    def do_next_items(self, count):
        return self.items.next(count)
