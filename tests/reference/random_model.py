#!/usr/bin/env python3
"""Writes random_model.json: bits of random weights, computed with Python's exact integers.

Each value is the product of two floats, an odd integer over 2^24 and a bound. The product of two
24-bit significands fits Python's 53-bit floats exactly, so that packing it as a 32-bit float rounds
once, as the hardware does.
"""
import json
import math
import struct
import sys

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
QUERY, KEY, VALUE, OUTPUT, EMBEDDING = range(1, 6)


def mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def state(*words):
    result = 0
    for word in words:
        result = mix(result ^ mix((word + GOLDEN) & MASK))
    return result


def as_float(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def values(stream, count, variance):
    bound = as_float(math.sqrt(3 * variance))
    odd = [2 * (mix((stream + (i + 1) * GOLDEN) & MASK) >> 40) + 1 - 2**24 for i in range(count)]
    return [bits(x * 2.0**-24 * bound) for x in odd]


def fnv1a(data):
    result = 0xCBF29CE484222325
    for byte in data:
        result = ((result ^ byte) * 0x100000001B3) & MASK
    return result


def layer(seed, index, n_layers, n_heads, n_kv_heads, d_model, d_head, d_value):
    def matrix(purpose, head, rows, cols, variance):
        return values(state(seed, purpose, index, head), rows * cols, variance)

    heads = []
    for head in range(n_heads):
        shared = head // (n_heads // n_kv_heads)
        heads.append(
            {
                "W_Q": matrix(QUERY, head, d_model, d_head, 1 / d_model),
                "W_K": matrix(KEY, shared, d_model, d_head, 1 / d_model),
                "W_V": matrix(VALUE, shared, d_model, d_value, 1 / d_model),
            }
        )
    variance = 0.5 / (n_heads * d_value * n_layers)
    return {"heads": heads, "W_O": matrix(OUTPUT, 0, n_heads * d_value, d_model, variance)}


SHAPE = dict(n_layers=2, n_heads=4, n_kv_heads=2, d_model=5, d_head=3, d_value=2)

models = []
for seed in (0, 42, MASK):
    layers = [layer(seed, i, **SHAPE) for i in range(SHAPE["n_layers"])]
    embeddings = {
        piece: values(state(seed, EMBEDDING, fnv1a(piece.encode())), SHAPE["d_model"], 1.0)
        for piece in ("cat", "", "猫")
    }
    models.append({"seed": seed, "layers": layers, "embeddings": embeddings})
json.dump({"shape": SHAPE, "models": models}, sys.stdout, ensure_ascii=False)
print()
