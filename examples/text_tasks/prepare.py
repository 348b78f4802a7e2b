#!/usr/bin/env python3
"""Writes small datasets of text tasks: prepare.py --env echo --output DIR [--tasks 256] [--seed 0]

DIR gets train.jsonl and validation.jsonl, which actors/text reads (read_text_tasks). Each line is a
JSON object with "prompt" (messages), "env_name", "reset" (the options of the world's reset) and
"expected" if there is one right answer. The same seed gives the same files. --env all makes a folder
for each environment.
"""
import argparse
import json
import pathlib
import random

WORDS = "amber birch cedar delta ember fjord grove harbor island jasper".split()


def ask(text):
    return [{"role": "user", "content": text}]


def echo(draw):
    text = " ".join(draw.sample(WORDS, 3))
    return {"prompt": ask(f"Make the echo say: {text}"), "expected": text}


def tools(draw):
    text = " ".join(draw.sample(WORDS, 2))
    return {"prompt": ask(f"Call the tool echo_message with the message: {text}")}


def coding(draw):
    a, b = draw.randint(2, 99), draw.randint(2, 99)
    return {"prompt": ask(f"Write Python that prints {a} * {b}."), "expected": str(a * b)}


def openspiel(draw):
    return {"prompt": ask("Play a hand of blackjack. Win it."),
            "reset": {"seed": draw.randrange(2**31)}}


def textarena(draw):
    return {"prompt": ask("Play the game by its own rules."),
            "reset": {"seed": draw.randrange(2**31)}}


def atari(draw):
    return {"prompt": ask("Answer with the number of your next action."),
            "reset": {"seed": draw.randrange(2**31)}}


def sumo_rl(draw):
    return {"prompt": ask("Answer with the next phase of the traffic light."),
            "reset": {"seed": draw.randrange(2**31)}}


def finrl(draw):
    return {"prompt": ask("Answer with a list of one number from -1 to 1 for each stock."),
            "reset": {"seed": draw.randrange(2**31)}}


def connect4(draw):
    return {"prompt": ask("Answer with the column, 0 to 6, of your next stone.")}


ENVIRONMENTS = {f.__name__: f for f in
                (echo, tools, coding, openspiel, textarena, atari, sumo_rl, finrl, connect4)}


def write(path, name, count, draw):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(count):
            file.write(json.dumps({"env_name": name, **ENVIRONMENTS[name](draw)}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", choices=[*ENVIRONMENTS, "all"], required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--tasks", type=int, default=256, help="of training; a quarter more to validate")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.tasks < 4:
        parser.error(f"--tasks: expected at least 4, got {options.tasks}")
    for name in ENVIRONMENTS if options.env == "all" else [options.env]:
        draw = random.Random(f"{options.seed} {name}")
        folder = options.output / name if options.env == "all" else options.output
        write(folder / "train.jsonl", name, options.tasks, draw)
        write(folder / "validation.jsonl", name, options.tasks // 4, draw)


if __name__ == "__main__":
    main()
