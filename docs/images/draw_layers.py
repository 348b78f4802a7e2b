#!/usr/bin/python3
"""Draws the layers and the folders that matter: draw_layers.py SVG"""
import sys

from drawing import BLUE, GRID, GREY, HEAD, INK, PALE, SMALL, SOFT_INK, TEXT, WHITE, Picture

# A layer: its name, what it is, and its folders. A folder that begins with "+" has what a program of a user uses.
LAYERS = [
    ("examples, deploy", ["what you write and run;", "it sees every layer"], [
        ("+your program", "roles, worlds, loops"), ("+examples/", "short programs"),
        ("+deploy/troupe/", "the command troupe"), ("deploy/", "Compose, Kubernetes")]),
    ("algorithms", ["how agents learn"], [
        ("+on_policy/", "PPO, A2C, REINFORCE"), ("+off_policy/", "DQN, SAC, TD3, DDPG"),
        ("+language_models/", "GRPO, SFT"), ("+loops/", "sync, async, evaluation"),
        ("+run/", "one training, callbacks"), ("+program/", "a command of your own"),
        ("learner/", "what learners share"), ("losses/", "functions of tensors")]),
    ("actors", ["the roles of reinforcement", "learning, and what they", "compute with"], [
        ("+environments/", "the interface, wrappers"), ("+worlds/", "CartPole and others"),
        ("+policy/", "acts with a network"), ("+trainer/", "holds a learner"),
        ("+replay/", "experience, staleness"), ("+weights/", "versions of weights"),
        ("+evaluator/", "how good weights are"), ("+recorder/", "the files of a run"),
        ("+llm/", "models, tokens, texts"), ("+openenv/", "client and server"),
        ("+text/, reward/", "episodes and rewards"), ("+networks/", "models and their files"),
        ("+data/", "data sets, JSON Lines"), ("checkpoint/", "saved state"),
        ("collective/", "gradients of ranks"), ("kernels/", "products, activations")]),
    ("runtime", ["actors, services and calls;", "it knows nothing of", "reinforcement learning"], [
        ("+system/", "serves roles, runs all"), ("+service/", "route, fanout, session"),
        ("+coroutine/", "task, sleep, channel"), ("+config/", "options and errors"),
        ("+metrics/", "for Prometheus"), ("+trace/", "for Perfetto"),
        ("+wire/", "values as bytes"), ("+base/", "errors, logs"),
        ("process/", "child processes"), ("cluster/", "other machines"),
        ("actor/", "mailboxes, threads"), ("net/", "sockets, timers")]),
]
WIDTH, LEFT, NAMES, GAP, COLUMNS, CHIP, ROW = 1000, 24, 196, 8, 4, 179, 46


def draw():
    rows = sum((len(folders) + COLUMNS - 1) // COLUMNS for _, _, folders in LAYERS)
    height = 92 + rows * ROW + len(LAYERS) * (24 + 26) - 26 + 20
    p = Picture(WIDTH, height, "The layers of Troupe",
                "The layers of Troupe: examples and deploy use algorithms, which use actors, which use runtime")
    p.rect(LEFT, 54, 14, 14, PALE[BLUE], BLUE, radius=3)
    p.text(LEFT + 22, 66, "used by your program", TEXT, SOFT_INK)
    p.rect(LEFT + 200, 54, 14, 14, WHITE, SOFT_INK, radius=3)
    p.text(LEFT + 222, 66, "serves the others", TEXT, SOFT_INK)
    p.arrow((LEFT + 372, 61), (LEFT + 406, 61), colour=INK)
    p.text(LEFT + 414, 66, "includes, in this direction alone", TEXT, SOFT_INK)
    y = 84
    for number, (name, meaning, folders) in enumerate(LAYERS):
        tall = (len(folders) + COLUMNS - 1) // COLUMNS * ROW + 24 - (ROW - 38)
        p.rect(LEFT, y, WIDTH - 2 * LEFT, tall, GREY, GRID, radius=8)
        middle = y + tall / 2 - 8 * len(meaning) + 5
        p.text(LEFT + 14, middle, name + ("/" if "," not in name else ""), HEAD + 1, INK, bold=True)
        p.lines(LEFT + 14, middle + 18, meaning, SMALL, SOFT_INK, within=NAMES - 22)
        for i, (folder, what) in enumerate(folders):
            used = folder.startswith("+")
            x = LEFT + NAMES + i % COLUMNS * (CHIP + GAP)
            top = y + 12 + i // COLUMNS * ROW
            p.rect(x, top, CHIP, 38, PALE[BLUE] if used else WHITE, BLUE if used else SOFT_INK, line=1, radius=5)
            p.text(x + 10, top + 16, folder.lstrip("+"), TEXT, INK, bold=True, within=CHIP - 16)
            p.text(x + 10, top + 31, what, SMALL, SOFT_INK, within=CHIP - 16)
        y += tall
        if number + 1 < len(LAYERS):
            p.arrow((WIDTH / 2, y + 3), (WIDTH / 2, y + 24), colour=INK, line=2)
            y += 26
    p.height = y + 20
    return p


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    draw().save(sys.argv[1])
