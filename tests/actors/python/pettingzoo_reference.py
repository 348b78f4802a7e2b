"""Records what environments of the installed PettingZoo and MPE2 do, by their own functions.

Usage: pettingzoo_reference.py FILE. A line `E seed id options` begins an environment, and the next line, `R row`, has
its first observation. `S integers | floats | rewards | ends | row | last row` is a step, where `last row` is empty
unless the step ended an episode; `row` is then the first one of the next episode. Rows are laid out as
actors/environments/agent_layout.hpp says.
"""
import importlib
import json
import sys

import numpy

STEPS = 600
CASES = [
    # seed, id, options
    (3, "pettingzoo:mpe2.simple_spread_v3", {}),
    (4, "pettingzoo:mpe2.simple_spread_v3", {"N": 2, "max_cycles": 10, "continuous_actions": True}),
    (5, "pettingzoo:mpe2.simple_spread_v3:env", {"max_cycles": 8}),
    (6, "pettingzoo:mpe2.simple_tag_v3", {}),
    (7, "pettingzoo:mpe2.simple_speaker_listener_v4", {}),
    (8, "mpe2.simple_reference_v3:parallel_env", {"continuous_actions": True}),
    (9, "pettingzoo:pettingzoo.classic.tictactoe_v3", {}),
]


def make(env_id, options):
    """Returns the environment, and whether its agents act in turn."""
    module, _, function = env_id.removeprefix("pettingzoo:").partition(":")
    module = importlib.import_module(module)
    function = function or ("parallel_env" if hasattr(module, "parallel_env") else "env")
    return getattr(module, function)(**options), function == "env"


class Rows:
    """Lays out observation rows."""

    def __init__(self, env):
        self.env = env
        self.masked = any(hasattr(env.observation_space(agent), "keys") for agent in env.possible_agents)

    def of(self, seen, acting):
        """`seen` has the observations by agent, `acting` the agents that act next."""
        row, masks = [], []
        for agent in self.env.possible_agents:
            space = self.env.observation_space(agent)
            mask = numpy.ones(self.env.action_space(agent).n) if self.masked else []
            value = seen.get(agent)
            if self.masked:
                space = space["observation"]
                if value is not None:
                    mask = value["action_mask"] if agent in acting else mask
                    value = value["observation"]
            masks.extend(mask)
            row.extend(numpy.zeros(space.shape).ravel() if value is None else value.ravel())
        if hasattr(self.env, "state_space"):
            row.extend(self.env.state())
        row.extend(agent in acting for agent in self.env.possible_agents)
        return [float(numpy.float32(number)) for number in (*row, *masks)]


def draw(env, seen, random):
    """Returns an action of each agent, of which those of agents that don't act have no meaning."""
    actions = {}
    for agent in env.possible_agents:
        space = env.action_space(agent)
        if not hasattr(space, "n"):
            actions[agent] = random.uniform(0, 1, space.shape).astype(numpy.float32)
            continue
        value = seen.get(agent)
        mask = value["action_mask"] if isinstance(value, dict) else numpy.ones(space.n)
        actions[agent] = int(random.choice(numpy.flatnonzero(mask) if numpy.any(mask) else space.n))
    return actions


class AtOnce:
    def __init__(self, env):
        self.env, self.rows = env, Rows(env)

    def reset(self, **more):
        self.seen, _ = self.env.reset(**more)
        return self.rows.of(self.seen, self.env.agents)

    def step(self, actions):
        acted = list(self.env.agents)
        self.seen, rewards, terminations, truncations, _ = self.env.step({a: actions[a] for a in acted})
        ends = {a: 1 if terminations[a] else 2 if truncations[a] else 0 for a in acted}
        return rewards, ends, self.rows.of(self.seen, self.env.agents), not self.env.agents


class InTurn:
    def __init__(self, env):
        self.env, self.rows = env, Rows(env)

    def reset(self, **more):
        self.env.reset(**more)
        return self.look()

    def look(self):
        self.seen = {agent: self.env.observe(agent) for agent in self.env.agents}
        return self.rows.of(self.seen, self.env.agents[:0] + [self.env.agent_selection])

    def step(self, actions):
        env = self.env
        env.step(actions[env.agent_selection])
        rewards = dict(env.rewards)
        ends = {a: 1 if env.terminations[a] else 2 if env.truncations[a] else 0 for a in env.agents}
        if not any(ends.values()):
            return rewards, ends, self.look(), False
        # In these environments all agents end at once.
        assert all(ends.values()), ends
        last = self.rows.of({agent: env.observe(agent) for agent in env.agents}, [])
        while env.agents:
            env.step(None)
        return rewards, ends, last, True


def text(numbers):
    return " ".join(repr(float(number)) for number in numbers)


def record(out, seed, env_id, options):
    env, takes_turns = make(env_id, options)
    played = (InTurn if takes_turns else AtOnce)(env)
    agents = env.possible_agents
    random = numpy.random.default_rng(seed)
    print("E", seed, env_id, json.dumps(options), file=out)
    print("R", text(played.reset(seed=seed)), file=out)
    for _ in range(STEPS):
        actions = draw(env, played.seen, random)
        rewards, ends, row, over = played.step(actions)
        last, row = (text(row), played.reset()) if over else ("", row)
        parts = [
            text(action for action in actions.values() if isinstance(action, int)),
            text(n for action in actions.values() if not isinstance(action, int) for n in action),
            text(rewards.get(agent, 0) for agent in agents),
            text(ends.get(agent, 0) for agent in agents),
            text(row),
            last,
        ]
        print("S", " | ".join(parts), file=out)


def main():
    with open(sys.argv[1], "w", encoding="ascii") as out:
        for case in CASES:
            record(out, *case)
    print(f"recorded {len(CASES)} environments, {STEPS} steps each")


main()
