// What rows and columns stand for: tokens, words, sentences or turns, and runs that the reader folded.

/**
 * What precedes each token in the text, for tokenizers that leave white space out; for others nothing.
 * @param {string[]} tokens
 * @param {string | null} text  null: not known
 */
function gapsBefore(tokens, text) {
  // Characters of a text are placed as in the text; tokens that are not text, such as numbers, would run together.
  const bare =
    tokens.length > 1 &&
    !tokens.some((token) => /\s/.test(token)) &&
    (text === null || tokens.some((token) => [...token].length > 1));
  let from = 0;
  return tokens.map((token, i) => {
    const at = text === null ? -1 : text.indexOf(token, from);
    const gap = at < 0 ? null : /** @type {string} */ (text).slice(from, at);
    if (gap !== null && /^\s*$/.test(gap)) {
      from = at + token.length;
      return bare ? gap : "";
    }
    return bare && i > 0 ? " " : "";
  });
}

/**
 * Text of a run of tokens for a paragraph. Texts with characters that cannot be seen, or that would turn the reading
 * direction of what follows, are shown by their labels.
 * @param {Tokens} tokens
 * @param {string[]} gaps
 * @param {number} begin
 * @param {number} end
 */
function runText(tokens, gaps, begin, end) {
  let text = "";
  for (let i = begin; i < end; i++) {
    const plain = tokens.text[i];
    const unsafe =
      plain === "" ||
      /[\p{Cc}\p{Cs}\ufffd\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u.test(plain.replace(/\n/g, ""));
    text += gaps[i] + (unsafe ? tokens.label[i] || `#${i}` : plain);
  }
  return text;
}

/**
 * @param {Tokens} tokens
 * @param {string[]} gaps
 * @param {number} begin
 * @param {number} end
 * @returns {Unit}
 */
function unitOf(tokens, gaps, begin, end) {
  const labels = tokens.label.slice(begin, end);
  const whole = labels.join(gaps[begin + 1] ? " " : "");
  const label =
    labels.length > 1 && whole.length > 40 ? `${labels.slice(0, 3).join("")}…${labels[labels.length - 1]}` : whole;
  const alone = end === begin + 1;
  const special = alone && tokens.special.includes(begin);
  const generated = alone && tokens.generated.includes(begin);
  // Marked as in the program's pictures; their notes say what the marks mean.
  const mark = special ? "*" : generated ? "+" : "";
  return {
    begin,
    end,
    label: mark + (label || `#${begin}`),
    text: runText(tokens, gaps, begin, end),
    special,
    generated,
  };
}

/**
 * The numbers of the groups that tokens form, or null where they are not known.
 * @param {Tokens} tokens
 * @param {UnitKind} kind
 */
function groupNumbers(tokens, kind) {
  return { tokens: null, words: tokens.word, sentences: tokens.sentence, turns: tokens.turn }[kind];
}

/**
 * Which kinds of units the page can show.
 * @param {PageData} data
 * @returns {UnitKind[]}
 */
export function unitKinds(data) {
  const kinds = /** @type {UnitKind[]} */ (["words", "sentences", "turns"]);
  return [
    "tokens",
    ...kinds.filter((kind) => groupNumbers(data.queries, kind) && (!data.keys || groupNumbers(data.keys, kind))),
  ];
}

/**
 * @param {Tokens} tokens
 * @param {UnitKind} kind
 * @param {[number, number][]} folds
 * @param {string | null} text  the whole, where it is known
 * @returns {Unit[]}
 */
export function unitsOf(tokens, kind, folds, text) {
  const gaps = gapsBefore(tokens.text, text);
  const numbers = groupNumbers(tokens, kind);
  const units = [];
  for (let begin = 0; begin < tokens.label.length;) {
    let end = begin + 1;
    const joins = (/** @type {number} */ i) =>
      (numbers !== null && numbers[i] === numbers[i - 1]) || folds.some(([from, to]) => from < i && i < to);
    while (end < tokens.label.length && joins(end)) {
      end++;
    }
    units.push(unitOf(tokens, gaps, begin, end));
    begin = end;
  }
  return units;
}

/**
 * Which tokens a unit holds, for readers: "4" or "4-6".
 * @param {Unit} unit
 */
export function unitPlace({ begin, end }) {
  return end - begin > 1 ? `${begin}-${end - 1}` : String(begin);
}

/**
 * The places of the units that hold these tokens.
 * @param {Unit[]} units
 * @param {number[]} tokens
 */
export function unitsWith(units, tokens) {
  const places = tokens.map((token) => units.findIndex((unit) => unit.begin <= token && token < unit.end));
  return [...new Set(places)].filter((place) => place >= 0).sort((a, b) => a - b);
}
