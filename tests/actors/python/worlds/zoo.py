"""Worlds with several agents that have the functions of PettingZoo's, without the package."""

import time

import numpy as np

from spaces import Box, Dict, Discrete, Graph, MultiDiscrete, Text

NAMES = ("ann", "bob", "cid")


class World:
    """What the worlds share. Agent i sees i + 1 times the number 100 * seed + steps."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(self):
        self.possible_agents = list(NAMES)
        self.observations = {name: Box(-np.inf, np.inf, (i + 1,)) for i, name in enumerate(NAMES)}
        self.actions = {"ann": Discrete(3), "bob": Box(-1, 1, (2,)), "cid": MultiDiscrete([2, 3])}
        self.memory = {name: np.zeros(i + 1, np.float32) for i, name in enumerate(NAMES)}
        self.seed, self.bonus, self.steps, self.agents = 0, 0, 0, []

    def observation_space(self, agent):
        return self.observations[agent]

    def action_space(self, agent):
        return self.actions[agent]

    def begin(self, seed, options):
        if seed is not None:
            self.seed = seed % 100
        self.steps = (options or {}).get("first", 0)

    def see(self, agent):
        self.memory[agent][:] = 100 * self.seed + self.steps
        return self.memory[agent]

    def worth(self, agent, action):
        """The reward: ann's action, the sum of bob's, and the digits of cid's."""
        if agent == "ann":
            return float(action) + self.bonus
        assert action.dtype == (np.float32 if agent == "bob" else np.int64) and action.shape == (2,), action
        return float(action.sum()) if agent == "bob" else float(10 * action[0] + action[1])


class Team(World):
    """All act at once. `ends` has the step after which an agent's episode ends, `cut` whose are
    truncated, and `comes` the step after which an agent begins."""

    def __init__(self, ends=None, cut=(), comes=None, render_mode=None):
        super().__init__()
        self.ends, self.cut, self.comes = ends or dict.fromkeys(NAMES, 3), cut, comes or {}
        self.render_mode = render_mode

    def reset(self, seed=None, options=None):
        self.begin(seed, options)
        self.agents = [name for name in self.possible_agents if name not in self.comes]
        return {name: self.see(name) for name in self.agents}, {name: {} for name in self.agents}

    def step(self, actions):
        assert list(actions) == self.agents, actions
        self.steps += 1
        acted = self.agents
        over = {name: self.ends.get(name) == self.steps for name in acted}
        self.agents = [name for name in acted if not over[name]]
        self.agents += [name for name, step in self.comes.items() if step == self.steps]
        return (
            {name: self.see(name) for name in (*acted, *self.agents)},
            {name: self.worth(name, actions[name]) for name in acted},
            {name: over[name] and name not in self.cut for name in acted},
            {name: over[name] and name in self.cut for name in acted},
            {name: {"keys": self.steps * 10, "is_success": name == "bob"} for name in acted},
        )

    def render(self):
        return np.full((32, 48, 3), min(self.steps, 255), np.uint8)


class Together(Team):
    """All agents act to a common end."""

    agents_vary = False


class Chess(World):
    """The agents act in turn, and there are masks: ann may not do what she did before. An agent's action
    is the reward of the next one, who gets it in that turn. Agents end after the turn of number
    `ends`, and are taken out when they are stepped with None. All observations share one memory."""

    def __init__(self, ends=None, cut=()):
        super().__init__()
        self.observations["ann"] = Dict(observation=self.observations["ann"], action_mask=Box(0, 1, (3,), np.int8))
        self.observations["cid"] = Dict(action_mask=Box(0, 1, (5,), np.int8), place=Discrete(2), seen=Box(-9, 9, (1,)))
        self.ends, self.cut = ends or dict.fromkeys(NAMES, 6), cut
        self.shared = np.zeros(3, np.float32)

    def see(self, agent):
        self.shared[:] = 100 * self.seed + self.steps
        seen = self.shared[: NAMES.index(agent) + 1]
        if agent == "ann":
            mask = np.ones(3, np.int8) if agent == self.agent_selection else np.zeros(3, np.int8)
            mask[self.last] = 0
            return {"observation": seen, "action_mask": mask}
        if agent == "cid":
            return {"action_mask": np.array([1, 0, 0, 1, 1]), "place": self.steps % 2, "seen": np.float32([self.steps])}
        return seen

    observe = see

    def reset(self, seed=None, options=None):
        self.begin(seed, options)
        self.agents, self.agent_selection, self.last = list(NAMES), "ann", 0
        self.rewards = dict.fromkeys(NAMES, 0)
        self.terminations, self.truncations = dict.fromkeys(NAMES, False), dict.fromkeys(NAMES, False)
        self.infos = {name: {} for name in NAMES}

    def next_of(self, agent):
        at = self.agents.index(agent)
        return self.agents[(at + 1) % len(self.agents)]

    def step(self, action):
        agent = self.agent_selection
        after = self.next_of(agent)
        self.rewards = dict.fromkeys(self.agents, 0)
        if self.terminations[agent] or self.truncations[agent]:
            assert action is None, action
            self.agents.remove(agent)
            for told in (self.rewards, self.terminations, self.truncations, self.infos):
                del told[agent]
        else:
            self.steps += 1
            self.rewards[after] = self.worth(agent, action)
            if agent == "ann":
                self.last = int(action)
            for name in self.agents:
                (self.truncations if name in self.cut else self.terminations)[name] |= self.ends.get(name) == self.steps
        self.agent_selection = after


class ChessOfInfos(Chess):
    """In turn, with the masks in the infos of the agent whose turn it is."""

    def __init__(self, ends=None):
        super().__init__(ends)
        self.observations["ann"] = self.observations["cid"] = Box(-np.inf, np.inf, (1,))

    def observe(self, agent):
        return np.full(2 if agent == "bob" else 1, 100 * self.seed + self.steps, np.float32)

    def note(self):
        for name, info in self.infos.items():
            info.pop("action_mask", None)
        if self.agent_selection == "ann" and self.agents:
            self.infos["ann"]["action_mask"] = np.arange(3) != self.last

    def reset(self, seed=None, options=None):
        super().reset(seed, options)
        self.note()

    def step(self, action):
        if self.agent_selection == "ann" and action is not None:
            assert action != self.last
        super().step(action)
        self.note()


class Strict(Chess):
    """In turn, and what a mask forbids is an error."""

    def step(self, action):
        if self.agent_selection == "ann" and action is not None:
            assert action != self.last
        if self.agent_selection == "cid" and action is not None:
            assert action[0] == 0 and action[1] in (1, 2), action
        super().step(action)


class Stateful(Together):
    """Has a global state, whose memory is that of bob's observation."""

    state_space = Box(-np.inf, np.inf, (2,))

    def state(self):
        self.memory["bob"][:] = -self.steps
        return self.memory["bob"]


# ---- worlds that break the contract at step 2, if ann's action is 1 there


class Breaks(Team):
    def step(self, actions):
        result = super().step(actions)
        return self.fail(*result) if self.steps == 2 and actions["ann"] == 1 else result

    def fail(self, *result):
        self.change(*result)
        return result


class NaNReward(Breaks):
    def change(self, observations, rewards, *flags):
        rewards["bob"] = float("nan")


class InfiniteReward(Breaks):
    def change(self, observations, rewards, *flags):
        rewards["cid"] = np.float32(np.inf)


class HugeReward(Breaks):
    def change(self, observations, rewards, *flags):
        rewards["cid"] = 10**400


class HalfCharacter(Breaks):
    """Raises an error whose text is no UTF-8."""

    def change(self, *result):
        raise ValueError("no file \udcff")


class Doubled(Breaks):
    """An agent is named twice, and another one not at all."""

    def change(self, *result):
        self.agents = ["ann", "bob", "bob"]


class TextReward(Breaks):
    def change(self, observations, rewards, *flags):
        rewards["cid"] = "much"


class NoReward(Breaks):
    def change(self, observations, rewards, *flags):
        del rewards["bob"]


class OtherShape(Breaks):
    def change(self, observations, *more):
        observations["bob"] = np.zeros(3, np.float32)


class OtherType(Breaks):
    def change(self, observations, *more):
        observations["cid"] = np.zeros(3)


class IntTermination(Breaks):
    def change(self, observations, rewards, terminations, *more):
        terminations["ann"] = 0


class NoObservation(Breaks):
    def change(self, observations, *more):
        del observations["cid"]


class Waits(Team):
    """An agent does not act in the second step, and has not ended. Nothing is told of it then."""

    def step(self, actions):
        result = super().step(actions)
        if self.steps == 1:
            self.agents.remove("cid")
            del result[0]["cid"], result[4]["cid"]
        elif self.steps == 2:
            self.agents.append("cid")
            result[0]["cid"] = self.see("cid")
        return result


class WaitsToTheEnd(Waits):
    """An agent waits when the others end."""

    def __init__(self, cut=()):
        super().__init__(ends={"ann": 2, "bob": 2}, cut=cut)

    def step(self, actions):
        result = super().step(actions)
        if self.steps == 2:
            self.agents = []
        return result


class Returns(Team):
    """An agent that ended in the first step acts again from the third one on."""

    def __init__(self):
        super().__init__(ends={"ann": 4, "bob": 1, "cid": 4})

    def step(self, actions):
        if self.steps == 3:
            self.ends["bob"] = 4
        result = super().step(actions)
        if self.steps == 2:
            self.agents.append("bob")
            result[0]["bob"] = self.see("bob")
        return result

    def begin(self, seed, options):
        self.ends["bob"] = 1
        super().begin(seed, options)


class InfoMasks(Team):
    """Its infos have masks: ann may not do what she did before, and the parts of cid's action have masks of their own."""

    def masks(self, last):
        return {
            "ann": {"action_mask": np.arange(3) != last},
            "bob": {},
            "cid": {"action_mask": (np.array([1, 0]), np.array([0, 1, 1]))},
        }

    def reset(self, seed=None, options=None):
        return super().reset(seed, options)[0], self.masks(0)

    def step(self, actions):
        *told, infos = super().step(actions)
        masks = self.masks(actions.get("ann", 0))
        return (*told, {name: {**info, **masks[name]} for name, info in infos.items()})


class LateInfoMasks(InfoMasks):
    """Its infos have masks from the first step on."""

    def reset(self, seed=None, options=None):
        return super().reset(seed, options)[0], {}


class AllForbiddenInInfo(InfoMasks):
    def masks(self, last):
        return {**super().masks(last), "cid": {"action_mask": np.array([1, 1, 0, 0, 0])}}


class Stays(Breaks):
    """An agent that ends remains among `agents`."""

    def change(self, observations, rewards, terminations, *more):
        terminations["cid"] = True


class Vanishes(Breaks):
    """All agents leave, and none has ended."""

    def change(self, *result):
        self.agents = []


class Strange(Breaks):
    """An agent acts that was never told."""

    def change(self, *result):
        self.agents.append("dan")


class OldForm(Breaks):
    def fail(self, *result):
        return result[:4]


class NoDict(Breaks):
    def fail(self, observations, *more):
        return (list(observations.values()), *more)


class EndsAlone(Together, Breaks):
    """It promised a common end."""

    def change(self, observations, rewards, terminations, *more):
        terminations["bob"] = True
        self.agents.remove("bob")


class Revives(Chess):
    """In turn, and bob acts after his end."""

    def __init__(self):
        super().__init__(ends={"bob": 1})

    def step(self, action):
        if self.steps == 2:
            self.agents = ["ann", "bob", "cid"]
            self.terminations["bob"] = self.truncations["bob"] = False
            self.infos["bob"], self.agent_selection = {}, "ann"
        super().step(action)


class Unpaid(Chess):
    """In turn, and the agent that acted has no reward."""

    def step(self, action):
        turn = self.agent_selection
        super().step(action)
        self.rewards = {name: reward for name, reward in self.rewards.items() if name != turn}


class Stateless(Stateful):
    """Has no state from the second step on."""

    def state(self):
        return None if self.steps > 1 else super().state()


class Immortal(Chess):
    """In turn, and an agent that has ended stays."""

    def step(self, action):
        if action is not None:
            super().step(action)


class AllForbidden(Chess):
    def see(self, agent):
        seen = super().see(agent)
        if agent == "cid":
            seen["action_mask"][2:] = 0
        return seen

    observe = see


class Renamed(Team):
    """Its agents have other names from the second episode on."""

    def reset(self, **more):
        if self.steps > 0:
            self.possible_agents = ["ann", "bob", "eve"]
            self.observations["eve"], self.actions["eve"] = self.observations["cid"], self.actions["cid"]
            self.memory["eve"], self.ends["eve"] = self.memory["cid"], 3
        return super().reset(**more)


class Stuck(Team):
    """Its resets from the second on take for ever."""

    def reset(self, **more):
        if self.steps > 0:
            time.sleep(1000)
        return super().reset(**more)


class Resized(Team):
    """An agent's space is another one from the second episode on."""

    def reset(self, **more):
        if self.steps > 0:
            self.actions["ann"] = Discrete(4)
        return super().reset(**more)


class Nobody(Team):
    def reset(self, **more):
        super().reset(**more)
        self.agents = []
        return {}, {}


# ---- worlds that can't be used


class NoAgents(Team):
    def __init__(self):
        super().__init__()
        self.possible_agents = []


class Untold(Team):
    def __init__(self):
        super().__init__()
        del self.possible_agents


class Unready(Team):
    """Knows its agents after its first reset."""

    @property
    def possible_agents(self):
        raise RuntimeError("reset comes first")

    @possible_agents.setter
    def possible_agents(self, names):
        pass


class Twins(Team):
    def __init__(self):
        super().__init__()
        self.possible_agents = ["ann", "bob", "ann"]


class NoActions(Team):
    def __init__(self):
        super().__init__()
        self.actions["bob"] = Box(-1, 1, (0,))


class Speaks(Team):
    def __init__(self):
        super().__init__()
        self.actions["bob"] = Text(3, "ab")


class UnknownSpace(Team):
    def __init__(self):
        super().__init__()
        self.observations["cid"] = Graph()


class ShortMask(Chess):
    def __init__(self):
        super().__init__()
        self.observations["ann"].spaces["action_mask"] = Box(0, 1, (2,))


# ---- wrappers


class GymnasiumWrapper:
    """As far as the worker can see, one of Gymnasium's."""


GymnasiumWrapper.__name__, GymnasiumWrapper.__module__ = "Wrapper", "gymnasium.core"


def twice(world, name="bob"):
    """A wrapper for worlds with several agents, which doubles what one of them gets."""
    worth = world.worth
    world.worth = lambda agent, action: worth(agent, action) * (2 if agent == name else 1)
    return world


class Levels(Together):
    """A team with levels: an agent's reward is the level of its episode."""

    levels = 4

    def __init__(self, **more):
        super().__init__(**more)
        self.level = 0

    def set_level(self, level):
        self.level = level

    def worth(self, agent, action):
        return float(self.level)
