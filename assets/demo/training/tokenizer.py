#!/usr/bin/python3
"""Byte-level BPE in plain Python: trains, encodes, decodes, and writes a Hugging Face tokenizer folder.

    tokenizer.py corpus.txt OUT_FOLDER --vocabulary SIZE

Text is cut as GPT-2 cuts it, but for a word with n't, which stays whole ("didn't"); a space is put in front of the
text. A word of the vocabulary is one token whatever the merges say ("ignore_merges"), so that the vocabulary holds
frequent and common words instead of the halves that merges would need on the way to them; the merges are for all
other words. Tokenizer here is for the generated text, which is ASCII: its letters and digits are ASCII's.
"""
import argparse
import collections
import heapq
import itertools
import json
import pathlib
import re

import words as w

BOS = "<|bos|>"
BOS_ID = 0
# As the tokenizer.json has it, and the same for ASCII text with Python's re.
SPLIT_PATTERN = r" ?\p{L}+n't|'(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
SPLIT = re.compile(SPLIT_PATTERN.replace(r"[^\s\p{L}\p{N}]", r"[^\sA-Za-z0-9]").replace(r"\p{L}", "[A-Za-z]")
                   .replace(r"\p{N}", "[0-9]"))
TRAINING_LINES = 300_000
# How many of the tokens are whole words: the listed ones and the most frequent of the corpus.
WHOLE_WORDS = 4560
# Merges are learned from the kinds of words rather than from running text: none counts for more than this.
MOST_COUNT = 20


def byte_characters():
    """GPT-2's printable stand-in for each of the 256 bytes."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    characters = {byte: chr(byte) for byte in printable}
    others = (byte for byte in range(256) if byte not in characters)
    characters.update({byte: chr(256 + i) for i, byte in enumerate(others)})
    return characters


BYTE_TO_CHARACTER = byte_characters()
CHARACTER_TO_BYTE = {character: byte for byte, character in BYTE_TO_CHARACTER.items()}


def cut(text):
    """The words of a text, each written with the stand-ins of its bytes."""
    return ["".join(BYTE_TO_CHARACTER[byte] for byte in word.encode()) for word in SPLIT.findall(text)]


def listed_words():
    """The words of common English, which get a token each even if the corpus has few of them."""
    single = (w.COMMON_NOUNS + w.COMMON_PLURALS + w.COMMON_THIRD_PERSON + w.COMMON_ING_FORMS + w.COMMON_PARTICIPLES +
              w.INTRANSITIVE_THIRD_PERSON + w.INTRANSITIVE_ING_FORMS + w.INTRANSITIVE_PARTICIPLES +
              w.COMMON_ADJECTIVES + w.COMPARATIVES + w.SUPERLATIVES + w.PREDICATE_ADJECTIVES + w.COMMON_ADVERBS +
              w.OPENING_ADVERBS + w.COMMON_FUNCTION_WORDS + w.COMMON_PREPOSITIONS + w.COMMON_CONJUNCTIONS +
              w.CONTRACTIONS + w.FIRST_WORDS + w.GREETINGS + w.MASS_NOUNS + w.GENERAL_NOUNS + w.GENERAL_ADJECTIVES)
    verbs = w.COMMON_VERBS + w.GENERAL_VERBS + w.GENERAL_INTRANSITIVE_VERBS + w.SAYING_VERBS
    return sorted(set(single) | {form for verb in verbs for form in verb})


def merged(symbols, pair):
    out, i = [], 0
    while i < len(symbols):
        if tuple(symbols[i:i + 2]) == pair:
            out.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return out


def whole_words(counts):
    """The listed words, then the most frequent of the corpus; of equals the first in the alphabet."""
    whole = dict.fromkeys(cut(" " + word)[0] for word in listed_words())
    frequent = sorted((word for word in counts if len(word) > 1), key=lambda word: (-counts[word], word))
    for word in frequent:
        if len(whole) == WHOLE_WORDS:
            break
        whole.setdefault(word)
    return list(whole)


def train(lines, vocabulary_size):
    """(tokens in the order of their ids without the BOS, merges [(left, right)] in order)."""
    counts = collections.Counter(word for line in lines for word in cut(" " + line))
    tokens = dict.fromkeys(sorted(BYTE_TO_CHARACTER.values()) + whole_words(counts))
    capped = {word: min(n, MOST_COUNT) for word, n in counts.items()}
    merges = []
    for left, right in learned_merges(capped):
        if len(tokens) == vocabulary_size - 1:
            break
        merges.append((left, right))
        tokens.setdefault(left + right)
    return list(tokens), merges


def learned_merges(counts):
    """Yields the most frequent pair of symbols, again and again; of equals the first in the alphabet."""
    words = [(list(word), n) for word, n in sorted(counts.items())]
    pair_counts = collections.Counter()
    words_with = collections.defaultdict(set)
    for i, (symbols, n) in enumerate(words):
        for pair in itertools.pairwise(symbols):
            pair_counts[pair] += n
            words_with[pair].add(i)
    heap = [(-n, pair) for pair, n in pair_counts.items()]
    heapq.heapify(heap)
    while heap:
        negative_count, pair = heapq.heappop(heap)
        if negative_count == 0 or pair_counts[pair] != -negative_count:
            continue  # the count has changed since the entry was made
        yield pair
        touched = set()
        for i in list(words_with[pair]):
            symbols, n = words[i]
            for old in itertools.pairwise(symbols):
                pair_counts[old] -= n
                words_with[old].discard(i)
                touched.add(old)
            symbols[:] = merged(symbols, pair)
            for new in itertools.pairwise(symbols):
                pair_counts[new] += n
                words_with[new].add(i)
                touched.add(new)
        for changed in touched:
            if pair_counts[changed] > 0:
                heapq.heappush(heap, (-pair_counts[changed], changed))


def save(tokens, merges, folder):
    """tokenizer.json and tokenizer_config.json, as Hugging Face's tokenizers read them."""
    vocabulary = {BOS: BOS_ID, **{token: i for i, token in enumerate(tokens, start=BOS_ID + 1)}}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": SPLIT_PATTERN}, "behavior": "Isolated", "invert": False}
    bos = {"SpecialToken": {"id": BOS, "type_id": 0}}
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": BOS_ID, "content": BOS, "single_word": False, "lstrip": False, "rstrip": False,
                          "normalized": False, "special": True}],
        "normalizer": {"type": "Prepend", "prepend": " "},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
        "post_processor": {"type": "TemplateProcessing", "single": [bos, first], "pair": [bos, first, second],
                           "special_tokens": {BOS: {"id": BOS, "ids": [BOS_ID], "tokens": [BOS]}}},
        "decoder": byte_level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "ignore_merges": True, "vocab": vocabulary,
                  "merges": [f"{left} {right}" for left, right in merges]},
    }
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": BOS, "eos_token": BOS, "unk_token": BOS,
              "model_max_length": 256, "clean_up_tokenization_spaces": False}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False, indent=0) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n")


class Tokenizer:
    """Reads a tokenizer.json that save() wrote."""

    def __init__(self, path):
        model = json.loads(pathlib.Path(path).read_text())["model"]
        self.vocabulary = model["vocab"]
        self.tokens = {i: token for token, i in self.vocabulary.items()}
        self.ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(model["merges"])}
        self.known_words = {}

    def __len__(self):
        return len(self.vocabulary)

    def word_ids(self, word):
        """Ids of one word, by the merges in the order of their ranks."""
        if word not in self.known_words:
            symbols = [word] if word in self.vocabulary else list(word)
            while len(symbols) > 1:
                best = min(itertools.pairwise(symbols), key=lambda pair: self.ranks.get(pair, len(self.ranks)))
                if best not in self.ranks:
                    break
                symbols = merged(symbols, best)
            self.known_words[word] = [self.vocabulary[symbol] for symbol in symbols]
        return self.known_words[word]

    def encode(self, text, bos=True):
        return [BOS_ID] * bos + [i for word in cut(" " + text) for i in self.word_ids(word)]

    def decode(self, ids):
        text = b"".join(bytes(CHARACTER_TO_BYTE[c] for c in self.tokens[i]) for i in ids if i != BOS_ID)
        return text.decode(errors="replace")

    def spans(self, text):
        """[(id, begin, end)] in bytes of the text, the BOS first and empty; a token's leading space is in its span."""
        out, begin = [(BOS_ID, 0, 0)], -1
        for i in self.encode(text, bos=False):
            end = begin + len(self.tokens[i])
            out.append((i, max(0, begin), end))
            begin = end
        return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--vocabulary", type=int, required=True)
    arguments = parser.parse_args()
    with open(arguments.corpus, encoding="ascii") as file:
        lines = [line.rstrip("\n") for line in itertools.islice(file, TRAINING_LINES)]
    save(*train(lines, arguments.vocabulary), arguments.folder)
    tokenizer = Tokenizer(arguments.folder / "tokenizer.json")
    text = "The cat didn't sit on the mat because it was tired; a creature roamed the verdant forest."
    tokens = [tokenizer.tokens[i] for i in tokenizer.encode(text)]
    whole = [word for word in listed_words() if len(tokenizer.encode(word, bos=False)) == 1]
    print(f"{len(tokenizer)} tokens; {len(whole)} of {len(listed_words())} listed words are one token", *tokens)


if __name__ == "__main__":
    main()
