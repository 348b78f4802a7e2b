"""Records trajectories of the installed Gymnasium, numbers as IEEE-754 bit patterns.

Usage: gymnasium_reference.py FILE. The format is explained in trajectory.hpp. CartPole-v1 takes 20,000 steps
under each of ten seeds, the others 2,000: random actions under most, and under the last
two actions that hold out to the time limit, or reach the goal.
"""
import struct
import sys

import gymnasium
import numpy

SEEDS = (*range(100, 108), 2**32 - 1, 2**40 + 3)


def bits(numbers):
    return " ".join(struct.pack(">d", float(number)).hex() for number in numbers)


def box(*elements):
    return numpy.array(elements, dtype=numpy.float32)


def record(out, name, seed, steps, choose):
    env = gymnasium.make(name)
    print("E", name, seed, file=out)
    obs, _ = env.reset(seed=seed)
    print("R", bits(env.unwrapped.state), "|", bits(obs), file=out)
    for _ in range(steps):
        action = choose(obs)
        shown = bits(action) if isinstance(action, numpy.ndarray) else action
        obs, reward, terminated, truncated, _ = env.step(action)
        print("S", shown, bits(env.unwrapped.state), "|", bits(obs), "|", bits([reward]),
              int(terminated), int(truncated), file=out)
        if terminated or truncated:
            obs, _ = env.reset()
            print("R", bits(env.unwrapped.state), "|", bits(obs), file=out)


def main():
    actions = numpy.random.default_rng(1)

    def integer(n):
        return lambda obs: int(actions.integers(n))

    def force(bound):  # now and then at or beyond the bounds
        return lambda obs: box(actions.choice([actions.uniform(-bound, bound), -bound, bound]))

    def beyond(bound):
        return lambda obs: box(actions.uniform(-1.5 * bound, 1.5 * bound))

    def along(element, low, high):  # pumps energy into a swing
        return lambda obs: high if obs[element] > 0 else low

    def balance(obs):
        return int(obs[2] + 0.5 * obs[3] + 0.05 * obs[1] > 0)

    def hold_up(obs):
        return box(numpy.clip(-8 * obs[1] - 2 * obs[2] if obs[0] > 0.8 else 2 * obs[2], -2, 2))

    cases = {
        "CartPole-v1": (20_000, integer(2), balance),
        "Acrobot-v1": (2_000, integer(3), along(5, 0, 2)),
        "MountainCar-v0": (2_000, integer(3), along(1, 0, 2)),
        "MountainCarContinuous-v0": (2_000, force(1), along(1, box(-1), box(1))),
        "Pendulum-v1": (2_000, force(2), hold_up),
    }
    with open(sys.argv[1], "w", encoding="ascii") as out:
        for name, (steps, random, able) in cases.items():
            for seed in SEEDS:
                record(out, name, seed, steps, random if seed < 108 else able)
        for name, bound in (("MountainCarContinuous-v0", 1), ("Pendulum-v1", 2)):
            record(out, name, 7, 2_000, beyond(bound))
    print(f"recorded Gymnasium {gymnasium.__version__} with NumPy {numpy.__version__}")


main()
