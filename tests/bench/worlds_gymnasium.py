"""Steps CartPole-v1 of Gymnasium in its AsyncVectorEnv, and prints what it cost as JSON.

Usage: worlds_gymnasium.py ENVIRONMENTS STEPS. Each environment has a process of its own. The actions
and the checksum of the observations are those of worlds_guests.cpp.
"""

import json
import sys
import time
import warnings

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode

WARM_UP = 50  # steps that are not timed


def main():
    environments, steps = int(sys.argv[1]), int(sys.argv[2])
    warnings.simplefilter("ignore")
    envs = AsyncVectorEnv(
        [lambda: gymnasium.make("CartPole-v1")] * environments,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    index = np.arange(environments, dtype=np.int64)
    checksum, episodes = 0, 0
    obs, _ = envs.reset(seed=1)
    for step in range(WARM_UP + steps):
        if step == WARM_UP:
            began = time.perf_counter()
        actions = (step * 7 + index * 13 + step * index // 3) % 2
        obs, _, terminated, truncated, _ = envs.step(actions)
        words = obs.astype(np.float32, copy=False).view(np.uint32)
        checksum = (checksum + (step + 1) * int(words.sum(dtype=np.uint64))) % 2**64
        episodes += int(np.count_nonzero(terminated | truncated))
    wall = time.perf_counter() - began
    envs.close()
    print(json.dumps({"wall": wall, "checksum": checksum, "episodes": episodes}))


main()
