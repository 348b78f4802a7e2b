"""The checks of an environment with several agents: those of check.py for each agent, whose name is
the key of what is found, and those of PettingZoo's ``parallel_api_test`` and ``api_test``."""

import sys

import numpy as np

from troupe_worker.agents import InTurn
from troupe_worker.check import Checker, kind_text
from troupe_worker.spaces import action_sizes, is_image, kind_of, parts_of, reader_of
from troupe_worker.values import extreme_of, sampler_of, shares_memory


class AgentsChecker(Checker):
    """Checks one JointEnvironment."""

    def prefer(self, *what, **more):
        """Says nothing, because such libraries take no environment with several agents."""

    # ---- the object and its spaces

    def check_object(self, env):
        self.check_class(env)
        for agent in env.agents:
            self.check_space(agent.observation_space, "observation space", agent.name)
            self.check_space(agent.action_space, "action space", agent.name)
            for name in ("observation_space", "action_space"):
                method = getattr(env.env, name)
                if method(agent.key) is not method(agent.key):
                    self.warn("spaces", f"{name}(agent)", "the same object at each call", "a new one", key=agent.name)
        if env.state_space is not None:
            self.check_space(env.state_space, "state space", "state")
        if self.usable:
            self.told = self.describe(env)

    def check_class(self, env):
        pettingzoo = sys.modules.get("pettingzoo")
        wanted = "AECEnv" if isinstance(env, InTurn) else "ParallelEnv"
        if pettingzoo is not None and not isinstance(env.env, getattr(pettingzoo, wanted)):
            expected = f"a subclass of pettingzoo.{wanted}, which wrappers of PettingZoo need"
            self.warn("class", "class", expected, type(env.env).__name__)

    def check_image(self, space, place, key):
        """Tells that images of agents are plain numbers."""
        if is_image(space):
            expected = "a vector, for algorithms for several agents take an image as plain numbers"
            self.warn("image", place, expected, f"shape {tuple(space.shape)}", key=key)

    # ---- what comes back

    def check_masks(self, env, info):
        """Says nothing, because the masks of agents are read."""

    def check_observation(self, env, value, where, at):
        parts = [(agent.name, agent.observation_space) for agent in env.agents]
        if env.state_space is not None:
            parts.append(("state", env.state_space))
        for (key, space), part in zip(parts, value):
            if part is not None:  # that of an agent that sees nothing
                self.check_part(space, part, where, at, key)

    def check_step_result(self, env, result, at):
        """Checks what the environment told of each agent, of which `result` is made."""
        self.check_observation(env, result[0], "step", at)
        _, *told = env.told
        for agent in env.agents:
            if all(agent.key in one for one in told[:3]):
                self.check_outcome(*(one.get(agent.key) for one in told), at, agent.name)
        return True

    def check_outcome(self, reward, terminated, truncated, info, at, key=""):
        super().check_outcome(reward, terminated, truncated, {} if info is None else info, at, key)

    def check_shared(self, last, now):
        """Warns if two calls in a row return the same memory of an observation."""
        if last is not None and shares_memory(last[1], now[1]):
            self.warn(
                "reused memory",
                now[0],
                "new observations each time, as most libraries keep them (this one copies them)",
                "the memory of the observations before",
            )
        return now

    def check_end(self, result, length, at):
        if length == 1 and result[3]:
            self.warn("truncated", "step", "more than one step before truncation", "one", at)
        for name in self.request["info"]:
            if not any(_is_number(info.get(name)) for info in result[4].values()):
                expected = f"a number {name} in the last info of an agent (env.info)"
                self.warn("info", "step", expected, kind_text(result[4]), at)

    # ---- actions

    def sampler(self, env, random):
        agents = [AllowedActions(env, agent, random) for agent in env.agents]
        return lambda: tuple(actions.draw() for actions in agents)

    def extreme(self, env, highest):
        return tuple(AllowedActions(env, agent, None).extreme(highest) for agent in env.agents)


class AllowedActions:
    """The actions of an agent that its mask allows at present."""

    def __init__(self, env, agent, random):
        self.env, self.agent, self.random = env, agent, random
        integers, floats = action_sizes(agent.action_space)
        self.integers, self.floats = np.zeros(integers, np.int64), np.zeros(floats, np.float32)
        self.firsts = _firsts_of(agent.action_space)
        self.read = reader_of(agent.action_space, self.integers, self.floats)
        self.boxes = _boxes_of(agent.action_space)

    def draw(self):
        drawn = [sampler_of(box, self.random)() for box in self.boxes]
        return self._action(drawn, self.random.choice)

    def extreme(self, highest):
        bounds = [extreme_of(box, highest) for box in self.boxes]
        return self._action(bounds, np.max if highest else np.min)

    def _action(self, floats, choose):
        """Returns the action with these parts of kind Box, where `choose` takes one of several choices."""
        if floats:
            self.floats[:] = np.concatenate([np.asarray(part, np.float32).ravel() for part in floats])
        at = self.agent.masked.start
        for i, count in enumerate(self.agent.choices):
            self.integers[i] = self.firsts[i] + choose(np.flatnonzero(self.env.mask[at : at + count]))
            at += count
        return self.read()


def _firsts_of(space):
    """Returns the lowest value of each integer of an action."""
    kind = kind_of(space)
    if kind == "Discrete":
        return [int(getattr(space, "start", 0))]
    if kind == "MultiDiscrete":
        nvec = np.asarray(space.nvec)
        return [int(n) for n in np.broadcast_to(getattr(space, "start", 0), nvec.shape).ravel()]
    if kind == "MultiBinary":
        return [0] * int(np.prod(space.shape))
    return [] if kind == "Box" else [n for _, part in parts_of(space) for n in _firsts_of(part)]


def _boxes_of(space):
    kind = kind_of(space)
    if kind == "Box":
        return [space]
    return [box for _, part in parts_of(space) for box in _boxes_of(part)] if kind in ("Dict", "Tuple") else []


def _is_number(value):
    try:
        return bool(np.isfinite(float(value)))
    except (TypeError, ValueError):
        return False
