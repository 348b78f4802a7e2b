"""What all pictures in this folder share: font, colours, line widths, and shapes of SVG.

The colours and sizes are those of the learning curves that the program draws (actors/recorder/learning_curve.cpp).
A picture has a white background of its own, so it is legible on light and on dark pages. A text that would leave its
place is an error, because nobody sees such a text until the picture is looked at.
"""
from xml.sax.saxutils import escape

FONT = "DejaVu Sans, Verdana, sans-serif"
MONO = "DejaVu Sans Mono, Menlo, Consolas, monospace"

WHITE, INK, SOFT_INK, GRID, GREY = "#ffffff", "#21262f", "#5d6570", "#e8ebf0", "#f4f5f7"
BLUE, ORANGE, GREEN, RED, VIOLET = "#1f61c7", "#b85a00", "#1a8554", "#c0343f", "#7a4bb5"
PALE = {BLUE: "#e4edfa", ORANGE: "#fdecd9", GREEN: "#e0f2e8", RED: "#fae3e5", VIOLET: "#efe8f8",
        SOFT_INK: "#eceef1", INK: "#e8ebf0"}
THIN, LINE, THICK = 1, 1.5, 2.4
TITLE, HEAD, TEXT, SMALL = 18, 14, 12.5, 11.5

# Widths of the letters from " " to "~" in thousandths of the size: DejaVu Sans, which is wider than most.
WIDTHS = [318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636,
          636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656,
          557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613,
          635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818,
          592, 592, 525, 636, 337, 636, 838]


def width_of(words, size, bold=False, mono=False):
    if mono:
        return 0.602 * size * len(words)
    letters = (WIDTHS[ord(c) - 32] if 32 <= ord(c) < 127 else 838 for c in words)
    return sum(letters) * size / 1000 * (1.12 if bold else 1)


class Picture:
    """An SVG picture. Coordinates are pixels from the upper left corner."""

    def __init__(self, width, height, title, description):
        self.width, self.height, self.description = width, height, description
        self.shapes, self.markers = [], set()
        if title:
            self.text(24, 36, title, TITLE, bold=True)

    def add(self, shape):
        self.shapes.append(shape)

    def text(self, x, y, words, size=TEXT, colour=INK, anchor="start", bold=False, mono=False, within=None, turn=None):
        """Writes one line with its baseline at y. `within` is the width that it may take."""
        wide = width_of(words, size, bold, mono)
        left = x - {"start": 0, "middle": 0.5, "end": 1}[anchor] * wide
        if turn is None and (left < 2 or left + wide > self.width - 2):
            raise ValueError(f"'{words}' leaves the picture: {left:.0f} to {left + wide:.0f}")
        if within is not None and wide > within + 0.5:
            raise ValueError(f"'{words}' is {wide:.0f} wide, and has {within:.0f}")
        more = f' text-anchor="{anchor}"' if anchor != "start" else ""
        more += ' font-weight="bold"' if bold else ""
        more += f' font-family="{MONO}" xml:space="preserve"' if mono else ""
        more += f' transform="rotate({turn} {x} {y})"' if turn is not None else ""
        self.add(f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{colour}"{more}>{escape(words)}</text>')

    def lines(self, x, y, lines, size=TEXT, colour=INK, step=None, **more):
        """Writes lines below each other, the first with its baseline at y."""
        for i, words in enumerate(lines):
            self.text(x, y + i * (step or size * 1.4), words, size, colour, **more)

    def rect(self, x, y, width, height, fill=WHITE, stroke=None, line=LINE, radius=6, dashed=False):
        more = f' stroke="{stroke}" stroke-width="{line}"' if stroke else ""
        more += ' stroke-dasharray="6 4"' if dashed else ""
        self.add(f'<rect x="{x:.5g}" y="{y:.5g}" width="{width:.5g}" height="{height:.5g}" rx="{radius}" '
                 f'fill="{fill}"{more}/>')

    def box(self, x, y, width, height, head=None, lines=(), colour=SOFT_INK, fill=None, size=SMALL, mono_head=False,
            ink=SOFT_INK):
        """A box with a bold headline in its colour and lines below it."""
        self.rect(x, y, width, height, fill or PALE[colour], colour)
        at = y + 20
        if head:
            self.text(x + 12, at, head, TEXT if mono_head else HEAD, INK, bold=not mono_head, mono=mono_head,
                      within=width - 20)
            at += 19
        for words in lines:
            self.text(x + 12, at, words, size, INK if ink == INK else SOFT_INK, within=width - 18)
            at += size * 1.42
        if lines and at - size * 1.42 + 4 > y + height:
            raise ValueError(f"the lines of '{head}' leave their box")

    def line(self, points, colour=SOFT_INK, line=LINE, dashed=False, arrow=False):
        """Draws straight lines from point to point, with an arrow at the end if asked for."""
        path = "M" + "L".join(f"{x:.5g} {y:.5g}" for x, y in points)
        more = ' stroke-dasharray="6 4"' if dashed else ""
        if arrow:
            self.markers.add(colour)
            more += f' marker-end="url(#end{colour[1:]})"'
        self.add(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{line}" stroke-linejoin="round"'
                 f'{more}/>')

    def arrow(self, *points, colour=INK, line=LINE, dashed=False):
        self.line(points, colour, line, dashed, arrow=True)

    def badge(self, x, y, words, colour=BLUE, radius=10):
        """A disc with a number or a letter, which a legend explains."""
        self.add(f'<circle cx="{x:g}" cy="{y:g}" r="{radius}" fill="{colour}" stroke="{WHITE}" stroke-width="{LINE}"/>')
        self.text(x, y + 4.2, words, TEXT, WHITE, "middle", bold=True)

    def cross(self, x, y, colour=RED, size=7):
        self.line([(x - size, y - size), (x + size, y + size)], colour, THICK)
        self.line([(x - size, y + size), (x + size, y - size)], colour, THICK)

    def svg(self):
        markers = "".join(
            f'<marker id="end{c[1:]}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0L10 5L0 10z" fill="{c}"/></marker>' for c in sorted(self.markers))
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" font-family="{FONT}" role="img">',
            f"<title>{escape(self.description)}</title>",
            f"<defs>{markers}</defs>" if markers else "",
            f'<rect x="0.5" y="0.5" width="{self.width - 1}" height="{self.height - 1}" rx="8" fill="{WHITE}" '
            f'stroke="{GRID}"/>', *self.shapes, "</svg>\n"])

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg())
