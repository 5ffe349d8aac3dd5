#!/usr/bin/env python3
"""Compares from_gguf.py with what others computed, in float64, for files that llama.cpp's own tools wrote.

Usage: check_models.py FOLDER, where FOLDER holds models/*.gguf and, for each, refs/MODEL/meta.json with prompts P and
P.attn.npy (attention) and P.logits.npy (of the last token). Exits 1 on a difference.
"""

import json
import pathlib
import sys

import numpy as np

import from_gguf
import gguf_file

if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
    sys.exit(__doc__)
folder, agrees = pathlib.Path(sys.argv[1]), True
for meta in sorted(folder.glob("refs/*/meta.json")):
    reference = json.loads(meta.read_text())
    metadata, tensors = gguf_file.read(folder / "models" / reference["file"])
    for prompt, text in reference["prompts"].items():
        ours = from_gguf.run(metadata, tensors, text["ids"])
        attention = np.abs(ours["attention"].numpy() - np.load(meta.parent / f"{prompt}.attn.npy")).max()
        logits = np.abs(ours["logits"].numpy()[-1] - np.load(meta.parent / f"{prompt}.logits.npy")).max()
        agrees &= bool(attention < 1e-5 and logits < 1e-4)
        print(f"{meta.parent.name:<24} {prompt}  attention {attention:.1e}  logits {logits:.1e}")
sys.exit(0 if agrees else 1)
