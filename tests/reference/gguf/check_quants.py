#!/usr/bin/env python3
"""Compares quants.py, bit for bit, with what ggml itself made of the same blocks.

Usage: check_quants.py [--codebooks] FOLDER

FOLDER holds pairs of files for each type: NAME.bin, NAME.rand.bin (blocks) and NAME.f32, NAME.rand.f32 (numbers), and,
for types with a codebook, NAME.grid.bin and NAME.grid.f32, whose indices run through the whole codebook.
--codebooks first writes codebooks.json from the latter: an entry is what ggml's number is without scale and sign.
Exits 1 on a difference.
"""

import json
import pathlib
import sys

import numpy as np

import quants

BOOKS = {
    "IQ2_XXS": (quants.iq2_xxs_parts, [8, 25, 43], 8),
    "IQ2_XS": (quants.iq2_xs_parts, [8, 25, 43], 8),
    "IQ2_S": (quants.iq2_s_parts, [8, 25, 43], 8),
    "IQ3_XXS": (quants.iq3_xxs_parts, [4, 12, 20, 28, 36, 44, 52, 62], 4),
    "IQ3_S": (quants.iq3_s_parts, [1, 3, 5, 7, 9, 11, 13, 15], 4),
    "IQ1": (quants.iq1_s_parts, [-1, 0, 1], 8),
}


def derive(folder, name):
    """The codebook's entry in codebooks.json."""
    parts, levels, weights = BOOKS[name]
    kind = "IQ1_S" if name == "IQ1" else name
    blocks = np.frombuffer((folder / f"{kind}.grid.bin").read_bytes(), quants.TYPES[kind].layout)
    numbers = np.fromfile(folder / f"{kind}.grid.f32", "<f4").reshape(len(blocks), -1).astype("f8")
    scales, indices, signs = parts(blocks)
    values = numbers / scales - signs if name == "IQ1" else numbers / scales * signs
    entries = np.rint(values).reshape(-1, weights)
    assert np.allclose(entries, values.reshape(-1, weights), rtol=1e-6) and set(entries.flat) <= set(levels)
    assert sorted(indices.flat) == list(range(indices.size)), "each index is to occur once"
    width = int(np.ceil(np.log2(len(levels))))
    digits = np.searchsorted(levels, entries[np.argsort(indices, axis=None)])
    packed = [f"{number:0{width * weights // 4}x}" for number in (digits << width * np.arange(weights)).sum(1)]
    lines = [" ".join(packed[i : i + 16]) for i in range(0, len(packed), 16)]
    return {"levels": levels, "weights": weights, "bits": width, "entries": lines}


arguments = [argument for argument in sys.argv[1:] if argument != "--codebooks"]
if len(arguments) != 1 or arguments[0].startswith("-"):
    sys.exit(__doc__)
theirs = pathlib.Path(arguments[0])
if "--codebooks" in sys.argv:
    text = json.dumps({name: derive(theirs, name) for name in BOOKS}, indent=1)
    pathlib.Path(__file__).with_name("codebooks.json").write_text(text + "\n")
    quants.CODEBOOKS = quants.read_codebooks()
same = True
for name in quants.TYPES:
    for blocks in sorted(theirs.glob(f"{name}.bin")) + sorted(theirs.glob(f"{name}.*.bin")):
        ours = quants.dequantise(name, blocks.read_bytes())
        expected = np.fromfile(blocks.with_suffix(".f32"), "<f4")
        equal = ours.shape == expected.shape and np.array_equal(ours.view("<u4"), expected.view("<u4"))
        same &= equal
        print(f"{blocks.name:<18} {len(ours):>6} weights  {'same' if equal else 'DIFFERS'}")
sys.exit(0 if same else 1)
