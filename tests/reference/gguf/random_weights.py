"""Random weights of a given deviation, stored in any type: random bits under scales that make them fit.

Quantising real numbers well is not needed here: any blocks are somebody's weights.
"""

import numpy as np

import quants

# dmin is that many d: it takes away the mean of the quants, whose scales and mins are made equal.
MEANS = {"Q2_K": 1.5, "Q4_K": 7.5, "Q5_K": 15.5, "Q4_1": -7.5, "Q5_1": -15.5}


def set_scales(kind, blocks, d):
    if kind == "MXFP4":
        blocks["e"] = np.clip(np.rint(np.log2(d)) + 127, 0, 254)
    elif kind == "IQ1_M":
        halves = d.astype("<f2").view("<u2").astype("<u4")
        blocks["scales"] = blocks["scales"] & 0x0FFF | (halves[:, None] >> 4 * np.arange(4) & 15) << 12
    else:
        blocks["d"] = d
        if kind in MEANS:
            blocks["m" if kind in ("Q4_1", "Q5_1") else "dmin"] = d * MEANS[kind]


def equal_mins(kind, blocks):
    if kind == "Q2_K":
        blocks["scales"] = (blocks["scales"] & 15) * 17
    if kind in ("Q4_K", "Q5_K"):
        blocks["scales"][:, 4:8] = blocks["scales"][:, 0:4]
        blocks["scales"][:, 8:12] = (blocks["scales"][:, 8:12] & 15) * 17


def unit_deviation(kind):
    """The deviation of random bits with a scale of 1."""
    sample = np.frombuffer(np.random.default_rng(1).bytes(512 * quants.TYPES[kind].bytes), quants.TYPES[kind].layout)
    sample = sample.copy()
    equal_mins(kind, sample)
    set_scales(kind, sample, np.ones(len(sample)))
    return float(quants.TYPES[kind].numbers(sample).astype("f8").std())


def matrix(kind, shape, deviation, random):
    """The bytes of a tensor; scales differ by up to three times among blocks."""
    n = int(np.prod(shape))
    if quants.TYPES[kind].block == 1:
        values = random.standard_normal(n) * deviation
        bits = values.astype("<f4").view("<u4")
        kinds = {"F32": "<f4", "F16": "<f2"}
        return ((bits + 0x8000 >> 16).astype("<u2") if kind == "BF16" else values.astype(kinds[kind])).tobytes()
    n_blocks = n // quants.TYPES[kind].block
    blocks = np.frombuffer(bytearray(random.bytes(n_blocks * quants.TYPES[kind].bytes)), quants.TYPES[kind].layout)
    equal_mins(kind, blocks)
    set_scales(kind, blocks, deviation / unit_deviation(kind) * random.uniform(0.5, 1.5, n_blocks))
    return blocks.tobytes()
