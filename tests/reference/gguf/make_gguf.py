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

import collections
import json
import os
import pathlib
import sys
import zlib

import numpy as np

import from_gguf  # noqa: I001  it finds the folder of the other models
import gguf_cases
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


def forms(metadata, tensors):
    """The same model in other files: (ending of the name, what, how to write it)."""
    shuffled = dict(sorted(tensors.items(), key=lambda item: zlib.crc32(item[0].encode())))
    aligned = {"general.alignment": ("u32", 64), **metadata}
    every = {**dict(list(metadata.items())[:3]), **gguf_cases.EVERY_KIND, **metadata}

    def one(keys, weights, **options):
        return lambda name: gguf_file.write(f"{name}.gguf", keys, weights, **options)

    def split(n):
        return lambda name: gguf_file.write_split(name.removesuffix(f"-00001-of-{n:05}"), n, metadata, tensors)

    yield "v2", "version 2", one(metadata, tensors, version=2)
    yield "big-endian", "big-endian: all numbers, halves in blocks too", one(metadata, tensors, big_endian=True)
    yield "align-64", "general.alignment 64", one(aligned, tensors)
    yield "shuffled", "tensors in another order", one(metadata, shuffled)
    yield "every-kind", "every kind of value in the metadata, arrays of arrays", one(every, tensors)
    yield "split-00001-of-00002", "two shards", split(2)
    yield "split-00001-of-00003", "three shards", split(3)


def text_cases(vocabulary, texts):
    for text in texts:
        ids = vocabulary.encode(text)
        yield {"text": text, "ids": ids, "ids_full": vocabulary.before + ids + vocabulary.after}


class Maker:
    def __init__(self, out):
        self.out, self.index = out, []

    def add(self, name, what, expected, vocabulary=None, texts=()):
        """Reads the file again and compares what it computes; `expected`: seen from `out`."""
        metadata, tensors = gguf_file.read(self.out / f"{name}.gguf")
        path = self.out / expected if (self.out / expected).exists() else HERE / "models" / expected
        numbers = safetensors_file.read(path)
        ours = from_gguf.run(metadata, tensors, numbers["ids"], numbers.get("token_types"))
        change = {key: np.abs(ours[key].numpy() - numbers[key]).max() for key in numbers if key in ours}
        near = from_gguf.run(metadata, tensors, numbers["ids"], numbers.get("token_types"), noise=6e-8)
        rounding = float((near["attention"] - ours["attention"]).abs().max())
        worst = "  ".join(f"{key} {value:.1e}" for key, value in change.items())
        print(f"{name:<36}{worst}  float32 {rounding:.0e}")
        assert rounding < 2e-6, "too sensitive: a float32 program could not meet these numbers"
        assert change["attention"] < 2e-6 and max(change.values()) < 2e-5, name
        if "llama-q8-q5-" not in name:
            self.read_wrongly(name, metadata, tensors, numbers)
        entry = {"file": f"{name}.gguf", "what": what, "expected": expected}
        entry["types"] = dict(sorted(collections.Counter(kind for kind, _, _ in tensors.values()).items()))
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
        of_words = make_vocabulary in (vocabularies.WordPiece, vocabularies.Unigram)
        texts = gguf_cases.TEXTS + gguf_cases.WORDS * of_words
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
        texts = gguf_cases.TEXTS + gguf_cases.ALL_BYTES * (config["vocab_size"] > 256)
        self.add(name, what, f"{name}.expected.safetensors", vocabulary, texts)

    def quantised(self, name, size, kinds, kind, make_vocabulary, what):
        random = np.random.default_rng(zlib.crc32(name.encode()))
        vocabulary = make_vocabulary(size[-1])
        metadata = llama_metadata(name, *size, kind) | vocabulary.metadata()
        tensors = llama_tensors(metadata, kinds, random)
        gguf_file.write(self.out / f"{name}.gguf", metadata, tensors)
        ids = self.ids(size[-1], 13, random)
        self.expect(name, ids, from_gguf.run(metadata, tensors, ids))
        texts = gguf_cases.TEXTS + gguf_cases.ALL_BYTES * (size[-1] > 256)
        self.add(name, what, f"{name}.expected.safetensors", vocabulary, texts)
        return metadata, tensors

    def quantised_too(self, name, config, shapes_of, kinds, otherwise, what):
        """The converter's tensors, then random blocks of the same deviation in place of matrices."""
        random = np.random.default_rng(zlib.crc32(name.encode()))
        made = {tensor: shapes.random_tensor(random, shape, use) for tensor, shape, use in shapes_of(config)}
        metadata = to_gguf.metadata_of(config, name, FILE_TYPES["Q8_0"])
        tensors = to_gguf.tensors_of(config, made, "F32")
        for tensor, (_, shape, raw) in tensors.items():
            if len(shape) == 2 and not tensor.startswith(("position_embd", "token_types")):
                kind = kinds.get(tensor.split(".")[-2], otherwise)
                deviation = float(np.frombuffer(raw, "<f4").std())
                tensors[tensor] = kind, shape, random_weights.matrix(kind, shape, deviation, random)
        gguf_file.write(self.out / f"{name}.gguf", metadata, tensors)
        ids = self.ids(config["vocab_size"], 13, random)
        self.expect(name, ids, from_gguf.run(metadata, tensors, ids))
        self.add(name, what, f"{name}.expected.safetensors")

    @staticmethod
    def ids(n_vocab, n, random):
        ids = random.integers(3, n_vocab, n)
        ids[n // 2] = ids[1]
        return ids

    def expect(self, name, ids, answer):
        rows = answer["attention"][:, :, 4:].amax(-1)
        print(f"{'':<36}largest weights {float(rows.min()):.2f} to {float(rows.max()):.2f}")
        numbers = {"ids": ("I64", ids)}
        output = "logits" if "logits" in answer else "hidden"
        numbers |= {key: ("F32", answer[key].numpy()) for key in ("attention", output)}
        safetensors_file.write(self.out / f"{name}.expected.safetensors", numbers)


def main(out):
    out.mkdir(parents=True, exist_ok=True)
    maker = Maker(out)
    for arguments in gguf_cases.CONVERTED:
        maker.converted(*arguments)
    for arguments in gguf_cases.OWN:
        maker.own(*arguments)
    for arguments in gguf_cases.QUANTISED:
        made = maker.quantised(*arguments)
        if arguments[0] == "llama-q8-q5":
            for ending, what, write in forms(*made):
                name = f"llama-q8-q5-{ending}"
                write(str(out / name))
                maker.add(name, what, "llama-q8-q5.expected.safetensors")
    for arguments in gguf_cases.QUANTISED_TOO:
        maker.quantised_too(*arguments)
    (out / "index.json").write_text(json.dumps(maker.index, indent=1, ensure_ascii=False) + "\n")
    print(f"{sum(file.stat().st_size for file in out.iterdir()):,} bytes in {len(os.listdir(out))} files")


if len(sys.argv) > 2 or sys.argv[-1].startswith("-"):
    sys.exit(__doc__)
main(pathlib.Path(sys.argv[1]) if len(sys.argv) == 2 else HERE / "models")
