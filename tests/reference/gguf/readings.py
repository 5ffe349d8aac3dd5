"""Wrong readings of a GGUF file, to prove that the files tell them from the right one.

A reading is a function of (metadata, tensors) that gives other ones, or None where it means nothing; or, for what
from_gguf.py undoes, a function to put in another's place.
"""

import dataclasses
import re
import unittest.mock

import numpy as np

import families  # noqa: I001  from_gguf.py knows where it is
import from_gguf
import names
import quants


@dataclasses.dataclass
class Reading:
    name: str
    edit: object = None
    patch: tuple = ()  # (module, function's name, what it becomes)
    architectures: tuple = ()  # all, when empty

    def run(self, metadata, tensors, ids, types):
        """The numbers, or None."""
        if self.architectures and metadata["general.architecture"][1] not in self.architectures:
            return None
        if self.edit:
            edited = self.edit(dict(metadata), dict(tensors))
            return edited and from_gguf.run(*edited, ids, types)
        with unittest.mock.patch.object(*self.patch):
            return from_gguf.run(metadata, tensors, ids, types)


def architecture(metadata):
    return metadata["general.architecture"][1]


def without_key(ending):
    def edit(metadata, tensors):
        return metadata.pop(f"{architecture(metadata)}.{ending}", None) and (metadata, tensors)

    return edit


def with_key(ending, change):
    def edit(metadata, tensors):
        key = f"{architecture(metadata)}.{ending}"
        if key not in metadata or not metadata[key][1] and metadata[key][0] != "bool":
            return None
        metadata[key] = (metadata[key][0], change(metadata[key][1]))
        return metadata, tensors

    return edit


def without_tensors(pattern):
    def edit(metadata, tensors):
        rest = {name: tensor for name, tensor in tensors.items() if not re.search(pattern, name)}
        return len(rest) < len(tensors) and (metadata, rest)

    return edit


def with_tensors(pattern, change):
    """change: of a tensor's numbers; the type becomes F32."""

    def edit(metadata, tensors):
        for name, (kind, shape, raw) in tensors.items():
            if re.search(pattern, name):
                numbers = change(quants.dequantise(kind, raw).reshape(shape))
                tensors[name] = ("F32", shape, np.ascontiguousarray(numbers, "<f4").tobytes())
        return metadata, tensors

    return edit


def factors_exchanged(metadata, tensors):
    both = [f"rope_factors_{length}.weight" for length in ("long", "short")]
    if both[0] not in tensors:
        return None
    tensors[both[0]], tensors[both[1]] = tensors[both[1]], tensors[both[0]]
    return metadata, tensors


def another_base(metadata, tensors):
    """A single frequency is 1 whatever the base."""
    if metadata.get(f"{architecture(metadata)}.rope.dimension_count") == ("u32", 2):
        return None
    return with_key("rope.freq_base", lambda base: 11000.0 if base == 10000 else 10000.0)(metadata, tensors)


def local_base_is_global(metadata, tensors):
    key = f"{architecture(metadata)}.rope.freq_base"
    metadata[key + "_swa"] = metadata[key]
    return metadata, tensors


def halves_exchanged(array):
    return np.concatenate(np.split(array, 2)[::-1])


def untouched(rows, n_heads):
    return rows


def windows_exchanged(config):
    width = config["sliding_window"]
    return [None if window else width for window in WINDOWS(config)]


def transposed(array):
    return array.T if array.shape[0] == array.shape[-1] else array


WINDOWS = families.windows
GEMMA = ("gemma", "gemma2", "gemma3")

READINGS = [
    Reading("q and k not paired back", patch=(names, "pair_halves", untouched), architectures=("llama",)),
    Reading("q and k paired though they need not", with_tensors("attn_q.weight", lambda q: names.pair_halves(q, 2)),
            architectures=("qwen2", "qwen3", "gemma", "gemma2", "gemma3")),
    Reading("qkv not regrouped", patch=(names, "stack_by_head", untouched), architectures=("gptneox",)),
    Reading("up before gate", with_tensors("ffn_up", halves_exchanged), architectures=("phi3",)),
    Reading("matrices not turned", with_tensors("attn_output.weight", transposed), architectures=("gpt2",)),
    Reading("norms with another 1", with_tensors("norm", lambda w: w + 1), architectures=GEMMA),
    Reading("no biases", without_tensors("bias$"), architectures=("llama", "qwen2")),
    Reading("tied", without_tensors("^output.weight"), architectures=("llama", "phi3", "gpt2")),
    Reading("no rope_freqs", without_tensors("rope_freqs")),
    Reading("other rope factors", factors_exchanged),
    Reading("no attn_factor", without_key("rope.scaling.attn_factor")),
    Reading("no scaling of RoPE", without_key("rope.scaling.type")),
    Reading("another base", another_base),
    Reading("local base as global", local_base_is_global, architectures=("gemma3",)),
    Reading("no window", without_key("attention.sliding_window"), architectures=("gemma2", "gemma3")),
    Reading("wider window", with_key("attention.sliding_window", lambda width: width + 1)),
    Reading("window in the other layers", patch=(families, "windows", windows_exchanged), architectures=GEMMA[1:]),
    Reading("no cap of scores", without_key("attn_logit_softcapping")),
    Reading("no cap of logits", without_key("final_logit_softcapping")),
    Reading("other residual", with_key("use_parallel_residual", lambda parallel: not parallel)),
    Reading("no token types", with_tensors("token_types", lambda w: 0 * w), architectures=("bert",)),
]
