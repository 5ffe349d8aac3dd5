#!/usr/bin/env python3
"""Writes quants/: for every type blocks of random bytes, and the numbers that quants.py makes of them.

Usage: make_quants.py [OUT]   OUT: quants beside this file by default

NAME.bin           the blocks, little-endian
NAME.big.bin       the same as in a big-endian file, where they differ
NAME.f32           their weights, float32, little-endian
NAME.codebook.bin  types with a codebook: blocks whose indices run through all of it, with scales for which the
NAME.codebook.i8   weights are integers: the codebook's own numbers, for IQ1 eight times these, plus 1 or minus 1

Scales are finite, so weights are; among them are 0, negative ones and halves too small for a full mantissa.
"""

import pathlib
import sys
import zlib

import numpy as np

import quants

HALVES = ("d", "dmin", "m")
# Zero, the smallest subnormal, a larger one, its negative, the smallest normal, 1, a large negative one, the largest.
EDGES = np.array([0x0000, 0x0001, 0x0155, 0x8155, 0x0400, 0x3C00, 0xF000, 0x7BFF], "<u2")
POWERS = np.array([0, 1, 2, 100, 127, 128, 200, 250], "u1")


def finite_halves(random, n):
    """The edges at random places among numbers of every size that a model's scales have."""
    values = np.exp2(random.uniform(-16, 4, n)) * random.choice([-1, 1], n)
    halves = values.astype("<f2").view("<u2")
    places = random.permutation(n)[: max(1, n // 2)]
    halves[places] = random.permutation(EDGES)[np.arange(len(places)) % len(EDGES)]
    return halves


def random_blocks(name, random):
    kind = quants.TYPES[name]
    n = {1: 64, 32: 16, 256: 4}[kind.block]
    blocks = np.frombuffer(random.bytes(n * kind.bytes), kind.layout).copy()
    for field in kind.layout.names:
        if field in HALVES:
            blocks[field] = finite_halves(random, n).view("<f2")
    if name == "MXFP4":
        blocks["e"][: len(POWERS)] = POWERS
        blocks["e"] = np.minimum(blocks["e"], 250)
    if name == "IQ1_M":
        halves = finite_halves(random, n).astype("<u4")
        nibbles = halves[:, None] >> 4 * np.arange(4) & 15
        blocks["scales"] = blocks["scales"] & 0x0FFF | nibbles << 12
    if kind.block == 1 and name in ("F16", "F32", "BF16", "F64"):
        edges = np.array([0.0, -0.0, 1.0, 1e-7, -6e-8, 3e-39, -65504.0, 0.1])
        small = np.concatenate([edges, random.standard_normal(n - len(edges))])
        if name == "BF16":
            blocks["x"] = small.astype("<f4").view("<u4") >> 16
        else:
            blocks["x"] = small
    return blocks


def codebook_blocks(name, random):
    """Signs are positive; of IQ1 the shifts are random. The scales are those that the docstring promises."""
    kind = quants.TYPES[name]
    weights = quants.CODEBOOKS[name if name[:3] != "IQ1" else "IQ1"]
    per_block = 256 // weights.shape[1]
    blocks = np.zeros(len(weights) // per_block, kind.layout)
    index = np.arange(len(weights)).reshape(-1, per_block)
    high = index >> 8
    if name == "IQ2_XXS":
        blocks["d"] = 8
        blocks["qs"].reshape(-1, 8, 8)[:, :, :4] = index.reshape(-1, 8, 4)
    elif name == "IQ2_XS":
        blocks["d"], blocks["qs"] = 8, index.astype("<u2").view("u1")
    elif name == "IQ2_S":
        blocks["d"], blocks["qs"] = 8, index & 255
        blocks["qh"] = (high.reshape(-1, 8, 4) << 2 * np.arange(4)).sum(2)
    elif name == "IQ3_XXS":
        blocks["d"], blocks["qs"] = 4, index
    elif name == "IQ3_S":
        blocks["d"], blocks["qs"] = 1, index & 255
        blocks["qh"] = (high.reshape(-1, 8, 8) << np.arange(8)).sum(2)
    elif name == "IQ1_S":
        blocks["d"], blocks["qs"] = 8, index & 255
        runs = (high.reshape(-1, 8, 4) << 3 * np.arange(4)).sum(2)
        runs |= random.integers(0, 2, runs.shape) << 15
        blocks["qh"] = runs.astype("<u2").view("u1")
    elif name == "IQ1_M":
        blocks["qs"] = index & 255
        high |= random.integers(0, 2, high.shape) << 3
        blocks["qh"] = (high.reshape(-1, 16, 2) << [0, 4]).sum(2)
        blocks["scales"] = int(np.float16(8).view("<u2")) >> 4 * np.arange(4) << 12 & 0xF000
    return blocks


if len(sys.argv) > 2 or sys.argv[-1].startswith("-"):
    sys.exit(__doc__)
out = pathlib.Path(sys.argv[1]) if len(sys.argv) == 2 else pathlib.Path(__file__).with_name("quants")
out.mkdir(parents=True, exist_ok=True)
for name in quants.TYPES:
    random = np.random.default_rng(zlib.crc32(name.encode()))
    data = random_blocks(name, random).tobytes()
    numbers = quants.dequantise(name, data)
    assert np.isfinite(numbers).all(), name
    (out / f"{name}.bin").write_bytes(data)
    (out / f"{name}.f32").write_bytes(numbers.tobytes())
    if quants.swapped(name, data) != data:
        (out / f"{name}.big.bin").write_bytes(quants.swapped(name, data))
    if name[:3] in ("IQ1", "IQ2", "IQ3"):
        data = codebook_blocks(name, random).tobytes()
        numbers = quants.dequantise(name, data)
        book = quants.CODEBOOKS["IQ1" if name[:3] == "IQ1" else name].reshape(-1)
        assert np.array_equal(np.rint(numbers / 8) if name[:3] == "IQ1" else numbers, book), name
        (out / f"{name}.codebook.bin").write_bytes(data)
        (out / f"{name}.codebook.i8").write_bytes(numbers.astype("i1").tobytes())
print(f"{sum(file.stat().st_size for file in out.iterdir()):,} bytes in {out.name}/")
