#!/usr/bin/env python3
"""Takes small extracts of the reference data beside the checkout, for those who do not have it.

    tests/reference/extract.py ../shared/reference

Numbers only: worked examples of textbooks, and blocks of random numbers as GGUF's own
implementation quantises and reads them, one row of 512 weights each. Models and vocabularies of
others are not taken; the tests that need them say so.
"""

import json
import pathlib
import sys

ROW = 512  # weights


def textbook(source, target):
    examples = json.loads(source.read_text())
    kept = {name: examples[name] for name in ("book_d3", "numpy42_n3", "softmax_sqrt128")}
    for example in kept.values():
        example.pop("note", None)
    target.write_text(json.dumps(kept, indent=None, separators=(",", ":")) + "\n")


def blocks(source, target):
    target.mkdir(exist_ok=True)
    types = json.loads((source / "types.json").read_text())["types"]
    for name, of in sorted(types.items()):
        for kind in ("", ".rand"):
            path = source / "A" / f"{name}{kind}.bin"
            if not path.exists() or of["block"] == 1:
                continue
            n_bytes = ROW // of["block"] * of["bytes"]
            floats = (path.with_suffix(".f32")).read_bytes()[: 4 * ROW]
            (target / path.name).write_bytes(path.read_bytes()[:n_bytes])
            (target / path.name).with_suffix(".f32").write_bytes(floats)


def main():
    source = pathlib.Path(sys.argv[1])
    target = pathlib.Path(__file__).parent
    textbook(source / "textbook.json", target / "textbook.json")
    blocks(source / "gguf" / "quants", target / "gguf" / "ggml")


main()
