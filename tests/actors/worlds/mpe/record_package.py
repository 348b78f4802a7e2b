"""Records episodes of the installed package mpe2, numbers as IEEE-754 bit patterns.

Usage: record_package.py FILE EPISODES [--short]. EPISODES are recorded of every environment, in both
forms of its actions, and of some with other numbers of agents: half of them after a seed, with actions
at random, and the others after these without one, with actions that hold on. With --short an observation is recorded at the beginning and the
end of an episode alone. package_test.cpp explains the format.
"""
import importlib
import json
import struct
import sys

import numpy

WORLDS = (
    ("simple_spread_v3", {}),
    ("simple_tag_v3", {}),
    ("simple_adversary_v3", {}),
    ("simple_push_v3", {}),
    ("simple_speaker_listener_v4", {}),
    ("simple_reference_v3", {}),
)
MORE_WORLDS = (
    ("simple_spread_v3", {"N": 6, "local_ratio": 0.3, "max_cycles": 40}),
    ("simple_tag_v3", {"num_good": 2, "num_adversaries": 4, "num_obstacles": 3}),
    ("simple_adversary_v3", {"N": 4}),
    ("simple_reference_v3", {"local_ratio": 0.9}),
)


def floats(numbers):
    return " ".join(struct.pack(">f", float(number)).hex() for number in numbers)


def doubles(numbers):
    return " ".join(struct.pack(">d", float(number)).hex() for number in numbers)


class Player:
    """Chooses at random. Where actions hold on for some steps, agents become fast and leave the square."""

    def __init__(self, env):
        self.env = env
        self.random = numpy.random.default_rng(1)
        self.held = {}

    def choose(self, name):
        space = self.env.action_space(name)
        if hasattr(space, "n"):
            return int(self.random.integers(space.n))
        return self.random.uniform(0, 1, space.shape).astype(numpy.float32)

    def act(self, step, holds):
        for name in self.env.agents:
            if not holds or step % 8 == 0:
                self.held[name] = self.choose(name)
        return dict(self.held)


def record_episode(env, player, names, seed, holds, is_short, out):
    obs, _ = env.reset(seed=seed)

    def all_obs():
        joined = numpy.concatenate([obs[name] for name in names])
        assert (joined == env.state()).all()
        return floats(joined)

    print("R", all_obs(), file=out)
    step, is_over = 0, False
    while not is_over:
        actions = player.act(step, holds)
        obs, rewards, terminations, truncations, _ = env.step(actions)
        step += 1
        assert not any(terminations.values())
        assert len(set(truncations.values())) == 1
        is_over = any(truncations.values())
        shown = " ".join(
            floats(action) if isinstance(action, numpy.ndarray) else str(action)
            for action in (actions[name] for name in names)
        )
        seen = all_obs() if is_over or not is_short else ""
        print("S", shown, "|", doubles(rewards[name] for name in names), "|", int(is_over), "|", seen, file=out)


def record(world, options, episodes, is_short, out):
    module = importlib.import_module("mpe2." + world)
    env = module.parallel_env(**options)
    names = env.possible_agents
    player = Player(env)
    for episode in range(episodes):
        seed = 42 + episode if episode % 2 == 0 else None
        if seed is not None:
            print("E", world, seed, json.dumps(options, separators=(",", ":")), file=out)
            for name in names:
                print("A", name, env.observation_space(name).shape[0], env.action_space(name), file=out)
        record_episode(env, player, names, seed, episode % 2 == 1, is_short, out)


def main():
    episodes, is_short = int(sys.argv[2]), "--short" in sys.argv
    with open(sys.argv[1], "w", encoding="ascii") as out:
        for continuous in (False, True):
            for world, options in WORLDS if is_short else WORLDS + MORE_WORLDS:
                options = dict(options, continuous_actions=True) if continuous else options
                record(world, options, episodes, is_short, out)


main()
