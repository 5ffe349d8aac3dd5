#!/usr/bin/env python3
"""Writes lib/attnviz/color/published_colormaps.h, and prints what colormap_test.cpp expects.

    apt-get install python3-matplotlib && /usr/bin/python3 make.py && clang-format -i HEADER
"""
import pathlib

import matplotlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
MAPS = ("viridis", "magma", "inferno", "plasma", "cividis")

HEAD = """// The published tables of colour maps. Written by tests/reference/color/make.py from matplotlib's.
#pragma once

#include <array>
#include <cstdint>

namespace attnviz {

/// From the low end to the high one, 0xRRGGBB, rounded to 8 bits.
///
/// Source  viridis, magma, inferno, plasma: Stefan van der Walt and Nathaniel Smith 2015, CC0.
///         cividis: Jamie Nuñez, Christopher Anderton and Ryan Renslow 2018, CC0.
using PublishedColormap = std::array<std::uint32_t, 256>;

"""


def checksum(colors):
    """32-bit FNV-1a over the colours, each as one number."""
    value = 0x811C9DC5
    for color in colors:
        value = (value ^ color) * 0x01000193 & 0xFFFFFFFF
    return value


text = HEAD
for name in MAPS:
    rows = [[round(channel * 255) for channel in color]
            for color in matplotlib.colormaps[name].colors]
    colors = [red << 16 | green << 8 | blue for red, green, blue in rows]
    assert len(colors) == 256
    entries = ", ".join(f"0x{color:06X}" for color in colors)
    text += f"inline constexpr PublishedColormap k{name.capitalize()} = {{{entries}}};\n"
    print(f'{{"{name}", 0x{colors[64]:06X}, 0x{colors[128]:06X}, 0x{checksum(colors):08X}}},')
text += "\n}  // namespace attnviz\n"
(ROOT / "lib/attnviz/color/published_colormaps.h").write_text(text)
