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

/**
 * @param {LiveTokens} live
 * @returns {Tokens}
 */
function liveTokens({ text, label, id, special }) {
  const isSign = (/** @type {string} */ sign) => /[\p{L}\p{N}]/u.test(sign);
  const inWord = (/** @type {number} */ i) =>
    !special.includes(i - 1) && isSign(text[i][0] ?? "") && isSign(text[i - 1].at(-1) ?? "");
  const inSentence = (/** @type {number} */ i) => !/[.!?]\s*$/.test(text[i - 1]);
  return {
    text,
    label,
    id,
    special,
    added: special,
    generated: [],
    word: numbered(text, inWord),
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
  const tokens = liveTokens(result.tokens);
  const size = tokens.text.length;
  const put = (/** @type {() => Float32Array} */ floats) => blobs.put(() => bytesOf(floats()));
  const heads = first.documents[0].heads.map((head) => ({
    ...head,
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
