#!/usr/bin/python3
"""Draws the way of weights from the trainer to the policies: draw_weights.py SVG"""
import sys

from drawing import (BLUE, GREEN, GRID, HEAD, INK, ORANGE, PALE, RED, SMALL, SOFT_INK, TEXT, THIN, VIOLET, WHITE,
                     Picture)

WIDTH, HEIGHT, LEFT, RIGHT = 1000, 512, 150, 976
LANES = {"trainer": 96, "store": 186, "policy 0": 276, "policy 1": 346}  # the upper edges
TALL = 44
COLOURS = {6: SOFT_INK, 7: BLUE, 8: GREEN, 9: VIOLET}


def draw():
    p = Picture(WIDTH, HEIGHT, "The way of weights from the trainer to the policies",
                "The trainer puts each new version of the weights into the weight store and gives it to every policy")
    p.text(24, 58, "Time runs from left to right. Each version has a colour.", TEXT, SOFT_INK)
    for name, words in (("trainer", ("Trainer", "learns")), ("store", ("Weight store", "keeps 3 versions")),
                        ("policy 0", ("Policy 0", "acts")), ("policy 1", ("Policy 1", "acts"))):
        y = LANES[name]
        p.text(24, y + 19, words[0], HEAD, INK, bold=True, within=LEFT - 30)
        p.text(24, y + 36, words[1], SMALL, SOFT_INK, within=LEFT - 30)
        p.line([(LEFT, y + TALL / 2), (RIGHT, y + TALL / 2)], GRID, THIN)

    def bar(lane, begin, end, version, words, dashed=False):
        y, colour = LANES[lane], COLOURS.get(version, RED)
        p.rect(begin, y, end - begin, TALL, WHITE if dashed else PALE[colour], colour, radius=4, dashed=dashed)
        p.text((begin + end) / 2, y + TALL / 2 + 4.5, words, SMALL, INK, "middle", within=end - begin - 4)

    # The trainer: an update, then its push.
    bar("trainer", 160, 300, 7, "train_step: 7")
    bar("trainer", 392, 532, 8, "train_step: 8")
    bar("trainer", 600, 668, 9, "train_step")
    bar("trainer", 684, 764, None, "restart", dashed=True)
    bar("trainer", 778, 892, 9, "train_step: 9")
    p.cross(676, LANES["trainer"] + TALL / 2)
    # The store: which versions it keeps.
    for begin, end, version, words in ((160, 316, 6, "4, 5, 6"), (316, 548, 7, "5, 6, 7"), (548, 908, 8, "6, 7, 8"),
                                       (908, 968, 9, "7, 8, 9")):
        bar("store", begin, end, version, words)
    # The policies: which version acts.
    for begin, end, version in ((160, 336, 6), (336, 568, 7), (568, 928, 8), (928, 968, 9)):
        bar("policy 0", begin, end, version, f"version {version}" if end - begin > 60 else str(version))
    bar("policy 1", 160, 336, 6, "version 6")
    bar("policy 1", 336, 478, 7, "version 7")
    bar("policy 1", 492, 622, None, "restart", dashed=True)
    bar("policy 1", 622, 928, 8, "version 8")
    bar("policy 1", 928, 968, 9, "9")
    p.cross(485, LANES["policy 1"] + TALL / 2)

    trainer, store, first, second = (LANES[n] for n in LANES)
    for version, done, put, given in ((7, 300, 316, 336), (8, 532, 548, 568), (9, 892, 908, 928)):
        colour = COLOURS[version]
        p.arrow((put, trainer + TALL / 2), (put, store - 1), colour=colour, line=2)
        p.line([(done, trainer + TALL / 2), (given, trainer + TALL / 2)], colour, 2)
        p.line([(given, trainer + TALL / 2), (given, store - 1)], colour, 2)
        p.line([(given, store + TALL + 1), (given, first - 12)], colour, 2)
        p.arrow((given, first - 12), (given, first - 1), colour=colour, line=2)
        if version != 8:
            p.arrow((given, first + TALL + 1), (given, second - 1), colour=colour, line=2)
    p.arrow((622, store + TALL + 1), (622, second - 1), colour=GREEN, line=2, dashed=True)
    p.arrow((724, store - 1), (724, trainer + TALL + 1), colour=GREEN, line=2, dashed=True)
    p.badge(297, 164, "1", INK)
    p.badge(354, 252, "2", INK)
    p.badge(485, 333, "3", INK)
    p.badge(640, 252, "4", INK)
    p.badge(742, 164, "5", INK)
    notes = [("1", "put: the new version goes to the store first. Its number is the count of updates."),
             ("2", "update: every policy gets it by a control message, which overtakes queued calls."),
             ("3", "A policy that dies during a push misses it. The push goes on with the others."),
             ("4", "A restarted policy catches up with the newest version of the store before it serves."),
             ("5", "A restarted trainer does the same, repeats the lost update, and starts its optimizer anew.")]
    for i, (number, words) in enumerate(notes):
        y = 420 + 18 * i
        p.badge(34, y - 4, number, INK, radius=8.5)
        p.text(52, y, words, TEXT, INK)
    return p


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    draw().save(sys.argv[1])
