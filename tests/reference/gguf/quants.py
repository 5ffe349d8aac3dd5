"""What the tensor types of GGUF files mean: blocks of bytes to float32.

A type has a number in the file, a count of weights per block, a layout of the block (a NumPy type), and a
function from blocks to numbers. Every function computes in float32, in the order in which its comment has it,
so that results can be compared bit for bit. Nothing here is written for speed.

Fields of more than a byte are scales: halves, and the 16-bit numbers that hold scales in IQ4_XS and IQ1_M. In
big-endian files they alone are turned. Whatever else a function reads as wider numbers is little-endian in every file.

Names of fields: d, dmin  scales of the whole block, halves    scales, mins  small integers for parts of it
                 q…       the weights' bits                    signs         a bit each, 1 is negative
"""

import json
import pathlib

import numpy as np

FLOAT = np.float32


def bits(array, shift, count):
    """`count` bits from bit `shift` on, as int32."""
    return (array.astype(np.int64) >> shift & (1 << count) - 1).astype(np.int32)


def along(array, *parts):
    """The parts one after the other, each [blocks, …], flattened to [blocks, weights]."""
    return np.stack(parts, axis=1).reshape(len(array), -1)


def spread(scales, n):
    """Every scale [blocks, parts] for n weights."""
    return np.repeat(scales, n, axis=1)


def scale(b, name="d"):
    return b[name].astype(FLOAT)[:, None]


# -- Blocks of 32: one scale, nibbles; the low ones are the first half of the block.


def nibbles(b):
    return np.concatenate([bits(b["qs"], 0, 4), bits(b["qs"], 4, 4)], axis=1)


def words(b, name, kind):
    """Bytes as numbers, [blocks, numbers]."""
    return np.ascontiguousarray(b[name]).view(kind)


def fifth_bits(b):
    """Bit i of the 32-bit number qh belongs to weight i."""
    return bits(words(b, "qh", "<u4"), np.arange(32), 1) << 4


def q4_0(b):
    return (nibbles(b) - 8).astype(FLOAT) * scale(b)  # (q - 8) d


def q4_1(b):
    return nibbles(b).astype(FLOAT) * scale(b) + scale(b, "m")  # q d + m


def q5_0(b):
    return ((nibbles(b) | fifth_bits(b)) - 16).astype(FLOAT) * scale(b)  # (q - 16) d


def q5_1(b):
    return (nibbles(b) | fifth_bits(b)).astype(FLOAT) * scale(b) + scale(b, "m")  # q d + m


def q8_0(b):
    return b["qs"].astype(FLOAT) * scale(b)  # q d


# Sixteen levels, finer near zero.
NONLINEAR = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], FLOAT)


def iq4_nl(b):
    return scale(b) * NONLINEAR[nibbles(b)]


# The fp4 numbers (a sign, two bits of exponent, one of mantissa), doubled.
FP4 = np.array([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12], FLOAT)


def mxfp4(b):
    """The scale is a power of two, 2^(e - 127), halved since the levels are doubled."""
    return np.ldexp(FP4[nibbles(b)], b["e"].astype(np.int32)[:, None] - 128).astype(FLOAT)


# -- Blocks of 256 with scales of 16 or 32 weights ("K").


def two_bits(b):
    """Halves of 128 weights; in each the byte i holds weights i, i + 32, i + 64, i + 96, from the lowest bits on."""
    halves = b["qs"].reshape(-1, 2, 1, 32)
    return bits(halves, 2 * np.arange(4)[:, None], 2).reshape(-1, 256)


def q2_k(b):
    low, high = bits(b["scales"], 0, 4).astype(FLOAT), bits(b["scales"], 4, 4).astype(FLOAT)
    # (d scale) q - dmin min
    return spread(scale(b) * low, 16) * two_bits(b).astype(FLOAT) - spread(scale(b, "dmin") * high, 16)


def q3_k(b):
    """Scales of 6 bits: four from the first 8 bytes (low nibbles, then high), two from the last 4."""
    low = np.concatenate([bits(b["scales"][:, :8], 0, 4), bits(b["scales"][:, :8], 4, 4)], axis=1)
    high = along(b, *(bits(b["scales"][:, 8:], 2 * i, 2) for i in range(4)))
    scales = (low | high << 4) - 32
    third = along(b, *(bits(b["hmask"], i, 1) for i in range(8)))
    q = two_bits(b) - 4 * (1 - third)
    return spread(scale(b) * scales.astype(FLOAT), 16) * q.astype(FLOAT)  # (d scale) q


def scales_and_mins(b):
    """Eight of each, 6 bits, in 12 bytes: the last four borrow the upper bits of the first eight bytes."""
    first, second, third = b["scales"][:, 0:4], b["scales"][:, 4:8], b["scales"][:, 8:12]
    scales = np.concatenate([bits(first, 0, 6), bits(third, 0, 4) | bits(first, 6, 2) << 4], axis=1)
    mins = np.concatenate([bits(second, 0, 6), bits(third, 4, 4) | bits(second, 6, 2) << 4], axis=1)
    return scales.astype(FLOAT), mins.astype(FLOAT)


def nibbles_by_64(b):
    """Runs of 64 weights share 32 bytes: 32 low nibbles, then 32 high ones."""
    runs = b["qs"].reshape(-1, 4, 1, 32)
    return bits(runs, 4 * np.arange(2)[:, None], 4).reshape(-1, 256)


def q4_k(b):
    scales, mins = scales_and_mins(b)
    # (d scale) q - dmin min
    return spread(scale(b) * scales, 32) * nibbles_by_64(b).astype(FLOAT) - spread(scale(b, "dmin") * mins, 32)


def q5_k(b):
    scales, mins = scales_and_mins(b)
    q = nibbles_by_64(b) | along(b, *(bits(b["qh"], i, 1) for i in range(8))) << 4
    return spread(scale(b) * scales, 32) * q.astype(FLOAT) - spread(scale(b, "dmin") * mins, 32)


def q6_k(b):
    """Halves of 128 weights, with 64 bytes of nibbles (low ones, then high ones) and 32 bytes of upper bits."""
    low = bits(b["ql"].reshape(-1, 2, 1, 64), 4 * np.arange(2)[:, None], 4).reshape(-1, 256)
    high = bits(b["qh"].reshape(-1, 2, 1, 32), 2 * np.arange(4)[:, None], 2).reshape(-1, 256)
    q = (low | high << 4) - 32
    return spread(scale(b) * b["scales"].astype(FLOAT), 16) * q.astype(FLOAT)  # (d scale) q


def iq4_xs(b):
    """Eight scales of 6 bits: nibbles in scales_l, two more bits in scales_h."""
    low = bits(b["scales_l"][:, :, None], 4 * np.arange(2), 4).reshape(-1, 8)
    scales = (low | bits(b["scales_h"][:, None], 2 * np.arange(8), 2) << 4) - 32
    q = bits(b["qs"].reshape(-1, 8, 1, 16), 4 * np.arange(2)[:, None], 4).reshape(-1, 256)
    return spread(scale(b) * scales.astype(FLOAT), 32) * NONLINEAR[q]


# -- Three levels: -1, 0, 1.


def tq1_0(b):
    """Five weights a byte: byte / 256 is a fraction in base 3 whose next digit comes out on multiplying by 3."""

    def digits(data, n):
        data = data.astype(np.int32)
        return [((data * 3**i & 255) * 3 >> 8).reshape(len(data), -1) for i in range(n)]

    parts = digits(b["qs"][:, :32], 5) + digits(b["qs"][:, 32:], 5) + digits(b["qh"], 4)
    return (np.concatenate(parts, axis=1) - 1).astype(FLOAT) * scale(b)


def tq2_0(b):
    return (two_bits(b) - 1).astype(FLOAT) * scale(b)


# -- Codebooks: an index names 4 or 8 weights at once.


def read_codebooks(path=pathlib.Path(__file__).with_name("codebooks.json")):
    """{name: [entries, weights] float32}; each entry is in the file as a number in hexadecimal."""
    books = {}
    for name, book in json.loads(path.read_text()).items() if path.exists() else ():
        packed = np.array([int(entry, 16) for line in book["entries"] for entry in line.split()])
        digits = bits(packed[:, None], book["bits"] * np.arange(book["weights"]), book["bits"])
        books[name] = np.array(book["levels"], FLOAT)[digits]
    return books


CODEBOOKS = read_codebooks()


def negative(signs):
    """[blocks, bytes] to -1 or 1 for 8 weights a byte."""
    return 1 - 2 * bits(signs[:, :, None], np.arange(8), 1).reshape(len(signs), -1).astype(FLOAT)


def seven_signs(signs):
    """The eighth sign makes their number even."""
    parity = sum(bits(signs, i, 1) for i in range(7)) & 1
    return negative(signs | parity << 7)


# Each of these answers with: scales [blocks, weights], indices [blocks, entries], signs or shifts [blocks, weights].


def iq2_xxs_parts(b):
    """A run of 32 weights: four indices of 8 bits, four times seven signs, a scale of 4 bits."""
    runs = words(b, "qs", "<u4").reshape(-1, 8, 2)
    scales = scale(b) * (FLOAT(0.5) + bits(runs[:, :, 1], 28, 4).astype(FLOAT)) * FLOAT(0.25)
    indices = bits(runs[:, :, :1], 8 * np.arange(4), 8).reshape(-1, 32)
    signs = bits(runs[:, :, 1:], 7 * np.arange(4), 7).reshape(-1, 32)
    return spread(scales, 32), indices, seven_signs(signs)


def iq2_scales(b):
    scales = bits(b["scales"][:, :, None], [0, 4], 4).reshape(-1, 16)
    return scale(b) * (FLOAT(0.5) + scales.astype(FLOAT)) * FLOAT(0.25)


def iq2_xs_parts(b):
    pairs = words(b, "qs", "<u2")
    return spread(iq2_scales(b), 16), bits(pairs, 0, 9), seven_signs(bits(pairs, 9, 7))


def iq2_s_parts(b):
    high = bits(b["qh"][:, :, None], 2 * np.arange(4), 2).reshape(-1, 32)
    return spread(iq2_scales(b), 16), b["qs"] | high << 8, negative(b["signs"])


def iq3_xxs_parts(b):
    runs = words(b, "runs", "<u4")
    scales = scale(b) * (FLOAT(0.5) + bits(runs, 28, 4).astype(FLOAT)) * FLOAT(0.5)
    signs = bits(runs[:, :, None], 7 * np.arange(4), 7).reshape(-1, 32)
    return spread(scales, 32), b["qs"].astype(np.int32), seven_signs(signs)


def iq3_s_parts(b):
    scales = scale(b) * (1 + 2 * bits(b["scales"][:, :, None], [0, 4], 4).reshape(-1, 8)).astype(FLOAT)
    high = bits(b["qh"][:, :, None], np.arange(8), 1).reshape(-1, 64)
    return spread(scales, 32), b["qs"] | high << 8, negative(b["signs"])


EIGHTH = FLOAT(0.125)


def iq1_s_parts(b):
    """A run of 32 weights: four times three upper bits of an index, a scale of 3 bits, the shift's sign."""
    runs = words(b, "qh", "<u2")
    scales = scale(b) * (2 * bits(runs, 12, 3) + 1).astype(FLOAT)
    high = bits(runs[:, :, None], 3 * np.arange(4), 3).reshape(-1, 32)
    shifts = np.where(bits(runs, 15, 1), -EIGHTH, EIGHTH)
    return spread(scales, 32), b["qs"] | high << 8, spread(shifts, 32)


def iq1_m_parts(b):
    """The four 16-bit numbers hold four scales of 3 bits each, and in their upper nibbles together the half d."""
    half = sum(bits(b["scales"][:, i], 12, 4) << 4 * i for i in range(4))
    d = half.astype("<u2").view("<f2").astype(FLOAT)[:, None]
    scales = d * (2 * bits(b["scales"][:, :, None], 3 * np.arange(4), 3).reshape(-1, 16) + 1).astype(FLOAT)
    high = bits(b["qh"][:, :, None], [0, 4], 4).reshape(-1, 32)
    shifts = np.where(high & 8, -EIGHTH, EIGHTH)
    return spread(scales, 16), b["qs"] | (high & 7) << 8, spread(shifts, 8)


def signed(parts, book):
    """scale times entry times sign."""

    def numbers(b):
        scales, indices, signs = parts(b)
        return scales * CODEBOOKS[book][indices].reshape(len(b), -1) * signs

    return numbers


def shifted(parts):
    """scale times (entry + shift), for the codebook of -1, 0 and 1."""

    def numbers(b):
        scales, indices, shifts = parts(b)
        return scales * (CODEBOOKS["IQ1"][indices].reshape(len(b), -1) + shifts)

    return numbers


# -- The types.


class Type:
    def __init__(self, number, block, fields, numbers):
        self.number, self.block, self.numbers = number, block, numbers
        self.layout = np.dtype([field if isinstance(field, tuple) else (field, "<f2") for field in fields])

    @property
    def bytes(self):
        return self.layout.itemsize


def plain(number, kind):
    return Type(number, 1, [("x", kind)], lambda b: b["x"].astype(FLOAT)[:, None])


def bf16(b):
    return (b["x"].astype("<u4") << 16).view("<f4")[:, None]


TYPES = {
    "F32": plain(0, "<f4"),
    "F16": plain(1, "<f2"),
    "BF16": Type(30, 1, [("x", "<u2")], bf16),
    "F64": plain(28, "<f8"),
    "I8": plain(24, "i1"),
    "I16": plain(25, "<i2"),
    "I32": plain(26, "<i4"),
    "I64": plain(27, "<i8"),
    "Q4_0": Type(2, 32, ["d", ("qs", "u1", 16)], q4_0),
    "Q4_1": Type(3, 32, ["d", "m", ("qs", "u1", 16)], q4_1),
    "Q5_0": Type(6, 32, ["d", ("qh", "u1", 4), ("qs", "u1", 16)], q5_0),
    "Q5_1": Type(7, 32, ["d", "m", ("qh", "u1", 4), ("qs", "u1", 16)], q5_1),
    "Q8_0": Type(8, 32, ["d", ("qs", "i1", 32)], q8_0),
    "Q2_K": Type(10, 256, [("scales", "u1", 16), ("qs", "u1", 64), "d", "dmin"], q2_k),
    "Q3_K": Type(11, 256, [("hmask", "u1", 32), ("qs", "u1", 64), ("scales", "u1", 12), "d"], q3_k),
    "Q4_K": Type(12, 256, ["d", "dmin", ("scales", "u1", 12), ("qs", "u1", 128)], q4_k),
    "Q5_K": Type(13, 256, ["d", "dmin", ("scales", "u1", 12), ("qh", "u1", 32), ("qs", "u1", 128)], q5_k),
    "Q6_K": Type(14, 256, [("ql", "u1", 128), ("qh", "u1", 64), ("scales", "i1", 16), "d"], q6_k),
    "IQ4_NL": Type(20, 32, ["d", ("qs", "u1", 16)], iq4_nl),
    "IQ4_XS": Type(23, 256, ["d", ("scales_h", "<u2"), ("scales_l", "u1", 4), ("qs", "u1", 128)], iq4_xs),
    "IQ2_XXS": Type(16, 256, ["d", ("qs", "u1", 64)], signed(iq2_xxs_parts, "IQ2_XXS")),
    "IQ2_XS": Type(17, 256, ["d", ("qs", "u1", 64), ("scales", "u1", 8)], signed(iq2_xs_parts, "IQ2_XS")),
    "IQ2_S": Type(
        22,
        256,
        ["d", ("qs", "u1", 32), ("signs", "u1", 32), ("qh", "u1", 8), ("scales", "u1", 8)],
        signed(iq2_s_parts, "IQ2_S"),
    ),
    "IQ3_XXS": Type(18, 256, ["d", ("qs", "u1", 64), ("runs", "u1", 32)], signed(iq3_xxs_parts, "IQ3_XXS")),
    "IQ3_S": Type(
        21,
        256,
        ["d", ("qs", "u1", 64), ("qh", "u1", 8), ("signs", "u1", 32), ("scales", "u1", 4)],
        signed(iq3_s_parts, "IQ3_S"),
    ),
    "IQ1_S": Type(19, 256, ["d", ("qs", "u1", 32), ("qh", "u1", 16)], shifted(iq1_s_parts)),
    "IQ1_M": Type(29, 256, [("qs", "u1", 32), ("qh", "u1", 16), ("scales", "<u2", 4)], shifted(iq1_m_parts)),
    "TQ1_0": Type(34, 256, [("qs", "u1", 48), ("qh", "u1", 4), "d"], tq1_0),
    "TQ2_0": Type(35, 256, [("qs", "u1", 64), "d"], tq2_0),
    "MXFP4": Type(39, 32, [("e", "u1"), ("qs", "u1", 16)], mxfp4),
}
NAMES = {kind.number: name for name, kind in TYPES.items()}


def swapped(name, data):
    """Blocks in the other byte order."""
    layout = TYPES[name].layout
    return np.frombuffer(data, layout).astype(layout.newbyteorder("S")).tobytes()


def dequantise(name, data):
    """float32 of all weights, in the order of the file."""
    kind = TYPES[name]
    return kind.numbers(np.frombuffer(data, kind.layout)).astype("<f4").reshape(-1)
