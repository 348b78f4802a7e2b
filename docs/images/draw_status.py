#!/usr/bin/python3
"""Draws a terminal with what `troupe status` has printed: draw_status.py TEXT SVG

A state other than "ready" is orange. The last line, which tells of the training, is broken where it is too long.
"""
import sys
import textwrap

from drawing import Picture

SIZE, STEP, LETTERS = 13, 20, 112
BACKGROUND, BAR, TEXT, SOFT, GREEN, ORANGE = "#1b2029", "#2b323e", "#e6e9ee", "#a3adba", "#6fd39b", "#f5a65b"


def draw(words):
    lines = []
    for line in words.rstrip("\n").split("\n"):
        lines += [line] if len(line) <= LETTERS else textwrap.wrap(
            line.strip(), LETTERS, initial_indent="  ", subsequent_indent="  ")
    lines = ["$ troupe status"] + lines
    width = 1000
    p = Picture(width, 58 + STEP * len(lines), None, "A terminal with the output of troupe status")
    p.rect(0.5, 0.5, width - 1, p.height - 1, BACKGROUND, BAR, radius=8)
    p.rect(1, 1, width - 2, 29, BAR, radius=8)
    p.text(width / 2, 20, "troupe status", 12.5, SOFT, "middle")
    for i, line in enumerate(lines):
        y = 54 + STEP * i
        cells = line.split()
        head = len(cells) > 1 and cells[:2] == ["service", "state"]
        p.text(24, y, line, SIZE, SOFT if head or i == 1 else TEXT, mono=True)
        if len(cells) > 2 and line.startswith("  ") and "/" in cells[2]:  # a service: its state stands out
            at = line.index(cells[1], len(cells[0]) + 2)
            p.rect(24 + 0.602 * SIZE * at - 1, y - 13, 0.602 * SIZE * len(cells[1]) + 3, 17, BACKGROUND, radius=0)
            p.text(24 + 0.602 * SIZE * at, y, cells[1], SIZE, GREEN if cells[1] == "ready" else ORANGE, mono=True)
    return p


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        draw(file.read()).save(sys.argv[2])
