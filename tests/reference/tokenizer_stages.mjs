// Makes tokenizer_stages.json: what Hugging Face's own tokenizers (Rust, with Oniguruma) make of
// random texts in twenty scripts, stage by stage.
//
//   npm install --no-save tokenizers@0.23.2 && node tokenizer_stages.mjs [TEXTS [SEED]] > tokenizer_stages.json
import { createRequire } from "node:module";
const { Tokenizer } = createRequire(process.cwd() + "/")("tokenizers");

const nTexts = Number(process.argv[2] ?? 12);
let state = BigInt(process.argv[3] ?? 1);
function random(n) {  // a linear congruential generator, so that a seed gives one file everywhere
  state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
  return Number((state >> 33n) % BigInt(n));
}
const pick = (list) => list[random(list.length)];
const range = (first, last) =>
  Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i));

// Letters, marks and digits that Unicode 14 knows. Words of a script are made of its own.
const scripts = [
  [..."abcdefgABCDEFGzZ", ..."éüßñøǅſİıﬁ"],
  range(0x391, 0x3a1).concat(range(0x3b1, 0x3c9), ["ᾳ", "ΐ", "ς"]),
  range(0x410, 0x44f),
  range(0x531, 0x556).concat(range(0x561, 0x587)),
  range(0x5d0, 0x5ea).concat(["\u05b0", "\u05bc"]),
  range(0x621, 0x64a).concat(["\u064b", "\u0651", "٣", "٤"]),
  [..."پچژگکیهامن\u200c\u200c۴۵"],
  range(0x905, 0x939).concat(range(0x93e, 0x94d), ["\u200d", "\u200c", "४", "।"]),
  range(0x995, 0x9a8).concat(["\u09cd", "\u09be", "\u09c7"]),
  range(0xb95, 0xb95).concat(["க", "ங", "ச", "\u0bcd", "\u0bbe", "\u0bcb"]),
  range(0xe01, 0xe3a).concat(range(0xe40, 0xe4e), ["๓"]),
  range(0xe81, 0xe82).concat(["ກ", "ຂ", "\u0ec8", "\u0eb1", "ໜ"]),
  range(0xf40, 0xf47).concat(["\u0f72", "\u0f0b", "\u0fb2"]),
  range(0x1000, 0x1021).concat(["\u103a", "\u1039", "\u102c"]),
  range(0x1780, 0x17b3).concat(range(0x17b6, 0x17d3), ["៥"]),
  range(0x1820, 0x1842).concat(["\u180b", "\u180e", "\u202f"]),
  range(0x10d0, 0x10f0).concat(range(0x10a0, 0x10a5)),
  range(0x1200, 0x1248),
  [..."한국어안녕하세요", "\u1112", "\u1161", "\u11ab", "ㅋ", "ㄳ"],
  [..."猫喜欢魚中文漢字々〇"],
  [..."ひらがなカタカナー゛ﾊﾟ"],
  ["😀", "👩\u200d👩\u200d👧", "👍🏽", "🇩🇪", "❤\ufe0f", "1\ufe0f\u20e3", "🏴\u{e0067}\u{e007f}"],
];
const signs = [..."!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", ..."¿«»–—…。、！？،؛।฿€№©²½ⅧⅣ·‿⁀", "'s", "'LL", "...", "`"];
const digits = ["0", "7", "42", "1234", "٣", "५", "²", "Ⅷ", "½"];
const spaces = [" ", " ", " ", "  ", "   ", "\n", "\r\n", "\n\n", "\t", "\u00a0", "\u3000", "\u2009",
                "\u0085", "\u2028", "\u180e", "\u200b", "\v", "\f", "\u1680"];
const odd = ["\u0000", "\u0007", "\u0378", "\u{e000}", "\ufeff", "\ufffd", "\u00ad", "\u2065",
             "\u{1fbff}", "\u0301", "\u20dd", "\u0308"];

function text() {
  const out = [];
  const few = [pick(scripts), pick(scripts), scripts[0]];
  for (let n = 2 + random(9); n > 0; --n) {
    const kind = random(20);
    if (kind < 10) {
      const letters = pick(few);
      for (let m = 1 + random(6); m > 0; --m) out.push(pick(letters));
    } else if (kind < 13) {
      out.push(pick(signs));
    } else if (kind < 15) {
      out.push(pick(digits));
    } else if (kind < 19) {
      out.push(pick(spaces));
    } else {
      out.push(pick(odd));
    }
    if (random(2)) out.push(" ");
  }
  return out.join("");
}

function tokenizer(stages) {
  return Tokenizer.fromString(JSON.stringify({
    version: "1.0", truncation: null, padding: null, added_tokens: [],
    normalizer: stages.normalizer ?? null, pre_tokenizer: stages.pre_tokenizer ?? null,
    post_processor: null, decoder: null,
    model: { type: "WordLevel", vocab: { "[UNK]": 0 }, unk_token: "[UNK]" },
  }));
}

const normalizers = [
  ...[[true, true, null, true], [true, false, false, false], [false, true, true, false],
      [true, true, true, true]].map(([clean_text, handle_chinese_chars, strip_accents, lowercase]) => (
    { type: "BertNormalizer", clean_text, handle_chinese_chars, strip_accents, lowercase })),
  ...["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt"].map((type) => ({ type })),
  { type: "Strip", strip_left: true, strip_right: true },
  ...["\\s+", "[^\\w\\s]", "\\b", "$", "(?<=\\p{L})(?=\\d)", " {2,}"].map((Regex) => (
    { type: "Replace", pattern: { Regex }, content: "_" })),
];

const ofModels = {
  gpt2: "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
  llama3: "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  qwen2: "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  gpt4o: "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  tekken: "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  deepseek3: "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  clip: "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+",
  bloom: " ?[^(\\s|[.,!?…。，、।۔،])]+",
};
const features = ["\\w+", "\\W+", "[\\p{L}&&[^\\p{Han}]]+", "[a[bc]]+", "\\p{N}{1,3}+", "^", "$", "\\b", "\\B",
  "\\h", "\\X", "[[:alpha:]]+", "[[:punct:]]", "[[:^punct:]]+", "\\p{Punct}", "\\p{S}", "\\P{L}+", "\\p{^L}+", "[[:graph:]]+", "[[:print:]]+",
  "[[:cntrl:]]", "[[:word:]]+", "[[:xdigit:]]+", "[[:blank:]]+", "[[:upper:]]", "[[:lower:]]+", "[[:space:]]+", "[[:alnum:]]+", "(?<=\\p{L})(?=\\p{N})", "\\R",
  "(?i:ss|ß|s)", "\\d+", "[^\\s]", "\\s", "(?m:.)", ".", "\\p{Han}+", "\\p{Arabic}+", "(\\p{L})\\1", "^\\s*",
  "\\s*$", "\\p{Emoji}", "(?=[A-Z])", "\\S+\\s*", "\\A.", "[\\w&&\\p{Ll}]", "x*"];
const split = (Regex, behavior = "Isolated", invert = false) => (
  { type: "Split", pattern: { Regex }, behavior, invert });
const preTokenizers = [
  ...["Whitespace", "WhitespaceSplit", "BertPreTokenizer"].map((type) => ({ type })),
  ...["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"].flatMap((behavior) => [
    { type: "Punctuation", behavior }, split("\\s|\\b", behavior), split("\\w", behavior, true)]),
  { type: "Digits", individual_digits: true }, { type: "Digits", individual_digits: false },
  { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
  ...["always", "first", "never"].map((prepend_scheme) => (
    { type: "Metaspace", replacement: "▁", prepend_scheme, split: true })),
  ...Object.values(ofModels).map((regex) => split(regex)),
  ...features.map((regex) => split(regex)),
];

const cases = [];
for (const normalizer of normalizers) {
  const stage = tokenizer({ normalizer }).getNormalizer();
  const texts = Array.from({ length: nTexts }, text);
  cases.push({ normalizer, texts, expected: texts.map((one) => stage.normalizeString(one)) });
}
for (const pre_tokenizer of preTokenizers) {
  const stage = tokenizer({ pre_tokenizer }).getPreTokenizer();
  const texts = Array.from({ length: nTexts }, text);
  cases.push({ pre_tokenizer, texts,
               expected: texts.map((one) => stage.preTokenizeString(one).map(([word]) => word)) });
}
// Whole tokenizers: a piece a character, so that ids tell what stages and added tokens made.
const characters = [..."abcxyzABC 0123.,-'▁éſ猫\u0301\u00a0\u2028\t\n<>|s/"];
const added = [["<s>", {}], ["<l>", { lstrip: true }], ["<r>", { rstrip: true }], ["ab", { single_word: true }],
  ["CA", { normalized: true }], ["xy", { normalized: true, single_word: true }], ["▁", { special: true }]];
const model = { type: "BPE", unk_token: "?", byte_fallback: false, fuse_unk: false, merges: [], ignore_merges: false,
  dropout: null, continuing_subword_prefix: null, end_of_word_suffix: null,
  vocab: Object.fromEntries(["?", ...characters].map((character, i) => [character, i])) };
const wholeNormalizers = [null, { type: "Strip", strip_left: true, strip_right: true }, { type: "Lowercase" },
  { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
  { type: "Replace", pattern: { Regex: "^[a-c]+" }, content: "" }, { type: "Prepend", prepend: "▁" },
  { type: "Sequence", normalizers: [{ type: "Prepend", prepend: "▁" },
                                    { type: "Replace", pattern: { String: " " }, content: "▁" }] }];
const wholePreTokenizers = [null, { type: "WhitespaceSplit" }, { type: "Whitespace" },
  { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: false },
  ...["always", "first", "never"].flatMap((prepend_scheme) => [true, false].flatMap((split) => {
    const metaspace = { type: "Metaspace", replacement: "▁", prepend_scheme, split };
    return [metaspace, { type: "Sequence", pretokenizers: [{ type: "WhitespaceSplit" }, metaspace] },
            { type: "Sequence", pretokenizers: [{ type: "Punctuation", behavior: "Isolated" }, metaspace] }];
  }))];
function short() {
  const out = random(4) ? [] : [pick([" ", "  ", "\u00a0", "\t", "abc "])];
  for (let n = 1 + random(6); n > 0; --n) {
    const kind = random(10);
    if (kind < 3) out.push(pick(added)[0]);
    else for (let m = 1 + random(3); m > 0; --m) out.push(pick(characters));
    if (random(2)) out.push(" ");
  }
  return out.join("");
}
for (const normalizer of wholeNormalizers) {
  for (const pre_tokenizer of wholePreTokenizers) {
    const names = added.filter(() => random(2));
    const tokenizer = { version: "1.0", truncation: null, padding: null, normalizer, pre_tokenizer,
      added_tokens: names.map(([content, flags], i) => ({ id: model.vocab[content] ?? characters.length + 1 + i, content, single_word: false,
        lstrip: false, rstrip: false, normalized: false, special: false, ...flags })),
      post_processor: null, decoder: null, model };
    const made = Tokenizer.fromString(JSON.stringify(tokenizer));
    const texts = Array.from({ length: nTexts / 4 }, short);
    const expected = [];
    for (const one of texts) expected.push((await made.encode(one)).getIds());
    cases.push({ tokenizer, texts, expected });
  }
}
// At the end, so that the texts of those before stay the same.
{
  const pre_tokenizer = { type: "UnicodeScripts" };
  const stage = tokenizer({ pre_tokenizer }).getPreTokenizer();
  const texts = [" a", "  ", "どこで生れ。Yes", "Apples are りんご 林檎", "日本ー語カナ 12 мир, e\u0301x \t한국 ",
                 ...Array.from({ length: 4 * nTexts }, text)];
  cases.push({ pre_tokenizer, texts,
               expected: texts.map((one) => stage.preTokenizeString(one).map(([word]) => word)) });
}
// A line a case, so that a change is seen where it is.
console.log("[\n" + cases.map((one) => JSON.stringify(one)).join(",\n") + "\n]");
