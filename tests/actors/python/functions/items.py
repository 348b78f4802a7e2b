"""Items of datasets, some of them with faults."""

import os
import random
import time
from pathlib import Path

import numpy as np


def counted(seed):
    """Five items, which tell the seed."""
    for i in range(5):
        yield {"prompt": f"{i}+{i}=", "answer": 2 * i, "seed": seed, "level": np.int64(i)}


def endless():
    i = 0
    while True:
        yield f"{i}="
        i += 1


def drawn(seed):
    draw = random.Random(seed)
    while True:
        a = draw.randrange(10_000)
        yield {"prompt": f"{a}=", "answer": str(a % 7)}


items = [{"prompt": "1=", "target": "a"}, "2="]
once = iter(items)


def none():
    return []


def conversations():
    """Prompts that are messages. All end alike."""
    asks = {"role": "user", "content": "4+4="}
    tool = {"type": "function", "function": {"name": "add", "description": "Adds."}}
    yield {"prompt": [{"role": "system", "content": "s"}, asks], "answer": 8, "tools": [tool]}
    yield [{"role": "user", "content": "1+1="}, {"role": "assistant", "content": "2"}, asks]
    yield [asks]


def ends_with_the_assistant():
    yield {"prompt": [{"role": "assistant", "content": "a"}]}


def throws():
    yield "1="
    raise LookupError("the file has ended")


def no_items():
    yield {"prompt": "1="}
    yield 3


def no_json():
    yield {"prompt": "1=", "answer": {1, 2}}


def too_large():
    yield {"prompt": "1=", "answer": 10**400}


def same_keys():
    yield {"prompt": "1=", "1": 0, 1: 1}


def no_prompt():
    yield {"question": "1="}


def dies_once():
    """Ends its process at the fourth item, but only once."""
    mark = Path(os.environ["TROUPE_TEST_MARK"])
    for i in range(8):
        if i == 3 and not mark.exists():
            mark.touch()
            os._exit(5)
        yield f"{i}="
        time.sleep(0.2)  # more than one batch


def dies():
    yield "1="
    os._exit(5)


def hangs():
    time.sleep(1000)
    yield "1="
