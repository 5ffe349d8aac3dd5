// A text that went through the live model as the page's data, so that every view shows it like any other.

/** @typedef {import("./live/live.js").LiveResult} LiveResult */
/** @typedef {import("./live/tokenizer.js").LiveTokens} LiveTokens */

/**
 * Numbers of groups: `joins` says whether a token belongs to the group of the one before.
 * @param {string[]} texts
 * @param {(place: number) => boolean} joins
 */
function numbered(texts, joins) {
  let number = 0;
  return texts.map((_, place) => (place === 0 || joins(place) ? number : ++number));
}

// Scripts whose words browsers look up in dictionaries, where Unicode's rule, and the program, cut every character.
const LOOKED_UP = /[\p{sc=Han}\p{sc=Hira}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;

/**
 * A text cut at the boundaries of words (UAX 29). Chromium does not count . and : between letters as parts of a word.
 * @param {string} text
 */
function cutAtWords(text) {
  /** @type {string[]} */
  const parts = [];
  for (const { segment } of new Intl.Segmenter("en", { granularity: "word" }).segment(text)) {
    const [before, mark] = parts.slice(-2);
    const goesOn = /^[.:]$/.test(mark) && /\p{L}\p{M}*$/u.test(before) && !LOOKED_UP.test(before);
    if (LOOKED_UP.test(segment)) {
      parts.push(...(segment.match(/.\p{M}*/gsu) ?? []));
    } else if (goesOn && /^\p{L}/u.test(segment)) {
      parts.splice(-2, 2, before + mark + segment);
    } else {
      parts.push(segment);
    }
  }
  return parts;
}

/**
 * Places in the UTF-8 bytes of a text: where its words begin (UAX 29; punctuation marks are words, white space is none),
 * and how many bytes the white space has that begins there, 0 where none does.
 * @param {string} text
 */
function wordPlaces(text) {
  const size = (/** @type {string} */ part) => new TextEncoder().encode(part).length;
  /** @type {number[]} */
  const begins = [];
  const spaces = new Uint8Array(size(text));
  let place = 0;
  for (const word of cutAtWords(text)) {
    if (/\P{White_Space}/u.test(word)) {
      begins.push(place);
    }
    for (const sign of word) {
      const bytes = size(sign);
      spaces[place] = /\p{White_Space}/u.test(sign) ? bytes : 0;
      place += bytes;
    }
  }
  return { begins, spaces };
}

/**
 * The word of each token, as the program's pages have it (word_groups.h): by where it begins, white space aside. A piece
 * that is one space belongs to the word after it where other pieces carry theirs.
 * @param {string} source
 * @param {LiveTokens} live
 */
export function wordNumbers(source, { text, begin, end, special }) {
  const { begins, spaces } = wordPlaces(source);
  const signs = text.map((_, i) => {
    let at = begin[i];
    while (at < end[i] && spaces[at] > 0) {
      at += spaces[at];
    }
    return at < end[i] && !special.includes(i) ? at : -1;
  });
  const words = signs.map((sign) => (sign < 0 ? -1 : begins.findLastIndex((at) => at <= sign)));
  const carry = signs.some((sign, i) => sign > begin[i]);
  const isItsSpace = (/** @type {number} */ i) =>
    carry && text[i - 1] === " " && !special.includes(i - 1) && signs[i] === begin[i] && end[i - 1] === begin[i];
  return numbered(text, (i) => (words[i] >= 0 && words[i] === words[i - 1]) || isItsSpace(i));
}

/**
 * @param {string} source
 * @param {LiveTokens} live
 * @returns {Tokens}
 */
function liveTokens(source, live) {
  const { text, label, id, special } = live;
  const inSentence = (/** @type {number} */ i) => !/[.!?]\s*$/.test(text[i - 1]);
  return {
    text,
    label,
    id,
    special,
    added: special,
    generated: [],
    word: wordNumbers(source, live),
    sentence: numbered(text, inSentence),
    turn: null,
  };
}

/** @param {Float32Array} floats */
function bytesOf(floats) {
  return new Uint8Array(floats.slice().buffer);
}

/**
 * Bits of the causal mask, the one that the live model has.
 * @param {number} size
 */
function causalBits(size) {
  const bits = new Uint8Array(Math.ceil((size * size) / 8));
  for (let query = 0; query < size; query++) {
    for (let key = 0; key <= query; key++) {
      const bit = query * size + key;
      bits[bit >> 3] |= 1 << (bit & 7);
    }
  }
  return bits;
}

/**
 * @param {PageData} first  as the page came: its heads, names, colours and notes stay
 * @param {string} text
 * @param {LiveResult} result
 * @param {Head[]} without  heads that were left out
 * @param {number} scale
 * @param {import("./blobs.js").Blobs} blobs
 * @returns {PageData}
 */
export function livePage(first, text, result, without, scale, blobs) {
  const ablated = without.map(({ layer, head }) => `${layer}.${head}`).join();
  const tokens = liveTokens(text, result.tokens);
  const size = tokens.text.length;
  const put = (/** @type {() => Float32Array} */ floats) => blobs.put(() => bytesOf(floats()));
  // What the program measured is true of its own text alone, with all heads.
  const isFirst = text === first.text && without.length === 0;
  const heads = first.documents[0].heads.map((head) => ({
    ...head,
    scores: isFirst ? head.scores : null,
    mask: 0,
    exact: undefined,
    leftOut: without.includes(head),
    weights: /** @type {Packed} */ ({
      blob: put(() => result.weights(head.layer, head.head)),
      code: "f32",
      low: 0,
      high: 1,
      curve: "linear",
    }),
  }));
  const width = result.q(heads[0].layer, heads[0].head).length / size;
  const steps = heads.map(({ layer, head }) => ({
    layer,
    head,
    scale,
    d_head: width,
    d_value: width,
    soft_cap: 0,
    bias: null,
    scores: null,
    q: put(() => result.q(layer, head)),
    k: put(() => result.k(layer, head)),
    v: put(() => result.v(layer, head)),
  }));
  return {
    ...first,
    command: first.command + (ablated && ` --ablate ${ablated}`),
    command_text: text,
    text,
    reason: isFirst ? first.reason : "",
    computed_here: true,
    focus: undefined,
    queries: tokens,
    keys: null,
    documents: [{ name: "", heads }],
    masks: [{ name: "causal", blob: blobs.put(() => causalBits(size)) }],
    shape: [size, size],
    triangle: false,
    steps: { heads: steps, temperature: 1 },
  };
}
