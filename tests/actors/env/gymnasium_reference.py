"""Records CartPole-v1 trajectories of the installed Gymnasium, numbers as IEEE-754 bit patterns.

Usage: gymnasium_reference.py FILE. The format is explained in trajectory.hpp. Ten seeds take 20,000
random steps each; two more balance the pole, so that the time limit is met.
"""
import struct
import sys

import gymnasium
import numpy

STEPS = 20_000


def bits(numbers):
    return " ".join(struct.pack(">d", float(number)).hex() for number in numbers)


def record(out, seed, choose):
    env = gymnasium.make("CartPole-v1")
    print("E CartPole-v1", seed, file=out)
    obs, _ = env.reset(seed=seed)
    print("R", bits(env.unwrapped.state), "|", bits(obs), file=out)
    for _ in range(STEPS):
        action = choose(obs)
        obs, reward, terminated, truncated, _ = env.step(action)
        print("S", action, bits(env.unwrapped.state), "|", bits(obs), "|", bits([reward]),
              int(terminated), int(truncated), file=out)
        if terminated or truncated:
            obs, _ = env.reset()
            print("R", bits(env.unwrapped.state), "|", bits(obs), file=out)


def main():
    actions = numpy.random.default_rng(1)
    with open(sys.argv[1], "w", encoding="ascii") as out:
        for seed in range(100, 110):
            record(out, seed, lambda obs: int(actions.integers(2)))
        for seed in (2**32 - 1, 2**40 + 3):
            record(out, seed, lambda obs: int(obs[2] + 0.5 * obs[3] + 0.05 * obs[1] > 0))
    print(f"recorded Gymnasium {gymnasium.__version__} with NumPy {numpy.__version__}")


main()
