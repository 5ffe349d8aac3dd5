#!/usr/bin/env python3
"""Compares families.py with what others computed for two small trained models.

Usage: check_golden.py FOLDER, where FOLDER holds stories260k/ and gpt-nano-sort/. Exits 1 on a difference.
"""

import json
import pathlib
import sys

import numpy as np

import families
import safetensors_file


def difference(name, computed, expected, tolerance):
    worst = float(np.abs(np.asarray(computed) - np.asarray(expected, "f8")).max())
    print(f"{name:<34} {worst:.2e}  (allowed {tolerance:.0e})")
    return worst <= tolerance


def greedy(config, tensors, ids, n):
    ids = list(ids)
    while len(ids) < n:
        ids.append(int(families.run(config, tensors, ids)["logits"][-1].argmax()))
    return ids


def stories(folder):
    config, tensors = safetensors_file.read_folder(folder)
    text = json.loads((folder / "cat.json").read_text())
    ours = families.run(config, tensors, text["ids"])
    probabilities = ours["logits"][-1].softmax(-1)
    top = [[int(i), float(p)] for p, i in zip(*probabilities.topk(5))]
    yield difference("llama attention", ours["attention"], np.load(folder / "cat.attention.npy"), 1e-5)
    yield difference("llama logits", ours["logits"], np.load(folder / "cat.logits.npy"), 1e-4)
    yield difference("llama five best next tokens", top, [[i, p] for i, _, p in text["top5"]], 1e-6)
    expected = json.loads((folder / "greedy.json").read_text())["ids"]
    same = greedy(config, tensors, expected[:1], len(expected)) == expected
    print(f"{'llama greedy text':<34} {'same' if same else 'DIFFERS'}")
    yield same


def nano_sort(folder):
    config, tensors = safetensors_file.read_folder(folder)
    theirs = np.load(folder / "nano_sort_partials.npz")
    for text in range(len(theirs["idx"])):
        ours = families.run(config, tensors, theirs["idx"][text].astype("i8"))
        name = f"gpt2 text {text} "
        yield difference(name + "attention of layer 0", ours["attention"][0], theirs["attSm"][text], 1e-5)
        yield difference(name + "after the last norm", ours["hidden"], theirs["ln_f"][text], 1e-4)
        yield difference(name + "logits", ours["logits"], theirs["lm_head"][text], 1e-4)


if len(sys.argv) != 2:
    sys.exit(__doc__)
models = pathlib.Path(sys.argv[1])
agrees = [*stories(models / "stories260k"), *nano_sort(models / "gpt-nano-sort")]
sys.exit(0 if all(agrees) else 1)
