"""Worlds that keep the contract."""

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
