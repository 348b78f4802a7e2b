"""A world whose observation is a dictionary with an image and a vector, which are both needed."""

import gymnasium
import numpy as np

CHOICES = 4  # the number of columns, offsets and actions


class TwoKeys(gymnasium.Env):
    """The image shows a bright column, the vector an offset. The right action is their sum modulo
    CHOICES. Each of the 8 steps of an episode shows others, and gives 1 for the right action. An
    agent that sees one key alone can get 2 of 8."""

    def __init__(self, keys=("image", "offset")):
        every = {
            "image": gymnasium.spaces.Box(0, 255, (12, 12, 1), np.uint8),
            "offset": gymnasium.spaces.Box(0, 1, (CHOICES,), np.float32),
        }
        self.keys = list(keys)
        self.observation_space = gymnasium.spaces.Dict({key: every[key] for key in self.keys})
        self.action_space = gymnasium.spaces.Discrete(CHOICES)

    def show(self):
        self.column, self.offset = self.np_random.integers(CHOICES, size=2)
        image = np.zeros((12, 12, 1), np.uint8)
        image[:, 3 * self.column : 3 * self.column + 3] = 255
        every = {"image": image, "offset": np.eye(CHOICES, dtype=np.float32)[self.offset]}
        return {key: every[key] for key in self.keys}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self.show(), {}

    def step(self, action):
        right = action == (self.column + self.offset) % CHOICES
        self.steps += 1
        return self.show(), float(right), self.steps == 8, False, {}
