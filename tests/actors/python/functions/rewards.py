"""Reward functions, some of them with faults."""

import asyncio
import os
import time

import numpy as np

sizes = []  # of the batches of `sized`


def right(completions, answer, **columns):
    return [float(c == a) for c, a in zip(completions, answer)]


def length(prompts, completions):
    return np.array([len(c) for c in completions], np.float32)


def echo(prompts, completions, number, **columns):
    """Requires that a row's values belong together."""
    assert len(prompts) == len(completions) == len(number)
    for prompt, completion, one in zip(prompts, completions, number):
        assert prompt == f"p{one}" and completion == f"c{one}"
    return list(number)


def sized(completions, **columns):
    """The size of its batch. The first batch takes a moment, so that calls gather."""
    if not sizes:
        time.sleep(0.2)
    sizes.append(len(completions))
    return [len(completions)] * len(completions)


def even(completions, **columns):
    return [1.0 if len(c) % 2 == 0 else None for c in completions]


async def slow_minds(prompts, completions, **columns):
    await asyncio.sleep(0)
    return [0.5 for _ in completions]


def missing(completions, level=None, **columns):
    return [-1.0 if one is None else one for one in level]


def characters(completions, **columns):
    return [float(ord(c[0])) for c in completions]


def fingerprint(prompts, completions, answer, **columns):
    """A number that each text and each character decides."""
    values = []
    for texts in zip(prompts, completions, answer):
        value = 0
        for character in "|".join(texts):
            value = (value * 31 + ord(character)) % 1000003
        values.append(value)
    return values


def dies_for_a_prompt(prompts, completions):
    if os.environ["TROUPE_TEST_PROMPT"] in prompts:
        os._exit(7)
    return [len(c) for c in completions]


def throws(completions, **columns):
    raise KeyError("no such answer")


def leaves(completions, **columns):
    raise SystemExit(3)


def prints(completions, **columns):
    print("judging", len(completions))
    return [1.0] * len(completions)


def too_few(completions, **columns):
    return [1.0]


def no_list(completions, **columns):
    return 1.0


def needs_level(completions, level):
    return [1.0] * len(completions)


def by_word(completions, **columns):
    """What the completion asks for: most are faults."""
    return [_of_word(c) for c in completions]


def _of_word(word):
    if word == "nan":
        return float("nan")
    if word == "text":
        return "1.0"
    if word == "list":
        return [1.0]
    if word == "die":
        print("about to die", flush=True)
        os._exit(7)
    if word == "hang":
        time.sleep(1000)
    return 1.0


number = 3
