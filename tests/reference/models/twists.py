"""Wrong readings of a model, to prove that the cases tell them from the right one.

A Twist changes the config, a function of parts.py or families.py, or the tensors. The case's numbers
must then differ.
"""

import contextlib
import copy
import dataclasses
import unittest.mock

import numpy as np
import torch

import families
import parts


@dataclasses.dataclass
class Twist:
    name: str
    config: dict = dataclasses.field(default_factory=dict)
    patches: tuple = ()  # (module, function's name, what it becomes)
    tensors: object = None  # {name: array} to the same
    types: bool = False  # True: without token types
    least: float = 1e-2  # the least change of a number of attention or output

    def run(self, config, tensors, ids, types):
        config = copy.deepcopy(config)
        inner = config.get("text_config", config)
        for key, value in self.config.items():
            if value is REMOVED:
                del inner[key]
            else:
                inner[key] = value
        with contextlib.ExitStack() as stack:
            for module, name, becomes in self.patches:
                stack.enter_context(unittest.mock.patch.object(module, name, becomes))
            changed = self.tensors(dict(tensors)) if self.tensors else tensors
            return families.run(config, changed, ids, None if self.types else types)


REMOVED = object()


def setting(name, least=1e-2, **changes):
    """The config says otherwise."""
    return Twist(name, config=changes, least=least)


def patched(name, *patches, least=1e-2):
    return Twist(name, patches=patches, least=least)


def without(pattern):
    """The tensors whose names hold the pattern do nothing: biases are 0, norms are 1 (or 0 before the 1 is added)."""

    def change(tensors):
        for key, value in tensors.items():
            if pattern in key:
                tensors[key] = value * 0 + (1 if "norm" in key and key.endswith("weight") else 0)
        return tensors

    return Twist(f"no {pattern}", tensors=change)


def divided(ending, by):
    return lambda tensors: {k: v / by if k.endswith(ending) else v for k, v in tensors.items()}


def halves_swapped(ending):
    def swap(array):
        half = array.shape[0] // 2
        return np.concatenate([array[half:], array[:half]])

    return lambda tensors: {k: swap(v) if k.endswith(ending) else v for k, v in tensors.items()}


def transposed(*endings):
    def change(tensors):
        return {k: v.T if k.endswith(endings) and v.shape[0] == v.shape[1] else v for k, v in tensors.items()}

    return Twist("transposed " + endings[0], tensors=change)


def rotate_neighbours(x, frequencies, factor=1.0):
    """GPT-J's pairing: feature 2 i with 2 i + 1."""
    half, rest = len(frequencies), x[..., 2 * len(frequencies) :]
    paired = torch.cat([x[..., 0 : 2 * half : 2], x[..., 1 : 2 * half : 2], rest], dim=-1)
    turned = ROTATE(paired, frequencies, factor)
    both = torch.stack([turned[..., :half], turned[..., half : 2 * half]], dim=-1).flatten(-2)
    return torch.cat([both, rest], dim=-1)


def rms_then_one_plus(x, weights, name, eps, plus=0.0):
    return RMS_NORM(x, weights, name, eps, 1.0 - plus)


class NormAfterRotation:
    """Per-head norms of q and k after the rotation instead of before it."""

    def __init__(self):
        self.waiting = []

    def rms_norm(self, x, weights, name, eps, plus=0.0):
        if not name.endswith(("q_norm", "k_norm")):
            return RMS_NORM(x, weights, name, eps, plus)
        self.waiting.append((weights, name, eps, plus))
        return x

    def rotate(self, x, frequencies, factor=1.0):
        return RMS_NORM(ROTATE(x, frequencies, factor), *self.waiting.pop(0))


ROTATE, RMS_NORM, VISIBLE, ROPE = parts.rotate, parts.rms_norm, parts.visible, parts.rope_frequencies

NEIGHBOURS = patched("RoPE pairs neighbours", (parts, "rotate", rotate_neighbours))
NO_ROPE = patched("no RoPE", (parts, "rotate", lambda x, frequencies, factor=1.0: x))
TILED = patched(
    "KV heads tiled", (parts, "share_heads", lambda x, n: x.repeat(n // x.shape[0], 1, 1))
)
WIDER = patched(
    "window one wider",
    (parts, "visible", lambda n, causal=True, window=None: VISIBLE(n, causal, window + 1 if window else None)),
)
NO_WINDOW = patched(
    "no window", (parts, "visible", lambda n, causal=True, window=None: VISIBLE(n, causal, None))
)
CAUSAL = patched("causal", (parts, "visible", lambda n, causal=True, window=None: VISIBLE(n, True)))
NO_ROPE_FACTOR = patched(
    "cos and sin unscaled", (parts, "rope_frequencies", lambda *a, **k: (ROPE(*a, **k)[0], 1.0))
)
QKV_BY_PART = patched(
    "q, k, v not by head",
    (families, "split_fused_by_head", lambda qkv, h: [parts.split_heads(p, h) for p in qkv.chunk(3, dim=-1)]),
)
late = NormAfterRotation()
LATE_NORM = patched("q/k norm after RoPE", (parts, "rms_norm", late.rms_norm), (parts, "rotate", late.rotate))
PLUS_ONE = patched("norm by w, not 1 + w", (parts, "rms_norm", rms_then_one_plus))
NO_TYPES = Twist("no token types", types=True)
