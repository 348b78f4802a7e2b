#!/usr/bin/python3
"""Draws the learning curves of several algorithms: draw_learning_curves.py RUNS SVG

RUNS is a folder of runs, RUNS/ALGORITHM/ENVIRONMENT_NUMBER, as `troupe train --runs RUNS` makes it. Each run is a line
of its own: the mean return of the evaluations during its training, which are rows of its progress.csv.
"""
import csv
import sys
from pathlib import Path

from drawing import (BLUE, GREEN, GRID, HEAD, INK, LINE, ORANGE, SMALL, SOFT_INK, TEXT, THICK, THIN, VIOLET, Picture,
                     width_of)

# An environment: its ticks, the return at which it is solved, and its algorithms with their colours.
PANELS = [("CartPole-v1", [0, 100, 200, 300, 400, 500], 475, [("ppo", BLUE), ("a2c", ORANGE), ("dqn", GREEN)]),
          ("Pendulum-v1", [-1600, -1200, -800, -400, 0], None, [("sac", VIOLET), ("td3", ORANGE)])]
WIDTH, HEIGHT, TOP, BOTTOM = 1000, 420, 104, 356


def evaluations(run):
    """Steps and mean returns of the run's evaluations. That of the end, over more episodes, is left out."""
    found = []
    with open(run / "progress.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["eval/mean_reward"]:
                found.append((float(row["time/total_timesteps"]), float(row["eval/mean_reward"])))
    if len(found) > 1 and found[-1][0] == found[-2][0]:
        found.pop()
    return found


def short(number):
    return f"{number / 1000:g}k" if number >= 1000 else f"{number:g}"


def panel(p, left, right, runs, title, ticks, solved, algorithms):
    curves = [(name, colour, evaluations(run)) for name, colour in algorithms
              for run in sorted((runs / name).glob(f"{title}_*")) if (run / "summary.json").exists()]
    last = max(step for _, _, curve in curves for step, _ in curve)
    low, high = ticks[0], ticks[-1]

    def at(step, value):
        value = min(max(value, low), high)
        return left + (right - left) * step / last, BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low)

    p.text(left, 64, title, HEAD, INK, bold=True)
    x = left
    for name, colour in algorithms:
        count = sum(1 for curve in curves if curve[0] == name)
        words = f"{name.upper()}, {count} run" + ("s" if count > 1 else "")
        p.line([(x, 84), (x + 22, 84)], colour, THICK)
        p.text(x + 28, 88, words, SMALL, SOFT_INK)
        x += 28 + width_of(words, SMALL) + 16
    for value in ticks:
        y = at(0, value)[1]
        p.line([(left, y), (right, y)], GRID, THIN)
        p.text(left - 8, y + 4, f"{value:g}", SMALL, SOFT_INK, "end")
    p.line([(left, BOTTOM), (right, BOTTOM)], SOFT_INK, THIN)
    for i in range(5):
        x = left + (right - left) * i / 4
        p.line([(x, BOTTOM), (x, BOTTOM + 5)], SOFT_INK, THIN)
        p.text(x, BOTTOM + 20, short(round(last / 4000) * 1000 * i), SMALL, SOFT_INK, "middle")
    p.text((left + right) / 2, BOTTOM + 42, "environment steps", TEXT, INK, "middle")
    for _, colour, curve in curves:
        p.line([at(step, value) for step, value in curve], colour, THICK)
        for step, value in curve:
            x, y = at(step, value)
            p.add(f'<circle cx="{x:.5g}" cy="{y:.5g}" r="2.4" fill="{colour}"/>')
    if solved:
        y = at(0, solved)[1]
        p.line([(left, y), (right, y)], SOFT_INK, LINE, dashed=True)
        p.text(right, y + 16, f"solved at {solved}", SMALL, SOFT_INK, "end")


def draw(runs):
    p = Picture(WIDTH, HEIGHT, "Learning curves", "Learning curves of PPO, A2C and DQN on CartPole-v1, SAC and TD3 on "
                                                  "Pendulum-v1")
    panel(p, 92, 496, runs, *PANELS[0])
    panel(p, 584, 968, runs, *PANELS[1])
    middle = (TOP + BOTTOM) / 2
    p.text(36, middle, "mean return of an evaluation", TEXT, INK, "middle", turn=-90)
    return p


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    draw(Path(sys.argv[1])).save(sys.argv[2])
