#!/usr/bin/env python3
"""Writes a GGUF file of Llama 3.2 1B's shape with random weights: 1.24 billion, 0.8 GB.

Usage: make_gguf_1b.py FILE

Types as in llama.cpp's Q4_K_M: Q4_K, but Q6_K for the embedding, which is the output, too, and for half of the
values' and the MLP's last matrices. Attention is uneven and activations stay finite. The vocabulary is synthetic:
GPT-2's letters of bytes, pairs and fours of letters by merges, and special tokens where Llama 3 has them.
Takes a few seconds and half a gigabyte of memory.
"""

import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).parents[1] / "reference" / "gguf"))
import gguf_file  # noqa: E402
import names  # noqa: E402
import random_weights  # noqa: E402
import vocabularies  # noqa: E402

N_LAYERS, D, N_HEADS, N_KV_HEADS, D_HEAD, D_FF, N_VOCAB = 16, 2048, 32, 8, 64, 8192, 128256
N_ORDINARY = 128000  # tokens before the special ones
ROPE_BASE = 500000.0
ROPE_SCALING = {
    "factor": 32.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


def vocabulary(random):
    """(tokens, types, merges)."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    merges = [("Ġ", a) for a in letters] + [(a, b) for a in letters for b in letters]
    merges += [("Ġ" + a, b) for a in letters for b in letters]
    twos = [a + b for a in letters for b in letters]
    alphabet = list(vocabularies.letters_of_bytes().values())
    wanted = N_ORDINARY - len(alphabet) - len(merges)
    merges += [(twos[i // 676], twos[i % 676]) for i in random.permutation(676 * 676)[:wanted]]
    special = {0: "<|begin_of_text|>", 1: "<|end_of_text|>", 9: "<|eot_id|>"}
    specials = [special.get(i, f"<|reserved_special_token_{i}|>") for i in range(N_VOCAB - N_ORDINARY)]
    tokens = alphabet + [a + b for a, b in merges] + specials
    types = [vocabularies.NORMAL] * N_ORDINARY + [vocabularies.CONTROL] * len(specials)
    return tokens, types, [f"{a} {b}" for a, b in merges]


def metadata(random):
    tokens, types, merges = vocabulary(random)
    return {
        "general.architecture": ("string", "llama"),
        "general.type": ("string", "model"),
        "general.name": ("string", "Random 1B"),
        "general.size_label": ("string", "1B"),
        "llama.block_count": ("u32", N_LAYERS),
        "llama.context_length": ("u32", 131072),
        "llama.embedding_length": ("u32", D),
        "llama.feed_forward_length": ("u32", D_FF),
        "llama.attention.head_count": ("u32", N_HEADS),
        "llama.attention.head_count_kv": ("u32", N_KV_HEADS),
        "llama.rope.freq_base": ("f32", ROPE_BASE),
        "llama.attention.layer_norm_rms_epsilon": ("f32", 1e-5),
        "llama.attention.key_length": ("u32", D_HEAD),
        "llama.attention.value_length": ("u32", D_HEAD),
        "general.file_type": ("u32", 15),
        "llama.vocab_size": ("u32", N_VOCAB),
        "llama.rope.dimension_count": ("u32", D_HEAD),
        "tokenizer.ggml.model": ("string", "gpt2"),
        "tokenizer.ggml.pre": ("string", "llama-bpe"),
        "tokenizer.ggml.tokens": ("[string]", tokens),
        "tokenizer.ggml.token_type": ("[i32]", types),
        "tokenizer.ggml.merges": ("[string]", merges),
        "tokenizer.ggml.bos_token_id": ("u32", N_ORDINARY),
        "tokenizer.ggml.eos_token_id": ("u32", N_ORDINARY + 9),
        "general.quantization_version": ("u32", 2),
    }


def more_bits(layer):
    """The first and last eighth of the layers and every third between."""
    eighth = N_LAYERS // 8
    return layer < eighth or layer >= 7 * eighth or (layer - eighth) % 3 == 2


def tensors():
    """(name, type, shape, deviation of the weights)."""

    def matrix(name, n_out, n_in, kind="Q4_K", gain=1.0):
        return f"blk.{layer}.{name}.weight", kind, (n_out, n_in), gain / n_in**0.5

    yield "rope_freqs.weight", "F32", (D_HEAD // 2,), None
    yield "token_embd.weight", "Q6_K", (N_VOCAB, D), 0.05
    for layer in range(N_LAYERS):
        better = "Q6_K" if more_bits(layer) else "Q4_K"
        yield f"blk.{layer}.attn_norm.weight", "F32", (D,), 0.1
        yield matrix("ffn_down", D, D_FF, better, 0.5)
        yield matrix("ffn_gate", D_FF, D)
        yield matrix("ffn_up", D_FF, D)
        yield f"blk.{layer}.ffn_norm.weight", "F32", (D,), 0.1
        yield matrix("attn_k", N_KV_HEADS * D_HEAD, D, gain=1.5)
        yield matrix("attn_output", D, N_HEADS * D_HEAD, gain=0.5)
        yield matrix("attn_q", N_HEADS * D_HEAD, D, gain=1.5)
        yield matrix("attn_v", N_KV_HEADS * D_HEAD, D, better)
    yield "output_norm.weight", "F32", (D,), 0.1


def contents(kind, shape, deviation, random):
    if deviation is None:
        return names.llama3_divisors(D_HEAD, ROPE_BASE, ROPE_SCALING).astype("<f4").tobytes()
    if len(shape) == 1:
        return (1 + deviation * random.standard_normal(shape)).astype("<f4").tobytes()
    return random_weights.matrix(kind, shape, deviation, random)


if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
    sys.exit(__doc__)
random = np.random.default_rng(1)
keys = metadata(random)
listed = list(tensors())
with open(sys.argv[1], "wb") as file:
    file.write(gguf_file.header(keys, {name: (kind, shape) for name, kind, shape, _ in listed}))
    for _, kind, shape, deviation in listed:
        data = contents(kind, shape, deviation, random)
        file.write(data + bytes(-len(data) % gguf_file.alignment_of(keys)))
    print(f"{sum(int(np.prod(shape)) for _, _, shape, _ in listed):,} weights, {file.tell():,} bytes")
