#!/usr/bin/env python3
"""Writes bad/index.json: faulty models, as edits of the bytes of files in models/.

Usage: make_bad.py [OUT]   OUT: bad beside this file by default

Faults of the model, not of the format: the files are well-formed GGUF, but their keys, tensors and vocabularies do not
go together. Here every edit is applied again, and what comes out is read.
"""

import difflib
import json
import math
import pathlib
import re
import sys
import tempfile

import numpy as np

import gguf_file
import quants

HERE = pathlib.Path(__file__).parent
NAN, INFINITY = math.nan, math.inf
MALFORMED, UNSUPPORTED, EITHER = [3], [4], [0, 3, 4]


# -- Edits: functions that change (metadata, tensors) in place.


def key(name, kind, value):
    """A new value, in the old place if there is one."""

    def edit(metadata, tensors):
        metadata[name] = (kind, value)

    return edit


def no_key(name):
    return lambda metadata, tensors: metadata.pop(name)


def no_tensor(name):
    return lambda metadata, tensors: tensors.pop(name)


def number(name, place, value):
    """One number of an F32 tensor."""

    def edit(metadata, tensors):
        kind, shape, raw = tensors[name]
        numbers = np.frombuffer(raw, "<f4").copy()
        assert kind == "F32"
        numbers[place] = value
        tensors[name] = kind, shape, numbers.tobytes()

    return edit


def scale(name, block, value):
    """The scale of one block."""

    def edit(metadata, tensors):
        kind, shape, raw = tensors[name]
        blocks = np.frombuffer(raw, quants.TYPES[kind].layout).copy()
        blocks["d"][block] = value
        tensors[name] = kind, shape, blocks.tobytes()

    return edit


def shape(name, change):
    """Another shape of no more numbers."""

    def edit(metadata, tensors):
        kind, old, raw = tensors[name]
        new = change(old)
        tensors[name] = kind, new, raw[: gguf_file.n_bytes(kind, new)]

    return edit


def kind(name, new):
    """Zeros of another type."""

    def edit(metadata, tensors):
        _, old, _ = tensors[name]
        tensors[name] = new, old, bytes(gguf_file.n_bytes(new, old))

    return edit


def tokens(change):
    def edit(metadata, tensors):
        metadata["tokenizer.ggml.tokens"] = change(metadata["tokenizer.ggml.tokens"])

    return edit


def renamed(old, new):
    def edit(metadata, tensors):
        items = [(new if name == old else name, tensor) for name, tensor in tensors.items()]
        tensors.clear()
        tensors.update(items)

    return edit


def both(*edits):
    def edit(metadata, tensors):
        for one in edits:
            one(metadata, tensors)

    return edit


LLAMA, LINEAR, GPT = "llama-q8-q5", "llama-rope-linear", "gpt2-tied"
BERT, PHI, GEMMA = "bert-pair", "phi3-longrope-long", "gemma2-window"
NORM, QUERY = "blk.0.attn_norm.weight", "blk.0.attn_q.weight"
RMS = "llama.attention.layer_norm_rms_epsilon"

# (what, exit codes, file, edit)
FAULTS = [
    ("no general.architecture", MALFORMED, LLAMA, no_key("general.architecture")),
    ("general.architecture is a number", MALFORMED, LLAMA, key("general.architecture", "u32", 1)),
    ("general.architecture is empty", [3, 4], LLAMA, key("general.architecture", "string", "")),
    ("architecture mamba, which has no attention", UNSUPPORTED, LLAMA, key("general.architecture", "string", "mamba")),
    ("architecture clip, a projector", UNSUPPORTED, LLAMA, key("general.architecture", "string", "clip")),
    ("no block_count", MALFORMED, LLAMA, no_key("llama.block_count")),
    ("block_count 0", MALFORMED, LLAMA, key("llama.block_count", "u32", 0)),
    ("block_count 2, tensors of one layer", MALFORMED, LLAMA, key("llama.block_count", "u32", 2)),
    ("block_count 2^31", MALFORMED, LLAMA, key("llama.block_count", "u32", 2**31)),
    ("block_count 2^32 - 1", MALFORMED, LLAMA, key("llama.block_count", "u32", 2**32 - 1)),
    ("block_count 2^63", MALFORMED, LLAMA, key("llama.block_count", "u64", 2**63)),
    ("block_count -1", MALFORMED, LLAMA, key("llama.block_count", "i32", -1)),
    ("block_count as u64", [0], LLAMA, key("llama.block_count", "u64", 1)),
    ("no embedding_length", MALFORMED, LLAMA, no_key("llama.embedding_length")),
    ("embedding_length 64, tensors of 32", MALFORMED, LLAMA, key("llama.embedding_length", "u32", 64)),
    ("embedding_length is a string", MALFORMED, LLAMA, key("llama.embedding_length", "string", "32")),
    ("feed_forward_length 33, tensors of 32", MALFORMED, LLAMA, key("llama.feed_forward_length", "u32", 33)),
    ("no head_count", MALFORMED, LLAMA, no_key("llama.attention.head_count")),
    ("head_count 0", MALFORMED, LLAMA, key("llama.attention.head_count", "u32", 0)),
    (
        "head_count 5 and no key_length: 32 does not divide",
        MALFORMED,
        LLAMA,
        both(
            key("llama.attention.head_count", "u32", 5),
            no_key("llama.attention.key_length"),
            no_key("llama.attention.value_length"),
        ),
    ),
    ("head_count 6, rows of q for 4", MALFORMED, LLAMA, key("llama.attention.head_count", "u32", 6)),
    ("head_count_kv 3 for 4 heads", MALFORMED, LLAMA, key("llama.attention.head_count_kv", "u32", 3)),
    ("head_count_kv 4, tensors of 2", MALFORMED, LLAMA, key("llama.attention.head_count_kv", "u32", 4)),
    ("head_count_kv 0", MALFORMED, LLAMA, key("llama.attention.head_count_kv", "u32", 0)),
    ("head_count an array of 5 for one layer", EITHER, LLAMA, key("llama.attention.head_count", "[u32]", [4] * 5)),
    ("key_length 7, rows of q for 8", MALFORMED, LLAMA, key("llama.attention.key_length", "u32", 7)),
    ("value_length 6, key_length 8", [3, 4], LLAMA, key("llama.attention.value_length", "u32", 6)),
    ("no layer_norm_rms_epsilon", MALFORMED, LLAMA, no_key(RMS)),
    ("epsilon NaN", MALFORMED, LLAMA, key(RMS, "f32", NAN)),
    ("epsilon infinite", MALFORMED, LLAMA, key(RMS, "f32", INFINITY)),
    ("epsilon -1", MALFORMED, LLAMA, key(RMS, "f32", -1.0)),
    ("epsilon is a bool", MALFORMED, LLAMA, key(RMS, "bool", True)),
    ("context_length 0", EITHER, LLAMA, key("llama.context_length", "u32", 0)),
    ("freq_base NaN", MALFORMED, LLAMA, key("llama.rope.freq_base", "f32", NAN)),
    ("freq_base 0", MALFORMED, LLAMA, key("llama.rope.freq_base", "f32", 0.0)),
    ("freq_base -10000", MALFORMED, LLAMA, key("llama.rope.freq_base", "f32", -10000.0)),
    ("rope.dimension_count 7, an odd number", MALFORMED, LLAMA, key("llama.rope.dimension_count", "u32", 7)),
    ("rope.dimension_count 16 of heads of 8", MALFORMED, LLAMA, key("llama.rope.dimension_count", "u32", 16)),
    ("rope.scaling.type unknown", UNSUPPORTED, LINEAR, key("llama.rope.scaling.type", "string", "other")),
    ("linear scaling by 0", [0, 3], LINEAR, key("llama.rope.scaling.factor", "f32", 0.0)),
    ("linear scaling by NaN", MALFORMED, LINEAR, key("llama.rope.scaling.factor", "f32", NAN)),
    ("yarn without a factor, which is 1 then", [0, 3], "llama-rope-yarn", no_key("llama.rope.scaling.factor")),
    ("rope_freqs of 3 for 4 frequencies", MALFORMED, "llama-rope-llama3", shape("rope_freqs.weight", lambda s: (3,))),
    ("rope_freqs with a 0 to divide by", MALFORMED, "llama-rope-llama3", number("rope_freqs.weight", 1, 0.0)),
    ("rope_freqs with a NaN", MALFORMED, "llama-rope-llama3", number("rope_freqs.weight", 1, NAN)),
    ("rope_factors_long alone", MALFORMED, PHI, no_tensor("rope_factors_short.weight")),
    ("rope_factors_long of 2 for 3 frequencies", MALFORMED, PHI, shape("rope_factors_long.weight", lambda s: (2,))),
    ("attn_factor NaN", MALFORMED, PHI, key("phi3.rope.scaling.attn_factor", "f32", NAN)),
    ("attn_qkv with a row too few", MALFORMED, PHI, shape("blk.0.attn_qkv.weight", lambda s: (s[0] - 1, s[1]))),
    ("ffn_up without up", MALFORMED, PHI, shape("blk.0.ffn_up.weight", lambda s: (s[0] // 2, s[1]))),
    ("no token_embd", MALFORMED, LLAMA, no_tensor("token_embd.weight")),
    ("token_embd of 31 columns", MALFORMED, LINEAR, shape("token_embd.weight", lambda s: (s[0], s[1] - 1))),
    ("token_embd with three dimensions", MALFORMED, LLAMA, shape("token_embd.weight", lambda s: (2, s[0] // 2, s[1]))),
    ("token_embd turned", MALFORMED, LINEAR, shape("token_embd.weight", lambda s: s[::-1])),
    ("no attn_norm", MALFORMED, LLAMA, no_tensor(NORM)),
    ("attn_norm of 31 numbers", MALFORMED, LLAMA, shape(NORM, lambda s: (31,))),
    ("attn_norm in integers", [3, 4], LLAMA, kind(NORM, "I32")),
    ("attn_q in integers", [3, 4], LLAMA, kind(QUERY, "I8")),
    ("no output_norm", MALFORMED, LLAMA, no_tensor("output_norm.weight")),
    ("no ffn_gate", [3, 4], LLAMA, no_tensor("blk.0.ffn_gate.weight")),
    ("attn_q under another name", MALFORMED, LLAMA, renamed(QUERY, "blk.0.attn_query.weight")),
    ("attn_k with rows for one head of two", MALFORMED, LLAMA, shape("blk.0.attn_k.weight", lambda s: (8, s[1]))),
    ("NaN in attn_norm", MALFORMED, LLAMA, number(NORM, 3, NAN)),
    ("infinity in attn_norm", MALFORMED, LLAMA, number(NORM, 3, INFINITY)),
    ("NaN for a block's scale in attn_q", MALFORMED, LLAMA, scale(QUERY, 5, NAN)),
    ("infinity for a block's scale in attn_q", MALFORMED, LLAMA, scale(QUERY, 5, INFINITY)),
    ("ffn_down of 3e38: attention is finite, logits are not", EITHER, LLAMA, number("blk.0.ffn_down.weight", 7, 3e38)),
    ("no context for its positions", EITHER, GPT, key("gpt2.context_length", "u32", 1000)),
    ("no position_embd", MALFORMED, GPT, no_tensor("position_embd.weight")),
    ("bias of attn_qkv too short", MALFORMED, GPT, shape("blk.0.attn_qkv.bias", lambda s: (s[0] - 1,))),
    ("no layer_norm_epsilon", MALFORMED, GPT, no_key("gpt2.attention.layer_norm_epsilon")),
    ("no token_embd_norm", MALFORMED, BERT, no_tensor("token_embd_norm.weight")),
    ("attention.causal is a number", [0, 3], BERT, key("bert.attention.causal", "u32", 0)),
    ("soft cap NaN", MALFORMED, GEMMA, key("gemma2.attn_logit_softcapping", "f32", NAN)),
    ("a window of -1", MALFORMED, GEMMA, key("gemma2.attention.sliding_window", "i32", -1)),
    ("more tokens than rows", MALFORMED, LLAMA, tokens(lambda t: (t[0], t[1] + ["extra"] * 9))),
    ("no tokens in the list", EITHER, LLAMA, tokens(lambda t: (t[0], []))),
    ("tokens are numbers", EITHER, LLAMA, tokens(lambda t: ("[u32]", list(range(len(t[1])))))),
    ("scores of 10 tokens", EITHER, LLAMA, key("tokenizer.ggml.scores", "[f32]", [0.0] * 10)),
    ("a score NaN", EITHER, LLAMA, key("tokenizer.ggml.scores", "[f32]", [NAN] * 290)),
    ("token types 99", EITHER, LLAMA, key("tokenizer.ggml.token_type", "[i32]", [99] * 290)),
    ("bos_token_id beyond the tokens", EITHER, LLAMA, key("tokenizer.ggml.bos_token_id", "u32", 100000)),
    ("tokenizer.ggml.model unknown", EITHER, LLAMA, key("tokenizer.ggml.model", "string", "other")),
    ("tokenizer.ggml.pre unknown", EITHER, "qwen2-bias", key("tokenizer.ggml.pre", "string", "other")),
    ("merges of unknown tokens", EITHER, "qwen2-bias", key("tokenizer.ggml.merges", "[string]", ["qu xyz", "☃ ☃"])),
    ("merges without a space", EITHER, "qwen2-bias", key("tokenizer.ggml.merges", "[string]", ["the", ""])),
    ("split.count 65535, no other shard", MALFORMED, LLAMA, key("split.count", "u16", 65535)),
]


def differences(old, new):
    """[offset, count, hex]: what to put in place of which bytes of `old`. Compares runs of bytes between zeros."""
    a, b = (re.findall(rb"[^\0]*\0+|[^\0]+", data) for data in (old, new))
    starts = np.cumsum([0] + [len(run) for run in a]).tolist()
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    return [
        [starts[i], starts[j] - starts[i], b"".join(b[k:l]).hex()]
        for tag, i, j, k, l in matcher.get_opcodes()
        if tag != "equal"
    ]


def applied(old, edits):
    new, at = b"", 0
    for offset, count, text in edits:
        new += old[at:offset] + bytes.fromhex(text)
        at = offset + count
    return new + old[at:]


def main(out):
    out.mkdir(parents=True, exist_ok=True)
    index = []
    with tempfile.TemporaryDirectory() as scratch:
        for what, codes, base, edit in FAULTS:
            old = (HERE / "models" / f"{base}.gguf").read_bytes()
            metadata, tensors = gguf_file.read(HERE / "models" / f"{base}.gguf")
            edit(metadata, tensors)
            file = pathlib.Path(scratch) / "faulty.gguf"
            gguf_file.write(file, metadata, tensors)
            edits = differences(old, file.read_bytes())
            assert edits and applied(old, edits) == file.read_bytes(), what
            index.append({"what": what, "exit": codes, "base": f"{base}.gguf", "edits": edits})
    assert len({fault["what"] for fault in index}) == len(index)
    lines = ",\n".join(" " + json.dumps(fault, ensure_ascii=False) for fault in index)
    (out / "index.json").write_text(f"[\n{lines}\n]\n")
    print(f"{len(index)} faults, {(out / 'index.json').stat().st_size:,} bytes")


if len(sys.argv) > 2 or sys.argv[-1].startswith("-"):
    sys.exit(__doc__)
main(pathlib.Path(sys.argv[1]) if len(sys.argv) == 2 else HERE / "bad")
