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


calls = []  # for each call of `counted`, the completions that it has begun to judge


def counted(completions, **columns):
    """Throws or hangs for some completions, as their words say. The calls are counted."""
    calls.append([])
    values = []
    for one in completions:
        calls[-1].append(one)
        values.append(_of_word(one))
    return values


def calls_so_far(completions, **columns):
    """The number of calls of `counted`."""
    return [len(calls)] * len(completions)


def judged_so_far(completions, **columns):
    """The number of completions that all calls of `counted` have begun to judge."""
    return [sum(len(call) for call in calls)] * len(completions)


def told_in_a_file(completions, **columns):
    """Ends the process or hangs for some completions. Each call adds a byte to a file."""
    with open(os.environ["TROUPE_TEST_CALLS"], "ab") as file:
        file.write(b".")
    if any(c.startswith("die") for c in completions):
        os._exit(7)
    return [_of_word(c) for c in completions]


def takes_a_while(completions, **columns):
    """Takes 20 ms for each completion, and has its fault."""
    values = []
    for one in completions:
        time.sleep(0.02)
        if one.startswith("die"):
            os._exit(7)
        values.append(_of_word(one))
    return values


def always_dies(completions, **columns):
    return told_in_a_file(["die"])


def always_hangs(completions, **columns):
    return told_in_a_file(["hang"])


def enormous(completions, **columns):
    return [1e308] * len(completions)


def stubborn(completions, **columns):
    """Hangs for "hang", and goes on whatever is raised."""
    while "hang" in completions:
        try:
            time.sleep(1000)
        except BaseException:
            pass
    return [1.0] * len(completions)


def of_messages(prompts, completions, **columns):
    """The length of the last message of the prompt, and 100 times that of the completion."""
    values = []
    for prompt, completion in zip(prompts, completions):
        if isinstance(prompt, list):
            assert [set(one) for one in completion] == [{"role", "content"}]
            assert completion[0]["role"] == "assistant"
            prompt, completion = prompt[-1]["content"], completion[0]["content"]
        values.append(len(prompt) + 100 * len(completion))
    return values


def of_ids(completion_ids, **columns):
    return [sum(ids) for ids in completion_ids]


def of_state(completions, trainer_state=None, **columns):
    progress = (trainer_state.global_step, trainer_state.max_steps, trainer_state.epoch)
    return [step + 100 * most + 10000 * (epoch or 0) for step, most, epoch in [progress] * len(completions)]


def of_no_state(completions, trainer_state):
    return [len(trainer_state.log_history)] * len(completions)


def column_names(completions, **columns):
    """The number of columns, which are not the prompt and what else has a parameter of its own."""
    assert "prompt" not in columns and "completion" not in columns
    return [len(set(columns) - {"prompts", "completion_ids", "trainer_state"})] * len(completions)


def by_position(prompts, completions, other, /):
    return [1.0] * len(completions)


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
    if word.startswith("hang"):
        time.sleep(1000)
    if word.startswith("throw"):
        raise ValueError(f"no judgement of {word}")
    return 1.0


number = 3
