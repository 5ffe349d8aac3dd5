// Text to the token ids that the model was trained on: byte-level byte-pair encoding, as the
// model's tokenizer.json describes it. The stages:
//   1. a space is put before the text, so that its first word is written as all others are
//   2. a regular expression cuts the text into words: " The", " cat", " didn't", "."
//   3. a word that the vocabulary has whole is one token; any other begins as its bytes, and
//      neighbours are merged, the pair that was learned first before all others
//   4. the token that begins every text, <|bos|>, is put in front
// Sources: Sennrich et al. 2016 (BPE, algorithm 1); Radford et al. 2019 (on bytes).

import { byteCharacters, textOfBytes, visibleText } from "./byte_alphabet.js";

/**
 * What is read of a tokenizer.json.
 * @typedef {object} TokenizerFile
 * @property {{id: number, content: string}[]} added_tokens
 * @property {{type: string, prepend: string}} normalizer
 * @property {{pretokenizers: {type: string, pattern?: {Regex: string}}[]}} pre_tokenizer
 * @property {{type: string, single: {SpecialToken?: {id: string}}[]}} post_processor
 * @property {VocabularyFile} model
 *
 * @typedef {object} VocabularyFile
 * @property {string} type
 * @property {boolean} ignore_merges        a word of the vocabulary is one token
 * @property {Record<string, number>} vocab
 * @property {string[]} merges              "left right", the first learned first
 */

/**
 * The tokens of a text; every list has one entry a token. `begin` and `end` are places in the
 * UTF-8 bytes of the text, as `attnviz tokenize --json` has them in "ranges".
 * @typedef {object} LiveTokens
 * @property {string[]} text     " cat"; bytes that are not a character alone: "<F0>"
 * @property {string[]} label    "␣cat"
 * @property {number[]} id
 * @property {number[]} begin
 * @property {number[]} end
 * @property {number[]} special  the places of <|bos|> and its like in these lists
 */

/**
 * @typedef {object} Tokenizer
 * @property {(text: string) => LiveTokens} tokenize  of any string, also an empty one
 * @property {(id: number) => string} textOf          the text of a token: " cat"
 * @property {(id: number) => string} labelOf         the same with all made visible: "␣cat"
 * @property {number} longestPiece                    bytes
 */

/**
 * @typedef {object} BytePairs
 * @property {Map<string, number>} ids    of pieces, in the alphabet of byteCharacters()
 * @property {Map<string, number>} ranks  of merges, "left right": which was learned first
 */

/**
 * @param {string} place
 * @param {string} found
 * @param {string} expected
 */
function expectStage(place, found, expected) {
  if (found !== expected) {
    throw new Error(`tokenizer: ${place}: expected ${expected}, found ${found}`);
  }
}

/**
 * The regular expression by which tokenizer.json cuts words, in JavaScript's terms.
 * @param {TokenizerFile} file
 * @returns {RegExp}
 */
function wordPattern(file) {
  const [split, bytes] = file.pre_tokenizer.pretokenizers;
  expectStage("pre_tokenizer", `${split.type}, ${bytes.type}`, "Split, ByteLevel");
  // JavaScript counts U+FEFF as \s but not U+0085; tokenizers go by Unicode.
  const source = (split.pattern?.Regex ?? "")
    .replaceAll("\\s", "\\p{White_Space}")
    .replaceAll("\\S", "\\P{White_Space}");
  return new RegExp(source, "gu");
}

/**
 * Cuts a text where the pattern matches; what lies between matches is a word, too.
 * @param {string} text
 * @param {RegExp} pattern
 * @returns {string[]}
 */
function cutWords(text, pattern) {
  const words = [];
  let done = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > done) {
      words.push(text.slice(done, match.index));
    }
    words.push(match[0]);
    done = match.index + match[0].length;
  }
  if (done < text.length) {
    words.push(text.slice(done));
  }
  return words.filter((word) => word !== "");
}

/**
 * Merges the characters of a word. Each round takes, of all pairs of neighbours, the one that was
 * learned first, and merges it wherever it occurs: a pair never comes back, so that there are
 * fewer rounds than merges.
 * @param {string[]} symbols
 * @param {Map<string, number>} ranks
 * @returns {string[]}
 */
function mergePairs(symbols, ranks) {
  for (;;) {
    let bestRank = Infinity;
    let best = 0;
    for (let i = 0; i + 1 < symbols.length; ++i) {
      const rank = ranks.get(`${symbols[i]} ${symbols[i + 1]}`) ?? Infinity;
      if (rank < bestRank) {
        bestRank = rank;
        best = i;
      }
    }
    if (bestRank === Infinity) {
      return symbols;
    }
    const left = symbols[best];
    const right = symbols[best + 1];
    /** @type {string[]} */
    const merged = [];
    for (let i = 0; i < symbols.length; ++i) {
      if (symbols[i] === left && symbols[i + 1] === right) {
        merged.push(left + right);
        ++i;
      } else {
        merged.push(symbols[i]);
      }
    }
    symbols = merged;
  }
}

/**
 * @param {string} word  in the alphabet of byteCharacters()
 * @param {BytePairs} pairs
 * @returns {string[]} the pieces of the vocabulary that it is made of
 */
function wordPieces(word, pairs) {
  return pairs.ids.has(word) ? [word] : mergePairs(word.split(""), pairs.ranks);
}

/**
 * The ids of special tokens that precede the text.
 * @param {TokenizerFile} file
 * @returns {number[]}
 */
function leadingIds(file) {
  expectStage("post_processor", file.post_processor.type, "TemplateProcessing");
  const ids = [];
  for (const item of file.post_processor.single) {
    const name = item.SpecialToken?.id;
    if (name === undefined) {
      break;
    }
    const token = file.added_tokens.find((added) => added.content === name);
    if (token === undefined) {
      throw new Error(`tokenizer: post_processor: ${name} is not among added_tokens`);
    }
    ids.push(token.id);
  }
  return ids;
}

/**
 * @param {TokenizerFile} file  the content of tokenizer.json
 * @returns {Tokenizer}
 */
export function createTokenizer(file) {
  expectStage("normalizer", file.normalizer.type, "Prepend");
  expectStage("model", `${file.model.type}, ignore_merges ${file.model.ignore_merges}`,
              "BPE, ignore_merges true");
  const prefix = file.normalizer.prepend;
  const pattern = wordPattern(file);
  const first = leadingIds(file);
  /** @type {BytePairs} */
  const pairs = {
    ids: new Map(Object.entries(file.model.vocab)),
    ranks: new Map(file.model.merges.map((merge, rank) => [merge, rank])),
  };
  const characters = byteCharacters();
  const bytesOf = new Map(characters.map((character, byte) => [character, byte]));
  /** @type {string[]} */
  const texts = [];
  let longestPiece = 0;
  for (const [piece, id] of pairs.ids) {
    texts[id] = textOfBytes(Array.from(piece, (character) => bytesOf.get(character) ?? 0));
    longestPiece = Math.max(longestPiece, piece.length);
  }
  for (const { id, content } of file.added_tokens) {
    texts[id] = content;
  }
  const encoder = new TextEncoder();

  /**
   * @param {string} text
   * @returns {LiveTokens}
   */
  function tokenize(text) {
    /** @type {LiveTokens} */
    const tokens = { text: [], label: [], id: [], begin: [], end: [], special: [] };
    /** @type {(id: number, begin: number, end: number) => void} */
    const add = (id, begin, end) => {
      tokens.text.push(texts[id]);
      tokens.label.push(visibleText(texts[id]));
      tokens.id.push(id);
      tokens.begin.push(begin);
      tokens.end.push(end);
    };
    for (const id of first) {
      tokens.special.push(tokens.id.length);
      add(id, 0, 0);
    }
    const normalized = text === "" ? "" : prefix + text;
    // Places are counted in the text as given, where the prefix has none.
    let place = -encoder.encode(prefix).length;
    for (const word of cutWords(normalized, pattern)) {
      // The encoder makes U+FFFD of surrogates without a partner, as a browser's forms do.
      const bytes = encoder.encode(word);
      const written = Array.from(bytes, (byte) => characters[byte]).join("");
      for (const piece of wordPieces(written, pairs)) {
        const end = place + piece.length;  // a character of the alphabet is a byte
        add(pairs.ids.get(piece) ?? 0, Math.max(place, 0), Math.max(end, 0));
        place = end;
      }
    }
    return tokens;
  }

  return {
    tokenize,
    textOf: (id) => texts[id],
    labelOf: (id) => visibleText(texts[id]),
    longestPiece,
  };
}
