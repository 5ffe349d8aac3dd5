"""Small vocabularies as GGUF's metadata has them, and encoders written for reading: text to ids.

A vocabulary is a class with metadata() and encode(text), the latter without the ids that a text begins or ends with;
those are in `before` and `after`.
"""

import collections
import re
import sys
import unicodedata

NORMAL, UNKNOWN, CONTROL, UNUSED, BYTE = 1, 2, 3, 5, 6
SPACE = "▁"

# What vocabularies learn their pieces from.
TEXT = "the cat sat on the mat because it was tired and the other cat was not there then they met at the tree"


def learn(words, n):
    """Byte-pair encoding (Sennrich et al. 2016): at most n pairs, the most frequent first, ties by spelling."""
    words = [list(word) for word in words]
    pairs = []
    while len(pairs) < n:
        counts = collections.Counter(pair for word in words for pair in zip(word, word[1:]))
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        pairs.append(best)
        words = [merge_all(word, best) for word in words]
    return pairs


def merge_all(word, pair):
    merged, i = [], 0
    while i < len(word):
        step = 2 if tuple(word[i : i + 2]) == pair else 1
        merged.append("".join(word[i : i + step]))
        i += step
    return merged


def filled(tokens, types, n):
    """n tokens and types: cut, or filled with unused ones."""
    unused = [f"[PAD{i}]" for i in range(len(tokens), n)]
    return (tokens + unused)[:n], (types + [UNUSED] * len(unused))[:n]


class SentencePiece:
    """tokenizer.ggml.model "llama": of all neighbours that make a token the one with the best score merges first."""

    def __init__(self, n, byte_tokens=False, gemma=False):
        specials = ["<pad>", "<eos>", "<bos>", "<unk>"] if gemma else ["<unk>", "<s>", "</s>"]
        self.unknown, self.bos, self.eos = (3, 2, 1) if gemma else (0, 1, 2)
        words = [SPACE + word for word in TEXT.split()]
        letters = sorted(set("".join(words)))
        pieces = list(dict.fromkeys("".join(pair) for pair in learn(words, 300)))
        tokens = specials + ([f"<0x{i:02X}>" for i in range(256)] if byte_tokens else [])
        types = [UNKNOWN if token == "<unk>" else CONTROL for token in specials]
        types += [BYTE] * (len(tokens) - len(specials))
        pieces = pieces[: n - len(tokens) - len(letters)] + letters
        scores = [0.0] * len(tokens) + [-float(i) for i in range(len(pieces))]
        self.tokens, self.types = filled(tokens + pieces, types + [NORMAL] * len(pieces), n)
        self.scores = (scores + [0.0] * n)[:n]
        self.space_first = not gemma
        self.before, self.after = [self.bos], []
        self.ids = {token: i for i, token in enumerate(self.tokens)}

    def metadata(self):
        return {
            "tokenizer.ggml.model": ("string", "llama"),
            "tokenizer.ggml.pre": ("string", "default"),
            "tokenizer.ggml.tokens": ("[string]", self.tokens),
            "tokenizer.ggml.scores": ("[f32]", self.scores),
            "tokenizer.ggml.token_type": ("[i32]", self.types),
            "tokenizer.ggml.bos_token_id": ("u32", self.bos),
            "tokenizer.ggml.eos_token_id": ("u32", self.eos),
            "tokenizer.ggml.unknown_token_id": ("u32", self.unknown),
            "tokenizer.ggml.add_bos_token": ("bool", True),
            "tokenizer.ggml.add_eos_token": ("bool", False),
            **({} if self.space_first else {"tokenizer.ggml.add_space_prefix": ("bool", False)}),
        }

    def encode(self, text):
        parts = list((" " * (self.space_first and text != "") + text).replace(" ", SPACE))
        while True:
            made = [a + b for a, b in zip(parts, parts[1:])]
            able = [i for i, token in enumerate(made) if token in self.ids and self.types[self.ids[token]] == NORMAL]
            if not able:
                break
            best = max(able, key=lambda i: (self.scores[self.ids[made[i]]], -i))
            parts[best : best + 2] = [made[best]]
        ids = []
        for part in parts:
            spelled = [f"<0x{byte:02X}>" for byte in part.encode()]
            ids += [self.ids[part]] if part in self.ids else [self.ids.get(byte, self.unknown) for byte in spelled]
        return ids


def letters_of_bytes():
    """GPT-2's: a printable letter for each byte; those that are none get the letters from 256 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {**{byte: chr(byte) for byte in printable}, **{byte: chr(256 + i) for i, byte in enumerate(others)}}


def members(category):
    """The characters of a Unicode category, for a regular expression's brackets."""
    codes = [c for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c))[0] == category]
    starts = [c for c, before in zip(codes, [-2, *codes]) if c != before + 1]
    ends = [c for c, after in zip(codes, [*codes[1:], sys.maxunicode + 9]) if c + 1 != after]
    return "".join(f"{re.escape(chr(a))}-{re.escape(chr(b))}" for a, b in zip(starts, ends))


LETTER, NUMBER = members("L"), members("N")
APOSTROPHES = "'s|'t|'re|'ve|'m|'ll|'d"
NEWER = (
    rf"(?i:{APOSTROPHES})|[^\r\n{LETTER}{NUMBER}]?[{LETTER}]+|[{NUMBER}]DIGITS"
    rf"| ?[^\s{LETTER}{NUMBER}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# By tokenizer.ggml.pre.
PATTERNS = {
    "gpt-2": rf"{APOSTROPHES}| ?[{LETTER}]+| ?[{NUMBER}]+| ?[^\s{LETTER}{NUMBER}]+|\s+(?!\S)|\s+",
    "llama-bpe": NEWER.replace("DIGITS", "{1,3}"),
    "qwen2": NEWER.replace("DIGITS", ""),
}


class BytePairs:
    """tokenizer.ggml.model "gpt2": the pattern splits the text, pairs merge in the order of the list."""

    def __init__(self, n, pre="gpt-2", all_bytes=False, special="<|endoftext|>"):
        letters = letters_of_bytes()
        spelled = ["".join(letters[byte] for byte in word.encode()) for word in re.findall(PATTERNS[pre], TEXT)]
        alphabet = sorted(letters.values() if all_bytes else set("".join(spelled)))
        pairs = []
        for pair in learn(spelled, 300):
            if len(alphabet) + len(pairs) < n - 1:
                pairs.append(pair)
        tokens = alphabet + ["".join(pair) for pair in pairs]
        # The special token is the last one.
        tokens, types = filled(tokens, [NORMAL] * len(tokens), n - 1)
        self.use(pre, tokens + [special], types + [CONTROL], pairs)
        self.bos = self.eos = n - 1
        # Llama 3 begins texts with its first token, unless the metadata says otherwise.
        self.before, self.after = [self.bos] if pre == "llama-bpe" else [], []

    def use(self, pre, tokens, types, pairs):
        self.pre, self.tokens, self.types, self.pairs = pre, tokens, types, pairs
        self.ids = {token: i for i, token in enumerate(tokens)}
        self.ranks = {pair: rank for rank, pair in enumerate(pairs)}
        return self

    def metadata(self):
        return {
            "tokenizer.ggml.model": ("string", "gpt2"),
            "tokenizer.ggml.pre": ("string", self.pre),
            "tokenizer.ggml.tokens": ("[string]", self.tokens),
            "tokenizer.ggml.token_type": ("[i32]", self.types),
            "tokenizer.ggml.merges": ("[string]", [" ".join(pair) for pair in self.pairs]),
            "tokenizer.ggml.bos_token_id": ("u32", self.bos),
            "tokenizer.ggml.eos_token_id": ("u32", self.eos),
        }

    def encode(self, text):
        letters, ids = letters_of_bytes(), []
        for word in re.findall(PATTERNS[self.pre], text):
            word = [letters[byte] for byte in word.encode()]
            if self.pre == "llama-bpe" and "".join(word) in self.ids:  # a whole word needs no merges
                word = ["".join(word)]
            while True:
                pairs = [pair for pair in zip(word, word[1:]) if pair in self.ranks]
                if not pairs:
                    break
                word = merge_all(word, min(pairs, key=self.ranks.get))
            ids += [self.ids[part] for part in word]
        return ids


class WordPiece:
    """tokenizer.ggml.model "bert": the longest piece first. ▁ marks pieces that begin a word; the others have no ##."""

    SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

    def __init__(self, n):
        words = sorted(set(TEXT.split()), key=TEXT.index)
        beginnings = [SPACE + piece for piece in words[:14] + ["t", "c", "s", "m", "o", ".", ",", "!"]]
        endings = ["s", "ed", "ing", "at", "e", "h", "r", "en", "t", "est"]
        pieces = [SPACE + "cat", *beginnings, *endings]
        pieces = list(dict.fromkeys(pieces))
        types = [CONTROL] * len(self.SPECIALS) + [NORMAL] * len(pieces)
        self.tokens, self.types = filled(self.SPECIALS + pieces, types, n)
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        self.before, self.after = [2], [3]

    def metadata(self):
        return {
            "tokenizer.ggml.model": ("string", "bert"),
            "tokenizer.ggml.pre": ("string", "default"),
            "tokenizer.ggml.tokens": ("[string]", self.tokens),
            "tokenizer.ggml.token_type": ("[i32]", self.types),
            "tokenizer.ggml.token_type_count": ("u32", 2),
            "tokenizer.ggml.unknown_token_id": ("u32", 1),
            "tokenizer.ggml.cls_token_id": ("u32", 2),
            "tokenizer.ggml.seperator_token_id": ("u32", 3),  # the key is spelled like this
            "tokenizer.ggml.padding_token_id": ("u32", 0),
            "tokenizer.ggml.mask_token_id": ("u32", 4),
            "tokenizer.ggml.bos_token_id": ("u32", 2),
            "tokenizer.ggml.eos_token_id": ("u32", 3),
        }

    def encode(self, text):
        plain = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
        ids = []
        for word in re.findall(r"\w+|[^\w\s]", plain):
            word, found = SPACE + word, []
            while word and found is not None:
                length = next((n for n in range(len(word), 0, -1) if word[:n] in self.ids), 0)
                found = found + [self.ids[word[:length]]] if length else None
                word = word[length:]
            ids += [1] if found is None else found
        return ids


class Unigram:
    """tokenizer.ggml.model "t5": the pieces with the largest sum of scores (Kudo 2018); unknowns in a row are one id."""

    def __init__(self, n):
        specials = ["<s>", "<pad>", "</s>", "<unk>"]
        words = [SPACE + word for word in TEXT.split()]
        letters = sorted(set("".join(words)) - set("bdiu"))
        pieces = list(dict.fromkeys("".join(pair) for pair in learn(words, 300)))[: n - len(specials) - len(letters)]
        types = [CONTROL] * 3 + [UNKNOWN] + [NORMAL] * (n - len(specials))
        # Not in the order of merging, so that another way of joining pieces gives other ids.
        scores = [-2.5 - 0.37 * (7 * i % 11) - 0.01 * i for i in range(len(pieces))]
        scores += [-6.0 - 0.13 * i for i in range(len(letters))]
        self.tokens, self.types = filled(specials + pieces + letters, types, n)
        self.scores = ([0.0] * 4 + scores + [0.0] * n)[:n]
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        self.before, self.after = [0], [2]

    def metadata(self):
        return {
            "tokenizer.ggml.model": ("string", "t5"),
            "tokenizer.ggml.pre": ("string", "default"),
            "tokenizer.ggml.tokens": ("[string]", self.tokens),
            "tokenizer.ggml.scores": ("[f32]", self.scores),
            "tokenizer.ggml.token_type": ("[i32]", self.types),
            "tokenizer.ggml.add_space_prefix": ("bool", True),
            "tokenizer.ggml.token_type_count": ("u32", 1),
            "tokenizer.ggml.remove_extra_whitespaces": ("bool", True),
            "tokenizer.ggml.bos_token_id": ("u32", 0),
            "tokenizer.ggml.eos_token_id": ("u32", 2),
            "tokenizer.ggml.unknown_token_id": ("u32", 3),
            "tokenizer.ggml.padding_token_id": ("u32", 1),
            "tokenizer.ggml.seperator_token_id": ("u32", 2),
            "tokenizer.ggml.add_bos_token": ("bool", True),
            "tokenizer.ggml.add_eos_token": ("bool", True),
        }

    def encode(self, text):
        """Each word with one space in front; best[i]: (sum of scores, ids) of the first i characters."""
        text = "".join(SPACE + word for word in text.split(" ") if word)
        usable = {token for token, kind in zip(self.tokens, self.types) if kind == NORMAL}
        unknown = min(self.scores[self.ids[token]] for token in usable) - 10
        best = [(0.0, [])]
        for end in range(1, len(text) + 1):
            pieces = [(begin, text[begin:end]) for begin in range(end)]
            ways = [
                (best[begin][0] + self.scores[self.ids[piece]], best[begin][1] + [self.ids[piece]])
                for begin, piece in pieces
                if piece in usable
            ]
            if text[end - 1] not in usable:
                ways.append((best[end - 1][0] + unknown, best[end - 1][1] + [3]))
            best.append(max(ways, key=lambda way: way[0]))
        ids = best[-1][1]
        return [token for i, token in enumerate(ids) if token != 3 or i == 0 or ids[i - 1] != 3]


def of_metadata(metadata):
    """The encoder of a file's vocabulary."""

    def get(key):
        return metadata["tokenizer.ggml." + key][1]

    tokens, types = get("tokens"), get("token_type")
    if get("model") == "gpt2":
        pairs = [tuple(merge.split(" ")) for merge in get("merges")]
        return BytePairs.__new__(BytePairs).use(get("pre"), tokens, types, pairs)
    encoder = {"llama": SentencePiece, "bert": WordPiece, "t5": Unigram}[get("model")](len(tokens))
    encoder.tokens, encoder.types, encoder.ids = tokens, types, {token: i for i, token in enumerate(tokens)}
    if get("model") in ("llama", "t5"):
        encoder.scores = get("scores")
        encoder.space_first = metadata.get("tokenizer.ggml.add_space_prefix", (None, True))[1]
    return encoder
