"""Scripted demonstrations for small language models: demonstrations.py GAME COUNT [FILE]

Each line is an example of SFT, an episode of a game that a script plays badly. The seeds of the episodes count from 0. Runs
draw theirs from 31 bits.
"""
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "worlds"))

SYSTEM = "You play a game in words. Answer with <action>...</action>."


def gesture(draw, heard, said):
    """By chance, paper less often than the others."""
    return draw.choices(["rock", "paper", "scissors"], [9, 4, 7])[0]


def coin(draw, heard, said):
    """By chance, heads less often than tails. The opponent of textarena_server.py likes heads."""
    return draw.choices(["heads", "tails"], [4, 6])[0]


GAMES = {"IteratedRockPaperScissors-v0": gesture, "IteratedMatchingPennies-v0": coin}


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
