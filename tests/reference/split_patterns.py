"""Makes split_patterns.json: texts as the patterns of models cut them, by Python's regex module (2026.5.9).

The patterns are those of the models' own files (tokenization_kimi.py, tokenizer.json), written anew for `regex`, where
`&&` needs nested classes. Each cuts what the one before it has left whole: what matches is a word, and so is the rest.

  python3 split_patterns.py > split_patterns.json
"""

import json

import regex

CASES = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
SPACES = r"|\s*[\r\n]+|\s+(?!\S)|\s+"


def words(upper, lower):
    return rf"[^\r\n\p{{L}}\p{{N}}]?{upper}*{lower}+{CASES}|[^\r\n\p{{L}}\p{{N}}]?{upper}+{lower}*{CASES}"


PATTERNS = {
    "kimi-k2": [r"[\p{Script=Han}]+|" + words(rf"[{UPPER}&&[^\p{{Script=Han}}]]", rf"[{LOWER}&&[^\p{{Script=Han}}]]")
                + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + SPACES],
    "youtu": ["[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥\u3040-ゟ゠-ヿ]+",
              words(UPPER, LOWER) + r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + SPACES],
    "tiny_aya": [r"\d{1,3}(?=(?:\d{3})*\b)", words(UPPER, LOWER) + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + SPACES],
    "superbpe": [r"\p{N}+", r"(?=(?:\d{3})+(?!\d))"],
}
TEXTS = [
    "HelloWorld, getUserName's iPhone isn't 1234567 OK.",
    "数字12345和English混合，々〇。かなカナ「猫」\n\n  다음 한국어ㄱㄴ ㄅㄆ",
    " 1 22 333 4444 55555 a1234b 12_345 3.14159 ١٢٣٤ ½",
    "tabs\t\tand  spaces \r\n/path/to//\n x+=1; ...\n",
    "naïve café ÉCOLE straße ǅ नमस्ते ไทย עברית العربية 🙂🙂!",
]


def cut(pieces, pattern):
    out = []
    for piece in pieces:
        at = 0
        for match in regex.finditer(pattern, piece, regex.V1):
            out += [piece[at:match.start()], match.group()]
            at = match.end()
        out.append(piece[at:])
    return [one for one in out if one]


splits = {}
for name, patterns in PATTERNS.items():
    splits[name] = []
    for text in TEXTS:
        pieces = [text]
        for pattern in patterns:
            pieces = cut(pieces, pattern)
        splits[name].append(pieces)
print(json.dumps({"texts": TEXTS, "splits": splits}, ensure_ascii=False, indent=1))
