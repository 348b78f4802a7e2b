#!/usr/bin/python3
"""Draws the learning curves of several algorithms: draw_learning_curves.py RUNS SVG

RUNS is a folder of runs, RUNS/ALGORITHM/ENVIRONMENT_NUMBER, as `troupe train --runs RUNS` makes it. Each run is a line
of its own: the mean return of the evaluations during its training, which are rows of its progress.csv.
"""
import csv
import sys
from pathlib import Path

from drawing import BLUE, GREEN, GRID, HEAD, INK, LINE, ORANGE, RED, SMALL, SOFT_INK, THIN, VIOLET, Picture

# A panel: algorithm, environment, colour, ticks, and the return at which the environment is solved.
POLES, TORQUES = [0, 100, 200, 300, 400, 500], [-1800, -1200, -600, 0]
PANELS = [("ppo", "CartPole-v1", BLUE, POLES, 475), ("a2c", "CartPole-v1", ORANGE, POLES, 475),
          ("dqn", "CartPole-v1", GREEN, POLES, 475), ("sac", "Pendulum-v1", VIOLET, TORQUES, None),
          ("td3", "Pendulum-v1", RED, TORQUES, None)]
WIDTH, HEIGHT, LEFT, PANEL_WIDTH, PANEL_HEIGHT, ACROSS, DOWN = 1000, 632, 92, 234, 180, 314, 284


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


def panel(p, left, top, runs, algorithm, environment, colour, ticks, solved):
    curves = [evaluations(run) for run in sorted((runs / algorithm).glob(f"{environment}_*"))
              if (run / "summary.json").exists()]
    last = max(step for curve in curves for step, _ in curve)
    right, bottom, low, high = left + PANEL_WIDTH, top + PANEL_HEIGHT, ticks[0], ticks[-1]

    def at(step, value):
        value = min(max(value, low), high)
        return left + PANEL_WIDTH * step / last, bottom - PANEL_HEIGHT * (value - low) / (high - low)

    p.text(left, top - 16, f"{algorithm.upper()} on {environment}", HEAD, INK, bold=True)
    p.text(right, top - 16, f"{len(curves)} run" + ("s" if len(curves) > 1 else ""), SMALL, SOFT_INK, "end")
    for value in ticks:
        y = at(0, value)[1]
        p.line([(left, y), (right, y)], GRID, THIN)
        p.text(left - 8, y + 4, f"{value:g}", SMALL, SOFT_INK, "end")
    p.line([(left, bottom), (right, bottom)], SOFT_INK, THIN)
    for i in range(3):
        x = left + PANEL_WIDTH * i / 2
        p.line([(x, bottom), (x, bottom + 5)], SOFT_INK, THIN)
        p.text(x, bottom + 20, short(round(last / 2000) * 1000 * i), SMALL, SOFT_INK, "middle")
    if solved:
        y = at(0, solved)[1]
        p.line([(left, y), (right, y)], SOFT_INK, THIN, dashed=True)
    for curve in curves:
        p.line([at(step, value) for step, value in curve], colour, LINE)
        for step, value in curve:
            x, y = at(step, value)
            p.add(f'<circle cx="{x:.5g}" cy="{y:.5g}" r="2.4" fill="{colour}"/>')


def draw(runs):
    p = Picture(WIDTH, HEIGHT, "Learning curves",
                "Learning curves of PPO, A2C and DQN on CartPole-v1, and of SAC and TD3 on Pendulum-v1")
    for i, of in enumerate(PANELS):
        panel(p, LEFT + i % 3 * ACROSS, 94 + i // 3 * DOWN, runs, *of)
    for row in range(2):
        p.text(36, 94 + row * DOWN + PANEL_HEIGHT / 2, "mean return of an evaluation", SMALL, INK, "middle", turn=-90)
        count = 3 if row == 0 else 2
        p.text(LEFT + ((count - 1) * ACROSS + PANEL_WIDTH) / 2, 94 + row * DOWN + PANEL_HEIGHT + 42,
               "environment steps", SMALL, INK, "middle")
    p.lines(LEFT + 2 * ACROSS - 28, 94 + DOWN + 20,
            ["Each line is one run.", "A dot is the mean of ten episodes, played", "during training "
             "with the likeliest actions.", "", "The dashed line is the return at which",
             "CartPole-v1 is solved, 475."],
            SMALL, SOFT_INK, step=19)
    return p


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    draw(Path(sys.argv[1])).save(sys.argv[2])
