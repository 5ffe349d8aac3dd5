#!/usr/bin/env python3
"""Makes small SentencePiece models and cases.json: what SentencePiece itself makes of random texts.

    apt-get install python3-sentencepiece && ./make.py [TEXTS]
"""
import io
import itertools
import json
import pathlib
import random
import sys

import sentencepiece

HERE = pathlib.Path(__file__).parent
WORDS = "the cat sat on mat and dog ran to it was tired abc xyz ABC naïve straße 猫が好き привет мир".split()

# User-defined pieces: one alone, and some with spaces and of what spaces become.
MARK = ["[U]"]
SPACED = MARK + ["a b", "x  y", " z", "w ", "  ", "   q", "▁▁", "▁k", "A▁B", "n ▁"]


def corpus(rng):
    for _ in range(300):
        yield " ".join(rng.choice(WORDS) for _ in range(rng.randint(2, 9)))


def text(rng, pieces):
    parts = []
    for _ in range(rng.randint(1, 7)):
        parts.append(rng.choice(WORDS + pieces + [ "ab[U]", "<s>", "▁", "q☃", "\u200b", "é"]))
        parts.append(rng.choice([" ", " ", "  ", "", "\t", "\u3000", "\n", "▁", " ▁"]))
    return rng.choice(["", "", " ", "  ", "\u00a0"]) + "".join(parts)


def settings():
    kinds = ("unigram", "bpe")
    either = (False, True)
    yield from itertools.product(kinds, either, either, either, either, [MARK])
    yield from itertools.product(kinds, either, either, [True], [True], [SPACED])


def main():
    n_texts = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    cases = []
    for kind, suffix, extra, prefix, fallback, pieces in settings():
        rng = random.Random(len(cases))
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=corpus(rng), model_writer=model, model_type=kind,
            vocab_size=370 if fallback else 110, treat_whitespace_as_suffix=suffix,
            remove_extra_whitespaces=extra, add_dummy_prefix=prefix, byte_fallback=fallback,
            user_defined_symbols=pieces, normalization_rule_name="identity",
            hard_vocab_limit=False, num_threads=1, minloglevel=2)
        name = "-".join([kind] + [word for word, there in (
            ("suffix", suffix), ("extra", extra), ("prefix", prefix), ("bytes", fallback),
            ("spaced", pieces is SPACED)) if there])
        (HERE / f"{name}.model").write_bytes(model.getvalue())
        processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
        texts = [text(rng, pieces) for _ in range(n_texts)]
        cases.append({"model": f"{name}.model", "texts": texts,
                      "expected": [processor.encode(one) for one in texts]})
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    (HERE / "cases.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


main()
