#!/usr/bin/env python3
"""Draws what a terminal shows as SVG: COLORTERM=truecolor attnviz … --color always | samples/terminal.py "COMMAND"

Colours are those of the escape sequences (24 bits, 256, or the 16 named ones); block elements are drawn as the rectangles that they are, so
that no font is asked for them. The sign of a space, U+2420, which terminals take from any font, is the U+2423 that more fonts have.
"""
import html
import re
import sys
import unicodedata

WIDTH, HEIGHT = 8.4, 18.0  # of a cell, px
MARGIN = 18
PAPER, INK, QUIET = "#16181d", "#e3e5e8", "#8b9099"
BASIC = "#16181d #cd3131 #0dbc79 #e5e510 #2472c8 #bc3fbc #11a8cd #e5e5e5".split()
BRIGHT = "#666666 #f14c4c #23d18b #f5f543 #3b8eea #d670d6 #29b8db #ffffff".split()
SEQUENCE = re.compile(r"\x1b\[([0-9;]*)m")
# x, y, width and height of the filled part, in shares of the cell.
BLOCKS = {"▀": (0, 0, 1, 0.5), "▄": (0, 0.5, 1, 0.5), "█": (0, 0, 1, 1)}
BLOCKS |= {block: (0, 0, (7 - i) / 8, 1) for i, block in enumerate("▉▊▋▌▍▎▏")}


def indexed(color):
    """A color of the 256: the 16 named ones, a cube of 6 x 6 x 6, and 24 grays."""
    if color < 16:
        return (BASIC + BRIGHT)[color]
    if color >= 232:
        return "#" + 3 * f"{8 + 10 * (color - 232):02x}"
    steps = [0, 95, 135, 175, 215, 255]
    return "#{:02x}{:02x}{:02x}".format(*(steps[(color - 16) // n % 6] for n in (36, 6, 1)))


def style_of(codes, style):
    """(ink, paper, bold) after the sequence with these codes."""
    ink, paper, bold = style
    rest = [int(code or 0) for code in codes.split(";")]
    while rest:
        code = rest.pop(0)
        if code == 0:
            ink, paper, bold = INK, None, False
        elif code == 1:
            bold = True
        elif code == 2:
            ink = QUIET
        elif code in (38, 48) and rest[:1] == [2]:
            color = "#{:02x}{:02x}{:02x}".format(*rest[1:4])
            ink, paper = (color, paper) if code == 38 else (ink, color)
            rest = rest[4:]
        elif code in (38, 48) and rest[:1] == [5]:
            color = indexed(rest[1])
            ink, paper = (color, paper) if code == 38 else (ink, color)
            rest = rest[2:]
        elif 30 <= code <= 37 or 90 <= code <= 97:
            ink = (BASIC if code < 90 else BRIGHT)[code % 10]
        elif 40 <= code <= 47 or 100 <= code <= 107:
            paper = (BASIC if code < 100 else BRIGHT)[code % 10]
    return ink, paper, bold


def cells(line):
    """The signs of a line with their columns, widths and styles."""
    style, column, found = (INK, None, False), 0, []
    for i, part in enumerate(SEQUENCE.split(line)):
        if i % 2:
            style = style_of(part, style)
            continue
        for sign in part:
            width = 2 if unicodedata.east_asian_width(sign) in "WF" else 1
            found.append((sign, column, width, style))
            column += width
    return found


def rectangle(x, y, width, height, color):
    return f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="{color}"/>'


def drawn(found, y):
    """A line as SVG: papers and blocks, then runs of text."""
    shapes, texts, run = [], [], None
    for sign, column, width, (ink, paper, bold) in found:
        x = MARGIN + column * WIDTH
        if paper:
            shapes.append(rectangle(x, y, width * WIDTH + 0.3, HEIGHT + 0.3, paper))
        if sign in BLOCKS:
            left, top, across, down = BLOCKS[sign]
            shapes.append(rectangle(x + left * WIDTH, y + top * HEIGHT, across * WIDTH + 0.3, down * HEIGHT + 0.3, ink))
        if sign in BLOCKS or sign == " ":
            run = None
        elif run and run[1:] == (column, ink, bold):
            texts[-1] = (*texts[-1][:1], texts[-1][1] + sign, *texts[-1][2:])
            run = (run[0], column + width, ink, bold)
        else:
            texts.append((x, sign, ink, bold))
            run = (column, column + width, ink, bold)
    for x, text, ink, bold in texts:
        length = WIDTH * sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)
        weight = ' font-weight="bold"' if bold else ""
        shapes.append(
            f'<text x="{x:.2f}" y="{y + 0.76 * HEIGHT:.2f}" fill="{ink}"{weight} '
            f'textLength="{length:.2f}">{html.escape(text.replace("␠", "␣"))}</text>'
        )
    return shapes


def main():
    lines = [cells(line) for line in sys.stdin.read().rstrip("\n").replace("\r", "").split("\n")]
    if len(sys.argv) > 1:
        prompt = (INK, None, True)
        lines = [[(sign, column, 1, prompt) for column, sign in enumerate("$ " + sys.argv[1])], [], *lines]
    columns = max((line[-1][1] + line[-1][2] for line in lines if line), default=1)
    width, height = 2 * MARGIN + columns * WIDTH, 2 * MARGIN + len(lines) * HEIGHT
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="DejaVu Sans Mono, monospace" font-size="14" '
        'xml:space="preserve">'
    )
    print(f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>')
    for row, line in enumerate(lines):
        print("\n".join(drawn(line, MARGIN + row * HEIGHT)))
    print("</svg>")


main()
