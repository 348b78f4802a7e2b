"""Worlds with one flaw each, which `troupe check-env` finds, and one without."""

import copy
import os
import random
import time

import numpy as np

from spaces import Box, Dict, Discrete, Graph, MultiBinary, MultiDiscrete, OneOf, Sequence, Text, Tuple


class Sound:
    """Moves in two dimensions by its action and at random, and ends after 10 steps."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}
    observation = Box(-1, 1, (2,))
    action = Discrete(3)

    def __init__(self, render_mode=None):
        self.observation_space, self.action_space = self.observation, self.action
        self.render_mode = render_mode
        self._np_random = None

    def reset(self, *, seed=None, options=None):
        if seed is not None or self._np_random is None:
            self._np_random = np.random.default_rng(seed)
        self.steps, self.place = 0, self.draw()
        return self.observe(), {}

    def draw(self):
        return self._np_random.uniform(-1, 1, 2).astype(np.float32)

    def observe(self):
        return self.place.copy()

    def step(self, action):
        self.steps += 1
        self.place = self.draw()
        return self.observe(), float(self.place[0]), self.steps == 10, False, {"steps": self.steps}

    def render(self):
        return np.zeros((8, 8, 3), np.uint8)

    def close(self):
        pass


# ---- what step and reset return


class Raises(Sound):
    def step(self, action):
        raise KeyError("the door")


class RaisesInInit(Sound):
    def __init__(self, render_mode=None):
        raise ValueError("no map")


class Exits(Sound):
    def step(self, action):
        raise SystemExit(3)


class Dies(Sound):
    def step(self, action):
        os._exit(7)


class Hangs(Sound):
    def step(self, action):
        time.sleep(1000)


class OldStep(Sound):
    def step(self, action):
        obs, reward, terminated, _, info = super().step(action)
        return obs, reward, terminated, info


class OldReset(Sound):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0]


class Changed(Sound):
    """Changes one of the five values of step, after the first of each episode."""

    index, value = 0, None

    def step(self, action):
        result = list(super().step(action))
        if self.steps > 1:
            result[self.index] = copy.deepcopy(self.value)
        return tuple(result)


def changed(index, value):
    return type("Changed", (Changed,), {"index": index, "value": value})


OtherDtype = changed(0, np.zeros(2))
OtherShape = changed(0, np.zeros(3, np.float32))
NoArray = changed(0, [0.0, 0.0])
NaNObservation = changed(0, np.array([0, np.nan], np.float32))
OutOfBounds = changed(0, np.array([0, 1.5], np.float32))
NaNReward = changed(1, float("nan"))
TextReward = changed(1, "1")
ArrayReward = changed(1, np.array([1.0]))
Float32Reward = changed(1, np.float32(1))
NoneTruncated = changed(3, None)
NoInfo = changed(4, None)


class IntTerminated(Sound):
    def step(self, action):
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward, int(terminated), truncated, info


class NumpyTerminated(Sound):
    def step(self, action):
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward, np.bool_(terminated), truncated, info


class TruncatesAtOnce(Sound):
    def step(self, action):
        obs, reward, _, _, info = super().step(action)
        return obs, reward, False, True, info


class NoResetInfo(Sound):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0], None


# ---- values of other kinds of space


class Kinds(Sound):
    observation = Dict(
        image=Box(0, 255, (40, 40, 3), np.uint8),
        level=Discrete(4),
        bits=MultiBinary(3),
        pair=MultiDiscrete([2, 3]),
    )
    replaced = {}

    def observe(self):
        image = np.zeros((40, 40, 3), np.uint8)
        value = {"image": image, "level": 3, "bits": np.zeros(3, np.int8), "pair": np.array([1, 2])}
        return {**value, **copy.deepcopy(self.replaced)}


def kinds(**replaced):
    return type("Kinds", (Kinds,), {"replaced": replaced})




class UnknownPart(Kinds):
    observation = Dict(mission=Graph(), **Kinds.observation.spaces)

    def observe(self):
        return {**super().observe(), "mission": "go"}


FloatImage = kinds(image=np.zeros((40, 40, 3), np.float32))
WrongLevel = kinds(level=4)
FloatLevel = kinds(level=3.0)
WrongBits = kinds(bits=np.array([0, 1, 2], np.int8))
WrongPair = kinds(pair=np.array([1, 3]))
Int32Pair = kinds(pair=np.array([1, 2], np.int32))
ExtraKey = kinds(more=1)


class MissingKey(Kinds):
    def observe(self):
        value = super().observe()
        del value["bits"]
        return value


class WordAndPair(Sound):
    observation = Tuple(Text(4, "abc"), Discrete(2))
    value = ("cab", 1)

    def observe(self):
        return self.value


WrongWord = type("WrongWord", (WordAndPair,), {"value": ("cabd", 1)})
ShortTuple = type("ShortTuple", (WordAndPair,), {"value": ("cab",)})
ListForTuple = type("ListForTuple", (WordAndPair,), {"value": ["cab", 1]})


class Picky(Box):
    def contains(self, value):
        return False


Contradicts = type("Contradicts", (Sound,), {"observation": Picky(-1, 1, (2,))})


# ---- spaces


def spaces_of(observation=Sound.observation, action=Sound.action):
    return type("Spaces", (Sound,), {"observation": observation, "action": action})


def turned_over():
    box = Box(-1, 1, (2,))
    box.low[1] = 3
    return box


def of_another_shape():
    box = Box(-1, 1, (2,))
    box.low = np.zeros(3, np.float32)
    return box


UnknownSpace = spaces_of(Tuple(Box(-1, 1, (2,)), Graph()))
UnknownParts = spaces_of(Dict(b=Graph()))
NoSpace = spaces_of(action=None)
TurnedOver = spaces_of(turned_over())
BoundsOfAnotherShape = spaces_of(of_another_shape())
EmptyDict = spaces_of(Dict())
EmptyDiscrete = spaces_of(action=Discrete(0))
TextAction = spaces_of(action=Text(3, "abc"))
UnboundedAction = spaces_of(action=Box(-np.inf, 1, (1,)))
WideAction = spaces_of(action=Box(-2, 2, (1,)))
DoubleAction = spaces_of(action=Box(-1, 1, (1,), np.float64))
ShiftedAction = spaces_of(action=Discrete(3, start=1))
GridAction = spaces_of(action=MultiDiscrete([[2, 2], [2, 2]]))


class SmallImage(Sound):
    observation = Box(0, 255, (8, 8, 3), np.uint8)

    def observe(self):
        return np.zeros((8, 8, 3), np.uint8)


class ByteBoard(Sound):
    observation = Box(0, 1, (8, 8, 12), np.uint8)

    def observe(self):
        return np.zeros((8, 8, 12), np.uint8)


class FlatBoard(Sound):
    observation = Box(0, 9, (9, 9), np.uint8)

    def observe(self):
        return np.zeros((9, 9), np.uint8)


class FlatImage(Sound):
    """An image of one channel, whose dimensions are height and width."""

    observation = Box(0, 255, (20, 30), np.uint8)

    def observe(self):
        return np.zeros((20, 30), np.uint8)


class FloatImageSpace(Sound):
    observation = Box(0, 1, (40, 40, 3))

    def observe(self):
        return np.zeros((40, 40, 3), np.float32)


class Times(Sound):
    """Times in seconds, of which 32-bit floats make one number."""

    observation = Box(0, 2**40, (2,), np.int64)

    def observe(self):
        return np.array([1_700_000_123, 1_700_000_143])


class WideFloats(Sound):
    """A number that a 32-bit float rounds."""

    observation = Dict(position=Box(-np.inf, np.inf, (1,), np.float64))

    def observe(self):
        return {"position": np.array([2.0**24 + 1])}


class HugeNumber(Sound):
    observation = Box(-np.inf, np.inf, (2,), np.float64)

    def observe(self):
        return np.array([0.0, 1e40 if self.steps == 3 else 1.0])


class HugeReward(Sound):
    def step(self, action):
        obs, _, *rest = super().step(action)
        return (obs, 1e40, *rest)


class VectorReward(Sound):
    def __init__(self):
        super().__init__()
        self.reward_space = Box(-1, 1, (2,))

    def step(self, action):
        obs, reward, *rest = super().step(action)
        return (obs, np.float32([reward, 0]), *rest)


class FirstReward:
    """Makes one number of the reward of VectorReward."""

    def __init__(self, env):
        self.env, self.observation_space, self.action_space = env, env.observation_space, env.action_space

    def reset(self, **more):
        return self.env.reset(**more)

    def step(self, action):
        obs, reward, *rest = self.env.step(action)
        return (obs, float(reward[0]), *rest)


class HugeAction(Sound):
    action = Box(-1, 1e40, (2,), np.float64)


class WordsForLetters(Sound):
    observation = Text(8, ["go", "left"])


class MaskInInfo(Sound):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0], {"action_mask": np.array([1, 0, 1])}


class MaskInDict(Sound):
    observation = Dict(place=Box(-1, 1, (2,)), action_mask=MultiBinary(3))

    def observe(self):
        return {"place": self.place.copy(), "action_mask": np.array([1, 0, 1], np.int8)}


class MaskMethod(Sound):
    """Has the method of sb3-contrib."""

    def action_masks(self):
        return [True, False, True]


class ObservesSequence(Sound):
    observation = Sequence()


class ActsOneOf(Sound):
    action = Dict(first=Discrete(2), second=OneOf())


class ChangesSpaces(Sound):
    resets = 0

    def reset(self, *, seed=None, options=None):
        self.resets += 1
        if self.resets > 3:
            self.observation_space = Box(-2, 2, (2,))
        return super().reset(seed=seed)


# ---- seeds and determinism


class NoSeed(Sound):
    def reset(self, *, options=None):
        return super().reset()


class NoOptions(Sound):
    def reset(self, *, seed=None):
        return super().reset(seed=seed)


class SeedByDefault(Sound):
    def reset(self, *, seed=7, options=None):
        return super().reset(seed=seed)


class SameSeed(Sound):
    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        del self._np_random

    def reset(self, *, seed=None, options=None):
        self.random = np.random.default_rng(3)
        self.steps, self.place = 0, self.draw()
        return self.observe(), {}

    def draw(self):
        return self.random.uniform(-1, 1, 2).astype(np.float32)


class OfNoSeed(SameSeed):
    """Draws from Python's global generator."""

    def draw(self):
        return np.array([random.random(), 0], np.float32)


class UnseededGenerator(Sound):
    """Its np_random is not seeded, and nothing depends on it."""

    def reset(self, *, seed=None, options=None):
        self.steps, self.place = 0, np.full(2, (seed or 0) % 7 / 7, np.float32)
        self._np_random = np.random.default_rng()
        return self.observe(), {}

    def draw(self):
        return self.place


class SharedState(Sound):
    """What one instance does depends on how many there are."""

    alive = set()

    def reset(self, *, seed=None, options=None):
        SharedState.alive.add(id(self))
        return super().reset(seed=seed)

    def draw(self):
        return super().draw() / np.float32(len(SharedState.alive))


class OtherInfo(Sound):
    total = 0

    def step(self, action):
        obs, reward, terminated, truncated, info = super().step(action)
        self.total += 1
        return obs, reward, terminated, truncated, {"total": self.total}


class OtherResetInfo(Sound):
    total = 0

    def reset(self, **named):
        obs, info = super().reset(**named)
        self.total += 1
        return obs, {"total": self.total}


class OtherInfos(OtherInfo, OtherResetInfo):
    """The infos of both are others each time, which are counted apart."""

    def reset(self, **named):
        resets = self.resets = getattr(self, "resets", 0) + 1
        return OtherResetInfo.reset(self, **named)[0], {"total": resets}


class Rounds(Sound):
    """Its observations differ by a rounding error where it was reset before."""

    resets = 0

    def reset(self, *, seed=None, options=None):
        self.resets += 1
        return super().reset(seed=seed)

    def observe(self):
        return np.clip(self.place * np.float32(1 + 1e-7 * self.resets), -1, 1)


# ---- what may be meant otherwise


class ReusesMemory(Sound):
    def observe(self):
        self.buffer = getattr(self, "buffer", np.zeros(2, np.float32))
        self.buffer[:] = self.place
        return self.buffer


class NeverEnds(Sound):
    def step(self, action):
        obs, reward, _, _, info = super().step(action)
        return obs, reward, False, False, info


class ChangesActions(Sound):
    action = Box(-1, 1, (1,))

    def step(self, action):
        action *= 2
        return super().step(action)


class FailsAtHighest(Sound):
    action = Discrete(1000)

    def step(self, action):
        if action == 999:
            raise IndexError("list index out of range")
        return super().step(action)


class NoPicture(Sound):
    def render(self):
        return None


class FloatPicture(Sound):
    def render(self):
        return np.zeros((8, 8, 3))


class OddMode(Sound):
    def __init__(self, render_mode="video"):
        super().__init__(render_mode)


class NoRenderModes(Sound):
    metadata = {}


class FailsToClose(Sound):
    def close(self):
        raise RuntimeError("closed already")


class ClosesOnce(Sound):
    def close(self):
        del self.render_mode


class SeedMethod(Sound):
    def seed(self, seed):
        pass


class Goal(Sound):
    part = Box(-1, 1, (2,))
    observation = Dict(observation=part, achieved_goal=part, desired_goal=part)
    wrong = 0

    def observe(self):
        return {"observation": self.place.copy(), "achieved_goal": self.place.copy(), "desired_goal": -self.place}

    def step(self, action):
        obs, _, terminated, truncated, info = super().step(action)
        reward = float(self.compute_reward(obs["achieved_goal"], obs["desired_goal"], info))
        return obs, reward + self.wrong, terminated, truncated, info

    def compute_reward(self, achieved, desired, info):
        return -np.linalg.norm(achieved - desired, axis=-1)


WrongGoal = type("WrongGoal", (Goal,), {"wrong": 1})


class RoundedGoal(Goal):
    """The rewards of several goals at once, and that of a step, have other rounding errors."""

    def step(self, action):
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward * (1 + 1e-15), terminated, truncated, info

    def compute_reward(self, achieved, desired, info):
        one = super().compute_reward(achieved, desired, info)
        return one if np.ndim(one) == 0 else one * (1 + 1e-15)


class OneGoal(Goal):
    def compute_reward(self, achieved, desired, info):
        return -np.linalg.norm(achieved - desired)


class NoGoal(Sound):
    def compute_reward(self, achieved, desired, info):
        return 0.0


class FailsAtALevel(Sound):
    levels = 3

    def set_level(self, level):
        if level == 1:
            raise ValueError("no such level")


class NeedsAnOption(Sound):
    def reset(self, *, seed=None, options=None):
        if not options:
            raise ValueError("expected the option size")
        return super().reset(seed=seed)


class NoDisplay(Sound):
    """Its package can't draw on this machine."""

    def render(self):
        raise type("FatalError", (Exception,), {"__module__": "mujoco"})("an OpenGL context was not created")


class DrawsWrongly(Sound):
    def render(self):
        raise type("FatalError", (Exception,), {"__module__": "mujoco"})("the model has no camera")
