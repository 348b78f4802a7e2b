"""Worlds that keep the contract."""

import os

import numpy as np

from spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Text, Tuple


class Counter:
    """Counts its steps. The observation is (seed, steps), the reward is the action, and an episode
    has `length` steps. It reuses the memory of its observations."""

    def __init__(self, length=5, success=None, truncates=False):
        self.observation_space = Box(-np.inf, np.inf, (2,))
        self.action_space = Discrete(3, start=-1)
        self.length, self.success, self.truncates = length, success, truncates
        self.obs = np.zeros(2, np.float32)
        self.seed, self.bonus, self.options, self.resets = 0, 0, {}, 0

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.seed = seed % 1000
        self.options = options or {}
        self.steps, self.resets = 0, self.resets + 1
        self.obs[:] = self.seed, self.options.get("first", 0)
        return self.obs, {}

    def step(self, action):
        self.steps += 1
        self.obs[1] += 1
        ends = self.steps == self.length
        info = {"keys": self.resets * 10, "text": "no number", "success": self.success}
        return self.obs, float(action) + self.bonus, ends and not self.truncates, ends and self.truncates, info


class Everything:
    """Observations and actions of every kind. An action is right if it repeats what was seen."""

    def __init__(self):
        self.observation_space = Dict(
            image=Box(0, 255, (4, 5, 3), np.uint8),
            level=Discrete(4, start=2),
            bits=MultiBinary(3),
            pair=Tuple(MultiDiscrete([2, 3], start=[1, 0]), Box(-1, 1, (2, 2), np.float64)),
            word=Text(4, "abc"),
        )
        self.action_space = Tuple(
            Discrete(2), Dict(z=MultiBinary(2), a=Box(-2, 2, (2,))), MultiDiscrete([3, 4])
        )
        self.actions = []

    def observe(self):
        image = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
        pair = (np.array([2, 1]), np.array([[0.5, -0.5], [0.25, 1]]))
        return {"image": image, "level": 3, "bits": np.array([1, 0, 1], np.int8), "pair": pair, "word": "cab"}

    def reset(self, *, seed=None, options=None):
        return self.observe(), {}

    def step(self, action):
        first, (named, several) = action[0], action[1:]
        assert several.dtype == np.int64 and named["z"].dtype == np.int8, action
        numbers = [int(first), *named["a"].tolist(), *named["z"].tolist(), *several.tolist()]
        reward = sum(n * 10**i for i, n in enumerate(numbers))
        return self.observe(), reward, False, False, {}


class Board:
    """A board of bytes, whose first cell says which action has a reward."""

    def __init__(self):
        self.observation_space, self.action_space = Box(0, 1, (40, 40, 2), np.uint8), Discrete(2)
        self.first = 0

    def see(self):
        board = np.zeros((40, 40, 2), np.uint8)
        board[0, 0, 0] = self.first
        return board

    def reset(self, *, seed=None, options=None):
        self.first = 1 - self.first
        return self.see(), {}

    def step(self, action):
        return self.see(), float(action == self.first), True, False, {}


class Compass:
    """Numbers its words in the order in which a set has them."""

    def __init__(self):
        self.observation_space, self.action_space = Box(0, 1, (6,)), Discrete(2)

    def reset(self, *, seed=None, options=None):
        words = ["north", "south", "east", "west", "up", "down"]
        return np.float32([list(set(words)).index(word) / 6 for word in words]), {}

    def step(self, action):
        return self.reset()[0], 0.0, True, False, {}


class Scale:
    """A wrapper that multiplies rewards, and adds to them."""

    def __init__(self, env, factor, *, plus=0.0):
        if factor == 0:
            raise ValueError("a factor of 0 hides every reward")
        self.env, self.factor, self.plus = env, factor, plus
        self.observation_space, self.action_space = env.observation_space, env.action_space

    def reset(self, **more):
        return self.env.reset(**more)

    def step(self, action):
        obs, reward, *rest = self.env.step(action)
        return (obs, reward * self.factor + self.plus, *rest)


class Halve:
    """A wrapper that halves rewards."""

    def __init__(self, env):
        self.env = env
        self.observation_space, self.action_space = env.observation_space, env.action_space

    def reset(self, **more):
        return self.env.reset(**more)

    def step(self, action):
        obs, reward, *rest = self.env.step(action)
        return (obs, reward / 2, *rest)


class Steer:
    """Its action is a Box, which it gives back as the reward."""

    def __init__(self):
        self.observation_space, self.action_space = Box(-1, 1, (1,)), Box(-4, 8, (1,))

    def reset(self, *, seed=None, options=None):
        return np.zeros(1, np.float32), {}

    def step(self, action):
        return np.zeros(1, np.float32), np.array([action[0]]), False, False, {}


class Pictured(Counter):
    """Its picture has a row of white pixels for each step of the episode."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(self, render_mode=None):
        super().__init__(length=5)
        self.render_mode = render_mode

    def render(self):
        if self.render_mode != "rgb_array":
            return None
        picture = np.zeros((32, 48, 3), np.uint8)
        picture[: self.steps] = 255
        return picture


MADE = [0]  # the worlds that this process has made


class Leaks:
    """The world k of a process has episodes of k + 2 steps, or of any length if it does not `end`. Its
    observation is the process, the steps, and the episodes that this process has begun with it. Each
    episode keeps `mb` MiB for ever. With `once`, the name of a file, a second process can't make it."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}
    kept = []

    def __init__(self, mb=0, ends=True, once=None, render_mode=None):
        if once is not None and MADE[0] == 0:
            open(once, "x").close()
        self.observation_space, self.action_space = Box(-np.inf, np.inf, (3,)), Discrete(2)
        self.mb, self.length, self.begun = mb, MADE[0] + 2 if ends else None, 0
        self.seed, self.render_mode = None, render_mode
        MADE[0] += 1

    def see(self):
        return np.array([os.getpid(), self.steps, self.begun], np.float32)

    def reset(self, *, seed=None, options=None):
        self.seed = seed if seed is not None else self.seed
        self.steps, self.begun = 0, self.begun + 1
        if self.mb:
            self.kept.append(np.ones(self.mb << 20, np.uint8))
        return self.see(), {}

    def step(self, action):
        self.steps += 1
        return self.see(), 1.0, self.steps == self.length, False, {"seed": self.seed, "is_success": True}

    def render(self):
        return np.full((32, 32, 3), self.steps, np.uint8)


class Levels:
    """Its observation is the level, and its last info has it."""

    levels = 3

    def __init__(self):
        self.observation_space, self.action_space = Box(0, 2, (1,)), Discrete(2)
        self.level = 0

    def set_level(self, level):
        assert 0 <= level < self.levels, level
        self.level = level

    def reset(self, *, seed=None, options=None):
        self.now, self.steps = self.level, 0
        return np.full(1, self.now, np.float32), {}

    def step(self, action):
        self.steps += 1
        return np.full(1, self.now, np.float32), 1.0, self.steps == 2, False, {"level": self.now}


class OfItsOwnLevels(Levels):
    """Its `levels` are names, which mean something else."""

    levels = ["easy", "hard"]

    def set_level(self, level):
        raise AssertionError(level)


class FirstOption(Counter):
    """Its rewards are the option `first` of the reset."""

    def step(self, action):
        obs, _, *rest = super().step(action)
        return (obs, float(self.options.get("first", 0)), *rest)
