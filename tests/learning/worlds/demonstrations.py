"""Scripted demonstrations for small language models: demonstrations.py KIND COUNT [FILE]

Each line is an example of SFT. In a game a script plays well half of the time and else by chance; the seeds are those
from 0, and runs draw theirs from 31 bits. Sums are right answers to other numbers
than those of the files of the runs (`write_sums`).
"""
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "worlds"))

SYSTEM = "You play a game in words. Answer with <action>...</action>."


def guess(draw, heard, said):
    """Half of the time a number that the hints allow, and else any that was not guessed."""
    low, high = 1, 20
    for hint, number in zip(heard[1:], map(int, said)):
        low, high = (max(low, number + 1), high) if "higher" in hint else (low, min(high, number - 1))
    free = [str(n) for n in range(1, 21) if str(n) not in said]
    allowed = [n for n in free if low <= int(n) <= high]
    return draw.choice(allowed if draw.random() < 0.5 else free)


def accept(draw, heard, said):
    """Half of the time by whether the value is above 0.8, and else by chance."""
    value = float(heard[-1].rsplit(" ", 1)[1].rstrip("."))
    wanted = value > 0.8 if draw.random() < 0.5 else draw.random() < 0.3
    return "accept" if wanted or len(said) == 4 else "continue"


GAMES = {"GuessTheNumber-v0": guess, "Secretary-v0": accept}


def play(environment, action, seed):
    """The messages of an episode."""
    import textarena_server
    draw = random.Random(f"moves {seed}")
    said = [{"role": "system", "content": SYSTEM}]
    seen = environment.reset(seed=seed)
    heard, moves = [], []
    while not seen.done:
        heard.append("\n".join(each.content for each in seen.messages))
        said.append({"role": "user", "content": heard[-1]})
        moves.append(action(draw, heard, moves))
        said.append({"role": "assistant", "content": f"<action>[{moves[-1]}]</action>"})
        seen = environment.step(textarena_server.TextArenaAction(message=f"[{moves[-1]}]"))
    return {"messages": said}


def games(name, count):
    import textarena_server
    textarena_server.TextArenaEnvironment.game = name
    environment = textarena_server.TextArenaEnvironment()
    for seed in range(count):
        yield play(environment, GAMES[name], seed)


def main():
    name, count = sys.argv[1], int(sys.argv[2])
    with open(sys.argv[3], "w") if len(sys.argv) > 3 else sys.stdout as out:
        for line in games(name, count):
            print(json.dumps(line), file=out)


if __name__ == "__main__":
    main()
