"""Flies the installed Gymnasium's lunar landers and prints what came of it, one line for each case.

Usage: lunar_lander_reference.py EPISODES >tests/fixtures/gymnasium/lunar_lander.txt
Needs the packages gymnasium, box2d and pygame. `id wind policy episodes`, then mean and standard deviation of the
return, and of the length in steps; episode i is seeded with i. `id wind script`: the observation of a reset with
seed 42, the one 40 fixed actions later, and their return. lunar_lander_test.cpp flies the same.
"""
import sys
import warnings

import gymnasium
import numpy

warnings.filterwarnings("ignore")


def fly_down(obs):
    """How much the main engine and the side engines are wanted: a controller of height and of angle."""
    x, y, x_speed, y_speed, angle, spin, left_leg, right_leg = (float(o) for o in obs)
    if left_leg or right_leg:
        return -0.5 * y_speed, 0.0
    wanted_angle = min(max(0.5 * x + x_speed, -0.4), 0.4)
    return 0.5 * (0.55 * abs(x) - y) - 0.5 * y_speed, 0.5 * (wanted_angle - angle) - spin


def pilot(obs, continuous):
    lift, turn = fly_down(obs)
    if continuous:
        return numpy.clip([20 * lift - 1, -20 * turn], -1, 1).astype(numpy.float32)
    if lift > max(abs(turn), 0.05):
        return 2
    return 3 if turn < -0.05 else 1 if turn > 0.05 else 0


def random(actions, continuous):
    return actions.uniform(-1, 1, 2).astype(numpy.float32) if continuous else int(actions.integers(4))


def fly(name, wind, policy, episodes):
    continuous = "Continuous" in name
    env = gymnasium.make(name, enable_wind=wind)
    actions = numpy.random.default_rng(1)
    returns, lengths = [], []
    for seed in range(episodes):
        obs, _ = env.reset(seed=seed)
        total, length, over = 0.0, 0, False
        while not over:
            action = pilot(obs, continuous) if policy == "pilot" else random(actions, continuous)
            obs, reward, terminated, truncated, _ = env.step(action)
            total += reward
            length += 1
            over = terminated or truncated
        returns.append(total)
        lengths.append(length)
    print(name, int(wind), policy, episodes, *(f"{f(a):.3f}" for a in (returns, lengths)
                                               for f in (numpy.mean, lambda v: numpy.std(v, ddof=1))), flush=True)


def fly_script(name, wind):
    env = gymnasium.make(name, enable_wind=wind)
    first, _ = env.reset(seed=42)
    total = 0.0
    for t in range(40):
        throttles = numpy.array([(t % 5 - 2) / 2, (t % 3 - 1) * 0.75], dtype=numpy.float32)
        last, reward, *_ = env.step(throttles if "Continuous" in name else t % 4)
        total += reward
    print(name, int(wind), "script", *(f"{float(number):.7g}" for number in (*first, *last, total)))


def main():
    for wind in (False, True):
        for name in ("LunarLander-v3", "LunarLanderContinuous-v3"):
            fly_script(name, wind)
            for policy in ("random", "pilot"):
                fly(name, wind, policy, int(sys.argv[1]))


main()
