#!/usr/bin/env python3
"""Compares these scripts with others' numbers and ids, for files that llama.cpp's own tools wrote.

Usage: check_models.py FOLDER, where FOLDER holds
    models/*.gguf
    refs/MODEL/meta.json   the file, its tokenizer, prompts P; with P.attn.npy (attention) and P.logits.npy (of the last
                           token), in float64
    tok/TOKENIZER.json     texts and ids

from_gguf.py computes the numbers, vocabularies.py the ids; gguf_file.py writes the file again, which must give the same
bytes. Exits 1 on a difference.
"""

import json
import pathlib
import sys
import tempfile

import numpy as np

import from_gguf
import gguf_file
import vocabularies


def numbers(folder):
    for meta in sorted(folder.glob("refs/*/meta.json")):
        reference = json.loads(meta.read_text())
        metadata, tensors = gguf_file.read(folder / "models" / reference["file"])
        for prompt, text in reference["prompts"].items():
            ours = from_gguf.run(metadata, tensors, text["ids"])
            attention = np.abs(ours["attention"].numpy() - np.load(meta.parent / f"{prompt}.attn.npy")).max()
            logits = np.abs(ours["logits"].numpy()[-1] - np.load(meta.parent / f"{prompt}.logits.npy")).max()
            print(f"{meta.parent.name:<24} {prompt}  attention {attention:.1e}  logits {logits:.1e}")
            yield bool(attention < 1e-5 and logits < 1e-4)


def ids(folder):
    models = [json.loads(meta.read_text()) for meta in folder.glob("refs/*/meta.json")]
    file_of = {model["tokenizer"]: model["file"] for model in models}
    for file in sorted(folder.glob("tok/*.json")):
        texts = json.loads(file.read_text())
        encoder = vocabularies.of_metadata(gguf_file.read_one(folder / "models" / file_of[file.stem])[0])
        same = sum(encoder.encode(case["text"]) == case["ids"] for case in texts["cases"])
        print(f"{file.stem:<24} {same} of {len(texts['cases'])} texts")
        yield same == len(texts["cases"])


def bytes_again(folder):
    for file in sorted(folder.glob("models/*.gguf")):
        original = file.read_bytes()
        with tempfile.TemporaryDirectory() as scratch:
            copy = pathlib.Path(scratch) / "copy.gguf"
            big_endian = gguf_file.Reader(original).big_endian
            gguf_file.write(copy, *gguf_file.read_one(file), big_endian=big_endian)
            same = copy.read_bytes() == original
        print(f"{file.name:<48} {'same bytes' if same else 'DIFFERS'}")
        yield same


if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
    sys.exit(__doc__)
root = pathlib.Path(sys.argv[1])
sys.exit(0 if all([*numbers(root), *ids(root), *bytes_again(root)]) else 1)
