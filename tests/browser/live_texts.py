"""Texts for the model in the page: those that break tokenizers, and random ones."""
import random

SENTENCES = [
    "The cat sat on the mat because it was tired",
    "The animal didn't cross the street because it was too tired.",
    "Mary met John at the store. She gave him a drink.",
    "Anna is a baker and Tom is a pilot. She baked fresh bread.",
]

HARD = [
    "a", "x y", "  The  cat", "The cat\n\nsat\t\ton", " lead", "trail ", "trail  \n",
    "don't didn't won't I'm you're he's we'll they'd I've 'tis ''s 's'd n't xn't DON'T Don't",
    "<|bos|>", "The <|bos|> cat", "<F0> <F0 9F>", "\\s␠ Ġ Ġthe Ċ ĉ", "'", "''''", "...",
    "!?!? -- --- \"quoted\"", "😀", "The 😀 smiled 👩‍👩‍👧‍👦 🇩🇪 👍🏽", "日本語のテキスト 中文 한국어",
    "café naïve e\u0301 Ångström ﬁ ß", "Привет мир مرحبا שלום नमस्ते ไทย",
    "123 4567 ١٢٣ ½ ² Ⅷ 12abc abc12", "\0", "a\0b \x01\x1b[31m\x7f\x80\x85x", "\x85 hm", "\ufeff",
    "\ufeffThe\ufeff cat", "\u3000a\u3000b", "\u00a0a\u00a0 b", "\u2028x\u2029",
    "\u200b\u200d\u200e", "\ufffd x \ufffd\ufffd", "\U0010ffff \ue000 \u0378", "x\r\ny\r\n\r\nz",
    "a\v\fb", "\u180e x\u180ey", "</script><img src=x onerror=alert(1)>", "x" * 200,
    "thethethe" * 20, "Supercalifragilistic" * 6, "cat " * 120 + "cat",
]

REFUSED = ["", "   ", "\n\t\r\v\f ", "cat " * 255 + "cat", "x" * 3000]

WORDS = """Anna Tom Mary John The the a cat dog bird animal baker pilot book ball bread key sat gave
met saw told lost ran slept wrote on in under to of and because but while so she he it they was were
is had tired hungry happy red old fresh mat street store garden Later, again. today! why? didn't
won't Tom's""".split()

RANGES = [(32, 127), (0, 32), (97, 123), (0x80, 0x800), (0x800, 0xD7FF), (0xE000, 0x10000),
          (0x1F300, 0x1F700), (0x10000, 0x110000)]


def random_texts(count, seed):
    """Half sentences of the model's words, half signs of all kinds; the same for the same seed."""
    chance = random.Random(seed)
    texts = []
    for i in range(count):
        if i % 2 == 0:
            texts.append(" ".join(chance.choice(WORDS) for _ in range(chance.randint(2, 14))))
        else:
            signs = []
            for _ in range(chance.randint(1, 12)):
                signs.append(chance.choice([" ", " the", "'s", "n't", "cat", "\n"])
                             if chance.random() < 0.3 else chr(chance.randrange(*chance.choice(RANGES))))
            texts.append("x" + "".join(signs))
    return texts
