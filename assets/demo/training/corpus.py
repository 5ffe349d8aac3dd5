#!/usr/bin/python3
"""Writes a seeded corpus of everyday English with much co-reference, agreement and repetition.

    corpus.py --words WORDS --seed 1 --out corpus.txt

One document a line. The same seed and number of words give the same bytes, whatever the machine.
"""
import argparse
import pathlib

import words as w
from generator import unmarked
from sentences import SentenceGenerator

# Parts of a document and how often each is drawn; the weights sum to 114.
PARTS = {"coreference": 44, "giving": 6, "action": 11, "agreement": 5, "reflexive": 5, "quotation": 4,
         "repeated_list": 4, "repeated_words": 4, "counting": 1, "fact": 2, "full_name": 6, "question": 4, "tale": 8,
         "general": 10}


def document(generator):
    """One to five parts in a row, one time in thirty said twice, or a saying."""
    if generator.chance(.01):
        return generator.pick(w.SAYINGS)
    x = generator.random.random()
    n_parts = 1 if x < .6 else 2 if x < .8 else generator.random.randint(3, 5)
    names = generator.random.choices(list(PARTS), list(PARTS.values()), k=n_parts)
    parts = [getattr(generator, name)() for name in names]
    if generator.chance(.03):
        parts *= 2
    return unmarked(" ".join(parts))


def documents(n_words, seed):
    """Documents until there are n_words words."""
    generator, n = SentenceGenerator(seed), 0
    while n < n_words:
        text = document(generator)
        n += text.count(" ") + 1
        yield text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=float, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default="corpus.txt")
    arguments = parser.parse_args()
    with open(arguments.out, "w", encoding="ascii") as file:
        for text in documents(arguments.words, arguments.seed):
            file.write(text + "\n")


if __name__ == "__main__":
    main()
