"""Environments with several agents, of PettingZoo's two forms, behind the functions of one environment.

An observation is a tuple: the observation of each agent of ``possible_agents``, or None for an agent
that has none, then the global state if there is one, then a flag for each agent that acts next if
agents vary, then a flag for each choice that is allowed if there are action masks. An action is a
tuple with the action of each agent. The reward is the mean of the agents' rewards, and the episode
ends when no agent acts any more.
"""

import math

import numpy as np

from troupe_worker import masks, notices
from troupe_worker.channel import Refused, kind_of_result
from troupe_worker.masks import choices_of
from troupe_worker.spaces import (
    FLOAT_MAX,
    FLOAT_TEXT,
    action_sizes,
    change_text,
    describe,
    flat_size,
    kind_of,
    left_out,
    real_number,
    writer_of,
)

TERMINATED, TRUNCATED = 1, 2  # how an agent's episode ended with a step; 0 if it did not


class AgentFault(Refused):
    """A fault of one agent, or of what the environment tells about its agents."""

    def __init__(self, env_id, agent, what, expected, got):
        place = f'{env_id}: agent "{agent}"' if agent else env_id
        super().__init__(f"{place}: {what}: expected {expected}, got {got}")
        self.agent, self.what, self.expected, self.got = agent, what, expected, got


# ---- spaces, which spaces.py knows by the names of their classes


class Box:
    """Flags of 0 or 1."""

    def __init__(self, count):
        self.shape, self.dtype = (count,), np.dtype(np.float32)
        self.low, self.high = np.zeros(count, np.float32), np.ones(count, np.float32)


class Dict:
    def __init__(self, spaces):
        self.spaces = spaces


class Tuple:
    def __init__(self, spaces):
        self.spaces = tuple(spaces)


class Agent:
    """One agent: its key and name, its spaces, and the place of its choices in the masks."""

    def __init__(self, env, env_id, key, first):
        self.key, self.name = key, str(key)
        self.given = env.observation_space(key), env.action_space(key)
        self.observation_space, self.action_space = self.given
        self.mask_space = None
        place = f'{env_id}: agent "{self.name}"'
        if kind_of(self.observation_space) == "Dict" and masks.NAME in self.observation_space.spaces:
            rest = dict(self.observation_space.spaces)
            self.mask_space = rest.pop(masks.NAME)
            # The usual form has one more key, whose value is then the whole observation.
            self.is_wrapped = list(rest) == ["observation"]
            self.observation_space = rest["observation"] if self.is_wrapped else Dict(rest)
        self.told = (
            describe(self.observation_space, f"{place}: observation space"),
            describe(self.action_space, f"{place}: action space", is_action=True),
        )
        sizes = action_sizes(self.action_space)
        for size, what in ((flat_size(self.observation_space), "observation"), (sum(sizes), "action")):
            if size == 0:
                raise Refused(f"{place}: expected an {what} space of a number or more, got none")
        self.choices = choices_of(self.action_space)
        self.masked = slice(first, first + sum(self.choices))
        if self.mask_space is not None:
            size = None if kind_of(self.mask_space) is None else flat_size(self.mask_space)
            if size != sum(self.choices) or size == 0:
                raise Refused(
                    f"{place}: expected an action_mask with a flag for each of its {sum(self.choices)} choices, "
                    f"got a space of {size} numbers"
                )

    def split(self, value):
        """Returns the observation and the action mask of what the environment showed."""
        if self.mask_space is None:
            return value, None
        rest = {name: part for name, part in value.items() if name != masks.NAME}
        return rest["observation"] if self.is_wrapped else rest, value[masks.NAME]


def copied(value):
    """Returns a copy of an observation, whose memory an environment may use again."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {name: copied(part) for name, part in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple(copied(part) for part in value)
    return value


class JointEnvironment:
    """What both forms share. After a step `gained` [N] has the agents' rewards, `ends` [N] how their
    episodes ended with it, and `told` the five values that PettingZoo gives, as it gave them. After
    each call `acting` has the indices of the agents that act next, and `mask` [M] a 1 for each choice
    that is allowed. `infos` has the last info of each agent that has ended, by its name.

    An agent can wait: it leaves `agents` without an end, and comes back later. An agent that has ended can come back,
    too, which begins another episode of it in its row."""

    def __init__(self, env, env_id, vary, masks_in_infos):
        self.env, self.id, self.vary = env, env_id, vary
        self.agents = self._agents_of(env)
        self.index = {agent.key: i for i, agent in enumerate(self.agents)}
        count = len(self.agents)
        self.state_space = _state_space_of(env)
        self.masks_in_infos = self._shows_masks_in_infos() if masks_in_infos is None else masks_in_infos
        self.has_masks = self.masks_in_infos or any(agent.mask_space is not None for agent in self.agents)
        self.gained, self.ends = np.zeros(count), np.zeros(count, np.uint8)
        self.ended, self.acting, self.infos, self.told = [False] * count, [], {}, None
        self.begun = set()  # the agents that have acted in this episode
        choices = self.agents[-1].masked.stop
        self.mask = np.ones(choices, np.float32)
        parts = [(f'agent "{agent.name}": observation', agent.observation_space) for agent in self.agents]
        if self.state_space is not None:
            describe(self.state_space, f"{env_id}: state_space")
            parts.append(("state", self.state_space))
        if vary:
            parts.append(("flags of agents that act", Box(count)))
        if self.has_masks:
            parts.append(("action masks", Box(choices)))
        self.part_names = [name for name, _ in parts]
        self.observation_space = Tuple(space for _, space in parts)
        self.action_space = Tuple(agent.action_space for agent in self.agents)

    def _agents_of(self, env):
        keys = _possible_agents(env)
        if not isinstance(keys, (list, tuple)) or not keys:
            got = "none" if keys is None else repr(keys)
            raise Refused(
                f"{self.id}: expected possible_agents, a list of one agent or more, got {got}; every agent has to be "
                "known beforehand: where agents come and go, possible_agents has a name for each place that an agent "
                "can take, and `agents` the names of the places that are taken"
            )
        for name in ("observation_space", "action_space"):
            if not callable(getattr(env, name, None)):
                raise Refused(f"{self.id}: expected a method {name}(agent), got none")
        names = [str(key) for key in keys]
        for i, name in enumerate(names):
            if name in names[:i]:
                raise Refused(f'{self.id}: expected possible_agents with names of their own, got "{name}" twice')
        agents, first = [], 0
        for key in keys:
            agents.append(Agent(env, self.id, key, first))
            first = agents[-1].masked.stop
        return agents

    def _shows_masks_in_infos(self):
        """Whether the infos of a reset have masks of agents whose observations have none. The rows of observations
        depend on it, so it has to be known before the first episode."""
        if not any(agent.choices and agent.mask_space is None for agent in self.agents):
            return False
        try:
            infos = self.infos_of_reset()
        except (Exception, SystemExit):  # the first episode will tell it
            return False
        return isinstance(infos, dict) and any(
            masks.of_info(infos.get(agent.key)) is not None for agent in self.agents if agent.mask_space is None
        )

    # ---- what is told about the environment

    def describe_agents(self):
        """Returns what Troupe is told beside the joint spaces."""
        return {
            "agents": [[agent.name, *agent.told] for agent in self.agents],
            "state_space": None if self.state_space is None else describe(self.state_space, "state_space"),
            "agents_vary": self.vary,
            "action_masks": self.has_masks,
        }

    def left_out(self):
        """Returns the names and kinds of the parts of observations that can't be used."""
        return [f'agent "{agent.name}": {part}' for agent in self.agents for part in left_out(agent.observation_space)]

    def writer_into(self, row):
        """Returns a function that writes observations into `row`, [flat_size(observation_space)]."""
        parts, first = [], 0
        for name, space in zip(self.part_names, self.observation_space.spaces):
            place = row[first : first + flat_size(space)]
            first += len(place)
            parts.append((place, writer_of(space, place, f"{self.id}: {name}")))

        def write(values):
            for (place, write_part), value in zip(parts, values):
                if value is None:
                    place[:] = 0
                else:
                    write_part(value)

        return write

    @property
    def unwrapped(self):
        return getattr(self.env, "unwrapped", self.env)

    @property
    def metadata(self):
        return getattr(self.env, "metadata", None)

    @property
    def render_mode(self):
        return getattr(self.env, "render_mode", None)

    def render(self):
        render = getattr(self.env, "render", None)
        return None if render is None else render()

    def close(self):
        close = getattr(self.env, "close", None)
        if close is not None:
            close()

    # ---- faults

    def fault(self, agent, what, expected, got):
        """Returns the error for an agent, by its index; None stands for the environment."""
        name = "" if agent is None else self.agents[agent].name
        return AgentFault(self.id, name, what, expected, got)

    def place_of(self, key, what):
        """Returns the index of an agent that the environment named."""
        place = self.index.get(key)
        if place is None:
            names = [agent.name for agent in self.agents]
            raise AgentFault(self.id, str(key), what, f"one of possible_agents {names}", "another agent")
        return place

    def require_dict(self, value, what):
        if not isinstance(value, dict):
            raise self.fault(None, what, "a dict with the agents as its keys", type(value).__name__)

    # ---- the parts of an episode

    def begin(self):
        """Prepares an episode, whose agents and spaces have to be those that were told."""
        keys = [agent.key for agent in self.agents]
        now = list(self.env.possible_agents)
        for key in now:
            self.place_of(key, "possible_agents")
        if now != keys:
            raise self.fault(None, "possible_agents", f"those that it had before, {keys}", now)
        for i, agent in enumerate(self.agents):
            given = self.env.observation_space(agent.key), self.env.action_space(agent.key)
            if given[0] is agent.given[0] and given[1] is agent.given[1]:
                continue
            told = Agent(self.env, self.id, agent.key, 0).told
            for what, before, after in zip(("observation space", "action space"), agent.told, told):
                if before != after:
                    before, after = change_text(before, after)
                    raise self.fault(i, what, f"the one that it had before, {before}", after)
            agent.given = given
        self.ended, self.infos = [False] * len(self.agents), {}
        self.begun.clear()
        self.gained[:] = 0
        self.ends[:] = 0

    def live(self):
        """Returns the indices of the environment's present `agents`."""
        places = [self.place_of(key, "agents") for key in self.env.agents]
        if len(set(places)) < len(places):
            twice = next(place for place in places if places.count(place) > 1)
            raise self.fault(twice, "agents", "each agent once", f"{list(self.env.agents)}")
        return places

    def _state(self):
        """Returns the global state, or None if the environment has none."""
        if self.state_space is None:
            return None
        state = self.env.state()
        if state is None:
            raise self.fault(None, "state", "a value of state_space", "None")
        return state

    def take_rewards(self, rewards):
        self.require_dict(rewards, "rewards")
        self.gained[:] = 0
        for key, reward in rewards.items():
            place = self.place_of(key, "rewards")
            if not isinstance(reward, (float, int)):
                try:
                    reward = real_number(reward)
                except Refused:
                    raise self.fault(place, "reward", "a real number", repr(reward)) from None
            if not abs(reward) <= FLOAT_MAX:
                is_large = isinstance(reward, int) or math.isfinite(reward)
                expected = f"a number {FLOAT_TEXT}" if is_large else "a finite number"
                raise self.fault(place, "reward", expected, str(reward)[:40])
            self.gained[place] = reward

    def end(self, place, terminated, truncated, info):
        """Notes that an agent's episode has ended."""
        self.ended[place] = True
        self.ends[place] = TERMINATED if terminated else TRUNCATED
        self.infos[self.agents[place].name] = dict(info) if isinstance(info, dict) else {}

    def end_rest(self, infos):
        """Ends the agents that wait where no agent is left, as those have ended that ended with this step."""
        rest = [place for place in sorted(self.begun) if not self.ended[place]]
        if rest and not self.ends.any():
            raise self.fault(rest[0], "terminations", "True there or in truncations, for `agents` is empty", "False")
        truncated = bool((self.ends == TRUNCATED).any())
        for place in rest:
            self.end(place, not truncated, truncated, infos.get(self.agents[place].key))

    def require_actors(self):
        if not self.acting:
            raise self.fault(None, "reset", "an agent that acts", f"agents {list(self.env.agents)}")

    def row(self, shown, state, infos):
        """Returns the observation, where `shown` has what each agent sees by its index."""
        parts = [None] * len(self.agents)
        mask = np.ones(len(self.mask), np.float32)
        for place, value in shown.items():
            agent = self.agents[place]
            try:
                parts[place], allowed = agent.split(value)
            except (AttributeError, KeyError, TypeError):
                keys = ["observation", "action_mask"] if agent.is_wrapped else list(agent.given[0].spaces)
                got = list(value) if isinstance(value, dict) else type(value).__name__
                raise self.fault(place, "observation", f"the keys {keys}", got) from None
            if place not in self.acting:
                continue
            if allowed is None:
                allowed = self._mask_of_info(infos.get(agent.key))
            if allowed is not None:
                mask[agent.masked] = self._mask_of(place, allowed)
        self.mask = mask
        if self.state_space is not None:
            parts.append(state)
        if self.vary:
            active = np.zeros(len(self.agents), np.float32)
            active[self.acting] = 1
            parts.append(active)
        if self.has_masks:
            parts.append(mask)
        return tuple(parts)

    def _mask_of_info(self, info):
        mask = masks.of_info(info)
        if mask is not None and not self.masks_in_infos:
            notices.tell("masks", f'{masks.IN_INFO} of agents is not read, for the infos of the first reset had none')
            return None
        return mask

    def _mask_of(self, place, given):
        agent = self.agents[place]
        count = agent.masked.stop - agent.masked.start
        try:
            allowed = masks.flags_of(agent.action_space, given)
        except (KeyError, TypeError, ValueError):
            raise self.fault(place, masks.NAME, f"{count} flags", repr(given)[:100]) from None
        if len(allowed) != count:
            raise self.fault(place, masks.NAME, f"{count} flags", f"{len(allowed)}")
        first = 0
        for choices in agent.choices:
            if not allowed[first : first + choices].any():
                raise self.fault(place, masks.NAME, "a choice or more that is allowed", "none")
            first += choices
        return allowed

    def result(self, row):
        """Returns the five values of a step."""
        total = 0.0
        for reward in self.gained.tolist():  # in order, as multi_agent_environment adds them
            total += reward
        over = not self.acting
        truncated = over and bool((self.ends == TRUNCATED).any())
        return row, total / len(self.agents), over and not truncated, truncated, self.infos


class Parallel(JointEnvironment):
    """PettingZoo's ParallelEnv: all agents of `agents` act at once. An environment with the attribute
    `agents_vary = False` promises that all agents act from the first step to a common end."""

    def __init__(self, env, env_id, masks_in_infos=None):
        promises = (getattr(one, "agents_vary", True) for one in (env, getattr(env, "unwrapped", env)))
        vary = all(promise is not False for promise in promises)
        super().__init__(env, env_id, vary, masks_in_infos)

    def infos_of_reset(self):
        return self.env.reset()[1]

    def reset(self, *, seed=None, **more):
        result = self.env.reset(seed=seed, **more)
        if not isinstance(result, tuple) or len(result) != 2:
            raise self.fault(None, "reset", "(observations, infos)", kind_of_result(result))
        observations, infos = result
        self.require_dict(observations, "observations")
        self.begin()
        self.acting = self.live()
        self.require_actors()
        for i in range(0 if self.vary else len(self.agents)):
            if i not in self.acting:
                raise self.fault(i, "agents", "every agent, for agents_vary is False", "the others")
        self.begun.update(self.acting)
        return self.row(self._shown(observations, self.acting), self._state(), _infos_of(infos)), infos

    def step(self, actions):
        acted = self.acting
        result = self.env.step({self.agents[i].key: actions[i] for i in acted})
        if not isinstance(result, tuple) or len(result) != 5:
            expected = "(observations, rewards, terminations, truncations, infos)"
            raise self.fault(None, "step", expected, kind_of_result(result))
        observations, rewards, terminations, truncations, infos = self.told = result
        for value, what in zip(result, ("observations", "rewards", "terminations", "truncations", "infos")):
            self.require_dict(value, what)
        self.take_rewards(rewards)
        self.ends[:] = 0
        live = self.live()
        for place in acted:
            for told, what in ((rewards, "rewards"), (terminations, "terminations"), (truncations, "truncations")):
                if self.agents[place].key not in told:
                    raise self.fault(place, what, "an entry of each agent that acted", "none")
        self._note_ends(terminations, truncations, infos)
        for place in live:
            is_over = terminations.get(self.agents[place].key) or truncations.get(self.agents[place].key)
            if self.ended[place] and not is_over:
                self.ended[place] = False  # it has come back
        self.acting = [place for place in live if not self.ended[place]]
        for place in live:
            # Where the last ones end, it does not matter whether they were taken out.
            if self.ended[place] and (self.acting or place not in acted):
                expected = "no agent that ends with this step (it may come back in a later one)"
                raise self.fault(place, "agents", expected, "it")
        if not self.acting:
            self.end_rest(infos)
        if not self.vary and self.acting and len(self.acting) < len(self.agents):
            place = self.ended.index(True) if True in self.ended else 0
            raise self.fault(place, "terminations", "an end of all agents at once, for agents_vary is False", "its alone")
        self.begun.update(self.acting)
        shown = self._shown(observations, dict.fromkeys((*acted, *self.acting)))
        return self.result(self.row(shown, self._state(), infos))

    def _note_ends(self, terminations, truncations, infos):
        """Notes the ends of agents that have acted or wait."""
        for place in sorted(self.begun):
            key = self.agents[place].key
            terminated, truncated = terminations.get(key, False), truncations.get(key, False)
            if (terminated or truncated) and not self.ended[place]:
                self.end(place, terminated, truncated, infos.get(key))

    def _shown(self, observations, places):
        shown = {}
        for place in places:
            key = self.agents[place].key
            if observations.get(key) is None:
                if place not in self.acting and not self.ended[place]:
                    continue  # it waits
                raise self.fault(place, "observations", "an entry of each agent that acts or ends", "none")
            # state() may use the same memory.
            shown[place] = observations[key] if self.state_space is None else copied(observations[key])
        return shown


class InTurn(JointEnvironment):
    """PettingZoo's AECEnv: the agent `agent_selection` acts. Agents that have ended take their last
    step, with None for an action, within the step of another one."""

    def __init__(self, env, env_id, masks_in_infos=None):
        super().__init__(env, env_id, True, masks_in_infos)

    def infos_of_reset(self):
        self.env.reset()
        return self.env.infos

    def reset(self, *, seed=None, **more):
        self.env.reset(seed=seed, **more)
        self.begin()
        self._note_ends()
        self._give_turn()
        self.require_actors()
        self.begun.update(self.live())
        return self.row(self._observe(self.live()), self._state(), _infos_of(self.env.infos)), self.env.infos

    def step(self, actions):
        env, turn = self.env, self.acting[0]
        env.step(actions[turn])
        self.take_rewards(env.rewards)
        if self.agents[turn].key not in env.rewards:
            raise self.fault(turn, "rewards", "an entry of the agent that acted", "none")
        self.ends[:] = 0
        # An agent's last observation can be asked for until it has taken its last step.
        shown = self._observe(self._note_ends())
        self.begun.update(self.live())
        state = self._state() if all(self.ended[place] for place in self.live()) else None
        self._give_turn()
        if not self.acting:
            self.end_rest(_infos_of(env.infos))
        else:
            shown.update(self._observe(place for place in self.live() if not self.ended[place]))
            state = self._state()
        self.told = None, env.rewards, env.terminations, env.truncations, env.infos
        return self.result(self.row(shown, state, _infos_of(env.infos)))

    def _note_ends(self):
        """Notes whose episodes have ended, and returns who is new among them."""
        env, fresh = self.env, []
        for key in list(env.terminations):
            place = self.place_of(key, "terminations")
            terminated, truncated = env.terminations[key], env.truncations.get(key, False)
            if (terminated or truncated) and not self.ended[place]:
                self.end(place, terminated, truncated, env.infos.get(key))
                fresh.append(place)
        return fresh

    def _give_turn(self):
        """Steps the agents that have ended, until it is the turn of another one or none is left."""
        env, self.acting = self.env, []
        for _ in range(2 * len(self.agents) + 1):
            if not env.agents:
                return
            key = env.agent_selection
            place = self.place_of(key, "agent_selection")
            if not (env.terminations.get(key) or env.truncations.get(key)):
                if key not in env.agents:
                    raise self.fault(place, "agent_selection", f"one of agents {list(env.agents)}", "it")
                self.ended[place] = False  # it may have come back
                self.acting = [place]
                return
            env.step(None)
            self._note_ends()
        raise self.fault(place, "step(None)", "an agent that leaves `agents`, for it has ended", f"{list(env.agents)}")

    def _observe(self, places):
        shown = {}
        for place in places:
            agent = self.agents[place]
            if agent.key not in self.env.agents:
                continue
            value = self.env.observe(agent.key)
            if value is not None:
                shown[place] = copied(value)
            elif place in self.acting:
                raise self.fault(place, "observe", "an observation of the agent whose turn it is", "None")
        return shown

    def _state(self):
        return copied(super()._state())


def _infos_of(infos):
    return infos if isinstance(infos, dict) else {}


def _state_space_of(env):
    """Returns the space of env.state(), or None. PettingZoo's own state() is not implemented."""
    inner = getattr(env, "unwrapped", env)
    state = getattr(type(inner), "state", None)
    if not callable(state) or getattr(state, "__module__", "") == "pettingzoo.utils.env":
        return None
    return getattr(env, "state_space", None)


def _is_of(env, name):
    return any(base.__name__ == name for base in type(env).__mro__)


def _possible_agents(env):
    """Returns the names of all agents, or None if the environment has none or does not know them yet."""
    try:
        return getattr(env, "possible_agents", None)
    except Exception:
        return None


def has_agents(env):
    """True for an environment of PettingZoo, and for one with the same functions."""
    if _is_of(env, "ParallelEnv") or _is_of(env, "AECEnv"):
        return True
    # Gymnasium's spaces are no functions.
    spaces = getattr(env, "observation_space", None), getattr(env, "action_space", None)
    return _possible_agents(env) is not None or all(callable(space) for space in spaces)


def joint_of(env, env_id, masks_in_infos=None):
    """Returns an environment with several agents as one. `masks_in_infos` says whether infos have masks of actions;
    None means that a reset of the environment tells it. Raises Refused for agents and spaces that can't be used."""
    if _is_of(env, "AECEnv"):
        takes_turns = True
    else:
        takes_turns = not _is_of(env, "ParallelEnv") and callable(getattr(env, "observe", None))
    return (InTurn if takes_turns else Parallel)(env, env_id, masks_in_infos)
