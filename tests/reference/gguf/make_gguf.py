#!/usr/bin/env python3
"""Writes models/: tiny random models as GGUF files, their numbers, and index.json.

Usage: make_gguf.py [OUT]   OUT: models beside this file by default

Three kinds of files:
- models of ../models, as llama.cpp's converter would write them: their numbers are in those folders already;
- own models, for what those cannot say in GGUF, and of quantised types: numbers in NAME.expected.safetensors;
- one of these in every form a GGUF file can have: byte order, version, alignment, order, shards, kinds of metadata.

Every file is read again, the converter's changes are undone (from_gguf.py), and the numbers must be the expected ones;
wrong readings (readings.py) must give others.
"""

import json
import os
import pathlib
import sys
import zlib

import numpy as np

import from_gguf  # noqa: I001  it finds the folder of the other models
import gguf_file
import random_weights
import readings
import to_gguf
import vocabularies

import case
import families
import safetensors_file
import shapes

HERE = pathlib.Path(__file__).parent
MODELS = HERE.parent / "models"
FILE_TYPES = {"F32": 0, "F16": 1, "BF16": 32, "Q8_0": 7, "Q4_K": 15, "IQ3_S": 26}
TEXTS = ["the cat sat", "the other mat", "then they met at the tree"]
WORDS = ["The CAT, sat!", "cats at  the mat.", "tést", "catalogue", ""]
ALL_BYTES = ["", " ", "The cat", "  two  spaces\n\nlines", "naïve café 🐱", "it's 12345 cats!", "<s>the"]


def spm(n):
    return vocabularies.SentencePiece(n)


def spm_with_bytes(n):
    return vocabularies.SentencePiece(n, byte_tokens=True)


def gemma_spm(n):
    return vocabularies.SentencePiece(n, gemma=True)


def bpe(pre, **options):
    return lambda n: vocabularies.BytePairs(n, pre, **options)


# (case of ../models, type of matrices, vocabulary, what it covers beside what the case does)
CONVERTED = [
    ("llama-mha-untied", "F32", spm, "rows of q and k paired as neighbours, output.weight"),
    ("llama-gqa-bias", "F32", None, "biases, those of q and k in the order of their rows; key_length"),
    ("llama-rope-linear", "F32", None, "rope.scaling.type linear"),
    ("llama-rope-llama3", "F32", bpe("llama-bpe"), "rope_freqs.weight: divisors of the frequencies"),
    ("llama-rope-yarn", "F32", None, "rope.scaling.type yarn"),
    ("llama-sharded-bf16", "BF16", spm, "BF16 matrices, float32 norms"),
    ("mistral-no-window", "BF16", spm, "Mistral is architecture llama"),
    ("qwen2-bias", "BF16", bpe("qwen2"), "halves paired: rows as they were; tied"),
    ("qwen3-qk-norm", "F32", bpe("qwen2"), "attn_q_norm, attn_k_norm"),
    ("gemma-mqa", "F32", gemma_spm, "norms with the 1 added"),
    ("phi3-window", "F32", spm, "attn_qkv, gate and up in ffn_up, a window in all layers (which llama.cpp itself ignores)"),
    ("phi3-longrope-short", "F32", None, "rope_factors_short.weight, attn_factor, a text within the original length"),
    ("phi3-longrope-long", "F32", None, "rope_factors_long.weight: the text is longer than the original length"),
    ("gpt2-tied", "F32", bpe("gpt-2"), "matrices transposed to [out, in], no output.weight"),
    ("gpt-neox-parallel", "F16", bpe("gpt-2"), "attn_qkv regrouped to all q, all k, all v; exact gelu"),
    ("gpt-neox-sequential", "F32", None, "use_parallel_residual false"),
    ("bert-pair", "F32", vocabularies.WordPiece, "attention.causal false, token types, exact gelu, norms after the sums"),
]

GEMMA = {"hidden_act": case.REMOVED, "hidden_activation": "gelu_pytorch_tanh", "rms_norm_eps": 1e-06, "tie_word_embeddings": True}
GPT2 = {
    "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-05,
    "model_type": "gpt2",
    "n_embd": 12,
    "n_head": 3,
    "n_inner": None,
    "n_layer": 2,
    "n_positions": 40,
    "tie_word_embeddings": False,
    "vocab_size": 290,
}

# (name, config, shapes, tokens of the text, type, vocabulary, what it covers)
OWN = [
    (
        "gemma2-window",
        case.decoder(
            "gemma2",
            "Gemma2ForCausalLM",
            **GEMMA,
            attn_logit_softcapping=1.75,
            final_logit_softcapping=4.5,
            head_dim=6,
            num_hidden_layers=3,
            query_pre_attn_scalar=6,
            sliding_window=5,
        ),
        case.headless,
        13,
        "F16",
        gemma_spm,
        "the window is in layers 0 and 2, the soft caps are in the metadata, scores are scaled by key_length",
    ),
    (
        "gemma3-sixth-global",
        case.decoder(
            "gemma3_text",
            "Gemma3ForCausalLM",
            **GEMMA,
            head_dim=8,
            num_hidden_layers=7,
            num_key_value_heads=1,
            query_pre_attn_scalar=8,
            rope_scaling={"factor": 8.0, "rope_type": "linear"},
            rope_theta=1000000.0,
            sliding_window=5,
        ),
        case.headless,
        14,
        "F16",
        gemma_spm,
        "layer 5 is global with freq_base and its scaling, the others are local with base 10000 and none",
    ),
    (
        "gpt2-all-bytes",
        GPT2,
        lambda config: shapes.gpt2(config, head=True),
        12,
        "F16",
        bpe("gpt-2", all_bytes=True),
        "own output.weight, a vocabulary with all letters of bytes",
    ),
]


def llama_metadata(name, d, d_ff, n_heads, n_kv_heads, d_head, n_vocab, kind, n_layers=1):
    config = case.decoder(
        "llama",
        "LlamaForCausalLM",
        head_dim=d_head,
        hidden_size=d,
        intermediate_size=d_ff,
        num_attention_heads=n_heads,
        num_hidden_layers=n_layers,
        num_key_value_heads=n_kv_heads,
        vocab_size=n_vocab,
    )
    return to_gguf.metadata_of(config, name, FILE_TYPES[kind])


def llama_tensors(metadata, kinds, random):
    """kinds: {name without blk.N. and .weight: type}."""

    def get(key):
        return metadata["llama." + key][1]

    d, d_ff, e = get("embedding_length"), get("feed_forward_length"), get("attention.key_length")
    n_q, n_kv = get("attention.head_count") * e, get("attention.head_count_kv") * e

    def norm():
        return to_gguf.stored(1 + 0.25 * random.standard_normal(d), "F32")

    def matrix(name, shape, gain):
        return kinds[name], shape, random_weights.matrix(kinds[name], shape, gain / shape[1] ** 0.5, random)

    shape_of = {
        "attn_q": (n_q, d),
        "attn_k": (n_kv, d),
        "attn_v": (n_kv, d),
        "attn_output": (d, n_q),
        "ffn_gate": (d_ff, d),
        "ffn_up": (d_ff, d),
        "ffn_down": (d, d_ff),
    }
    tensors = {"token_embd.weight": matrix("token_embd", (get("vocab_size"), d), 2.0)}  # logits of the order of 2 to 20
    for layer in range(get("block_count")):
        at = f"blk.{layer}."
        tensors[at + "attn_norm.weight"] = norm()
        for name, shape in shape_of.items():
            if name == "ffn_gate":
                tensors[at + "ffn_norm.weight"] = norm()
            tensors[f"{at}{name}.weight"] = matrix(name, shape, 1.5 if name in ("attn_q", "attn_k") else 1.0)
    tensors["output_norm.weight"] = norm()
    return tensors


SMALL = {
    "token_embd": "Q8_0",
    "attn_q": "Q8_0",
    "attn_k": "Q5_0",
    "attn_v": "F16",
    "attn_output": "Q4_0",
    "ffn_gate": "Q5_0",
    "ffn_up": "Q8_0",
    "ffn_down": "F32",
}
# As llama.cpp mixes them: what has no rows of 256 falls back to types with blocks of 32.
K_MIX = {
    "token_embd": "Q6_K",
    "attn_q": "Q4_K",
    "attn_k": "Q4_K",
    "attn_v": "Q6_K",
    "attn_output": "Q5_0",
    "ffn_gate": "Q4_K",
    "ffn_up": "Q4_K",
    "ffn_down": "Q8_0",
}
# Every other type once; no file of llama.cpp mixes them like this.
REST = [
    ("one-of-each-k", ("Q2_K", "Q3_K", "Q5_K", "Q5_1", "Q4_K", "Q6_K", "Q4_1"), "Q3_K"),
    ("one-of-each-iq", ("IQ4_XS", "IQ3_S", "IQ2_S", "IQ4_NL", "IQ2_XS", "IQ3_XXS", "MXFP4"), "IQ2_XXS"),
    ("one-of-each-low", ("IQ1_M", "TQ2_0", "TQ1_0", "Q4_0", "IQ1_S", "TQ1_0", "BF16"), "IQ1_S"),
]
MATRICES = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")

# (name, (d, d_ff, heads, key/value heads, features of a head, tokens), types, file's type, vocabulary, what it covers)
QUANTISED = [
    ("llama-q8-q5", (32, 32, 4, 2, 8, 290), SMALL, "Q8_0", spm_with_bytes, "Q8_0, Q5_0, Q4_0, F16, F32; all byte tokens"),
    (
        "llama-q4_k_m",
        (256, 64, 4, 2, 32, 288),
        K_MIX,
        "Q4_K",
        bpe("llama-bpe", all_bytes=True, special="<|begin_of_text|>"),
        "the mix of llama.cpp's Q4_K_M; Llama 3's vocabulary: whole words need no merges, BOS by default",
    ),
    *(
        (
            f"llama-{name}",
            (256, 32, 2, 1, 32, 40),
            {"token_embd": embedding, **dict(zip(MATRICES, kinds))},
            "IQ3_S",
            spm,
            "a type for each matrix: " + ", ".join((embedding, *kinds)),
        )
        for name, kinds, embedding in REST
    ),
]

EVERY_KIND = {
    "test.u8": ("u8", 255),
    "test.i8": ("i8", -128),
    "test.u16": ("u16", 65535),
    "test.i16": ("i16", -32768),
    "test.u32": ("u32", 2**32 - 1),
    "test.i32": ("i32", -(2**31)),
    "test.f32": ("f32", 1.5),
    "test.bool": ("bool", True),
    "test.string": ("string", 'naïve "cat"\n\0 🐱'),
    "test.u64": ("u64", 2**64 - 1),
    "test.i64": ("i64", -(2**63)),
    "test.f64": ("f64", 1e300),
    "test.string.empty": ("string", ""),
    "test.array.empty": ("[u32]", []),
    "test.array.u8": ("[u8]", [0, 127, 255]),
    "test.array.i16": ("[i16]", [-32768, -1, 32767]),
    "test.array.i64": ("[i64]", [-(2**63), 2**63 - 1]),
    "test.array.bool": ("[bool]", [True, False, True]),
    "test.array.f64": ("[f64]", [0.1, -0.0, 1e-300]),
    "test.array.string": ("[string]", ["a", "", "ç"]),
    "test.array.nested": ("[[i32]]", [[1, -2], [3], []]),
    "test.array.deep": ("[[[string]]]", [[["a", "b"], ["c"]], [["d"]]]),
}


def forms(metadata, tensors):
    """The same model in other files: (ending of the name, what, how to write it)."""
    shuffled = dict(sorted(tensors.items(), key=lambda item: zlib.crc32(item[0].encode())))
    aligned = {"general.alignment": ("u32", 64), **metadata}
    every = {**dict(list(metadata.items())[:3]), **EVERY_KIND, **metadata}

    def one(keys, weights, **options):
        return lambda stem: gguf_file.write(f"{stem}.gguf", keys, weights, **options)

    def split(n, **options):
        return lambda stem: gguf_file.write_split(stem, n, metadata, tensors, **options)

    yield "v2", "version 2", one(metadata, tensors, version=2)
    yield "big-endian", "big-endian: all numbers, halves in blocks too", one(metadata, tensors, big_endian=True)
    yield "align-64", "general.alignment 64", one(aligned, tensors)
    yield "shuffled", "tensors in another order", one(metadata, shuffled)
    yield "every-kind", "every kind of value in the metadata, arrays of arrays", one(every, tensors)
    yield "split-00001-of-00002", "two shards", lambda stem: split(2)(stem.removesuffix("-00001-of-00002"))
    yield "split-00001-of-00003", "three shards", lambda stem: split(3)(stem.removesuffix("-00001-of-00003"))


def text_cases(vocabulary, texts):
    for text in texts:
        ids = vocabulary.encode(text)
        yield {"text": text, "ids": ids, "ids_full": vocabulary.before + ids + vocabulary.after}


class Maker:
    def __init__(self, out):
        self.out, self.index = out, []

    def add(self, name, what, expected, vocabulary=None, texts=()):
        """Reads the file again and compares what it computes; `expected` is relative to `out` or to the models beside it."""
        metadata, tensors = gguf_file.read(self.out / f"{name}.gguf")
        path = self.out / expected if (self.out / expected).exists() else HERE / "models" / expected
        numbers = safetensors_file.read(path)
        ours = from_gguf.run(metadata, tensors, numbers["ids"], numbers.get("token_types"))
        change = {key: np.abs(ours[key].numpy() - numbers[key]).max() for key in numbers if key in ours}
        near = from_gguf.run(metadata, tensors, numbers["ids"], numbers.get("token_types"), noise=6e-8)
        rounding = float((near["attention"] - ours["attention"]).abs().max())
        print(f"{name:<36}" + "  ".join(f"{key} {worst:.1e}" for key, worst in change.items()) + f"  float32 {rounding:.0e}")
        assert rounding < 2e-6, "too sensitive: a float32 program could not meet these numbers"
        assert change["attention"] < 2e-6 and max(change.values()) < 2e-5, name
        if "llama-q8-q5-" not in name:
            self.read_wrongly(name, metadata, tensors, numbers)
        entry = {"file": f"{name}.gguf", "what": what, "expected": expected}
        entry["types"] = {kind: [t[0] for t in tensors.values()].count(kind) for kind in sorted({t[0] for t in tensors.values()})}
        if vocabulary:
            entry["tokenizer"] = metadata["tokenizer.ggml.model"][1]
            entry["texts"] = list(text_cases(vocabulary, texts))
        self.index.append(entry)

    @staticmethod
    def read_wrongly(name, metadata, tensors, numbers):
        for reading in readings.READINGS:
            answer = reading.run(metadata, tensors, numbers["ids"], numbers.get("token_types"))
            if answer:
                change = [float(np.abs(answer[key].numpy() - numbers[key]).max()) for key in numbers if key in answer]
                print(f"    {reading.name:<40}" + " ".join(f"{worst:9.2e}" for worst in change))
                assert max(change) > 1e-3, f"{name} does not tell: {reading.name}"

    def converted(self, name, kind, make_vocabulary, what):
        config, tensors = safetensors_file.read_folder(MODELS / name)
        metadata = to_gguf.metadata_of(config, name, FILE_TYPES[kind])
        vocabulary = make_vocabulary(config["vocab_size"]) if make_vocabulary else None
        metadata |= vocabulary.metadata() if vocabulary else {}
        gguf_file.write(self.out / f"{name}.gguf", metadata, to_gguf.tensors_of(config, tensors, kind))
        texts = TEXTS + WORDS * (make_vocabulary is vocabularies.WordPiece)
        self.add(name, what, f"../../models/{name}/expected.safetensors", vocabulary, texts)

    def own(self, name, config, shapes_of, n, kind, make_vocabulary, what):
        random = np.random.default_rng(zlib.crc32(name.encode()))
        tensors = {}
        for tensor, shape, use in shapes_of(config):
            values = shapes.random_tensor(random, shape, use).astype("<f4")
            if len(shape) > 1:
                values = values.astype("<f2").astype("<f4")
            elif "norm from 0" in use:  # such that 1 + w is exact
                values = (values + np.float32(1)) - np.float32(1)
            tensors[tensor] = values
        vocabulary = make_vocabulary(config["vocab_size"])
        metadata = to_gguf.metadata_of(config, name, FILE_TYPES[kind]) | vocabulary.metadata()
        gguf_file.write(self.out / f"{name}.gguf", metadata, to_gguf.tensors_of(config, tensors, kind))
        ids = self.ids(config["vocab_size"], n, random)
        self.expect(name, ids, families.run(config, tensors, ids))
        all_bytes = config["vocab_size"] > 256
        self.add(name, what, f"{name}.expected.safetensors", vocabulary, TEXTS + ALL_BYTES * all_bytes)

    def quantised(self, name, size, kinds, kind, make_vocabulary, what):
        random = np.random.default_rng(zlib.crc32(name.encode()))
        vocabulary = make_vocabulary(size[-1])
        metadata = llama_metadata(name, *size, kind) | vocabulary.metadata()
        tensors = llama_tensors(metadata, kinds, random)
        gguf_file.write(self.out / f"{name}.gguf", metadata, tensors)
        ids = self.ids(size[-1], 13, random)
        self.expect(name, ids, from_gguf.run(metadata, tensors, ids))
        texts = TEXTS + ALL_BYTES * (size[-1] > 256)
        self.add(name, what, f"{name}.expected.safetensors", vocabulary, texts)
        return metadata, tensors

    @staticmethod
    def ids(n_vocab, n, random):
        ids = random.integers(3, n_vocab, n)
        ids[n // 2] = ids[1]
        return ids

    def expect(self, name, ids, answer):
        rows = answer["attention"][:, :, 4:].amax(-1)
        print(f"{'':<36}largest weights {float(rows.min()):.2f} to {float(rows.max()):.2f}")
        numbers = {"ids": ("I64", ids)}
        numbers |= {key: ("F32", answer[key].numpy()) for key in ("attention", "logits")}
        safetensors_file.write(self.out / f"{name}.expected.safetensors", numbers)


def main(out):
    out.mkdir(parents=True, exist_ok=True)
    maker = Maker(out)
    for arguments in CONVERTED:
        maker.converted(*arguments)
    for arguments in OWN:
        maker.own(*arguments)
    for arguments in QUANTISED:
        made = maker.quantised(*arguments)
        if arguments[0] == "llama-q8-q5":
            for ending, what, write in forms(*made):
                name = f"llama-q8-q5-{ending}"
                write(str(out / name))
                maker.add(name, what, "llama-q8-q5.expected.safetensors")
    (out / "index.json").write_text(json.dumps(maker.index, indent=1, ensure_ascii=False) + "\n")
    print(f"{sum(file.stat().st_size for file in out.iterdir()):,} bytes in {len(os.listdir(out))} files")


if len(sys.argv) > 2 or sys.argv[-1].startswith("-"):
    sys.exit(__doc__)
main(pathlib.Path(sys.argv[1]) if len(sys.argv) == 2 else HERE / "models")
