"""Reward functions and generators of prompts, called by their names."""

import asyncio
import inspect
import itertools
import json
import math
import time

import numpy as np

from troupe_worker.channel import Refused, failure_of
from troupe_worker.environments import attribute_of

ITEM_BYTES_MAX = 16 << 20
BATCH_BYTES = 4 << 20  # a batch of items ends when it has so many bytes
BATCH_SECONDS = 0.5  # or when it has taken so long


def _parameters_of(function):
    """Returns the function's parameters by name, or None if Python doesn't know them."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None


class Rewards:
    """Reward functions as TRL's GRPOTrainer calls them: f(prompts, completions, **columns)."""

    def __init__(self, names):
        self.functions = []
        for name in names:
            function = attribute_of(name, name)
            if not callable(function):
                raise Refused(f"{name}: expected a function, got {function!r}")
            self.functions.append((name, function, _parameters_of(function)))

    def score(self, prompts, completions, columns):
        """Returns each function's values, None where it does not apply, and the items' errors."""
        given = {**columns, "prompts": prompts, "completions": completions}
        values, errors = [], []
        for which, (name, function, parameters) in enumerate(self.functions):
            try:
                result = _call(function, _arguments(given, columns, parameters))
                values.append(_numbers(result, len(completions), which, errors))
            except Exception as error:
                return {"failed": which, "why": failure_of(error)}
            except SystemExit as error:
                return {"failed": which, "why": f"it called sys.exit({error.code!r})"}
        return {"values": values, "errors": errors}


def _arguments(given, columns, parameters):
    """Returns the arguments that the function takes. Raises Refused if a column is missing."""
    if parameters is None or any(p.kind == p.VAR_KEYWORD for p in parameters.values()):
        taken = dict(given)
    else:
        taken = {name: value for name, value in given.items() if name in parameters}
    for name, parameter in (parameters or {}).items():
        required = parameter.default is parameter.empty
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL) or not required:
            continue
        if name not in given:
            raise Refused(f"it takes the column {name!r}, but the items have {sorted(columns)}")
    return taken


def _call(function, arguments):
    result = function(**arguments)
    return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result


async def _awaited(result):
    return await result


def _numbers(result, count, which, errors):
    """Returns the numbers of a result. Appends an error for each value that is not finite."""
    if isinstance(result, (str, bytes, dict)) or not hasattr(result, "__len__"):
        raise Refused(f"expected a list of {count} numbers, got {type(result).__name__}")
    if len(result) != count:
        raise Refused(f"expected {count} numbers, one for each completion, got {len(result)}")
    numbers = []
    for item, value in enumerate(result):
        number = None
        if value is not None:
            try:
                if isinstance(value, (str, bytes)):
                    raise TypeError
                number = float(value)
            except (TypeError, ValueError):
                wrong = f"{value!r:.100} of type {type(value).__name__}"
                errors.append([item, which, f"expected a number or None, got {wrong}"])
            else:
                if not math.isfinite(number):
                    errors.append([item, which, f"expected a finite number, got {number}"])
                    number = None
        numbers.append(number)
    return numbers


class Items:
    """The items of a generator: dictionaries, or texts that stand for {"prompt": text}."""

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
        if isinstance(item, str):
            item = {"prompt": item}
        if not isinstance(item, dict):
            kind = type(item).__name__
            raise Refused(f"item {self.given}: expected a dictionary or a text, got {kind}")
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

    def do_load_rewards(self, names):
        self.rewards = Rewards(names)
        return {}

    def do_score(self, prompts, completions, columns):
        return self.rewards.score(prompts, completions, columns)

    def do_open_items(self, name, seed, skip):
        self.items = Items(name, seed, skip)
        return {}

    def do_next_items(self, count):
        return self.items.next(count)
