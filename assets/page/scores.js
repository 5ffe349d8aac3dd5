// What heads score on the page's text.

/** Ends of a sentence that begins with a number. */
const WORDS = /** @type {Record<string, string>} */ ({
  previous: "of the weight is on the previous token, on average",
  self: "of the weight is on the token itself, on average",
  first: "of the weight is on the first token, on average",
  duplicate: "of the weight is on earlier copies of the token, on average",
  induction: "of the weight is on tokens that followed earlier copies, on average",
  entropy_fraction: "of the largest possible entropy: how far the weight is spread out",
  confidence: "is the largest weight of a row, on average",
  distance_mean: "tokens: how far away it looks, on average",
});
const OF_NAMES = /** @type {Record<string, string>} */ ({
  "previous-token": "previous",
  "current-token": "self",
  "duplicate-token": "duplicate",
  induction: "induction",
  sink: "first",
});

/**
 * Scores that any head has.
 * @param {Head[]} heads
 */
export function scoreNames(heads) {
  return [...new Set(heads.flatMap((head) => Object.keys(head.scores ?? {})))].filter((name) =>
    heads.some((head) => isScore(head, name)),
  );
}

/**
 * @param {Head} head
 * @param {string} name
 */
function isScore(head, name) {
  return typeof head.scores?.[name] === "number";
}

/** @param {string} name */
export function scoreWords(name) {
  return WORDS[name] ?? name;
}

/**
 * What the darkest colour stands for.
 * @param {Head[]} heads
 * @param {string} name
 */
export function scoreTop(heads, name) {
  return heads.reduce((top, head) => Math.max(top, head.scores?.[name] ?? 0), 1);
}

/**
 * How strongly a head does here what its first name says.
 * @param {Head} head
 */
export function scoreOfName(head) {
  return head.scores?.[OF_NAMES[head.names[0]]] ?? 0;
}

/**
 * The score called `name` as text; otherwise the largest of the scores that heads are named by, where it is large.
 * @param {Head} head
 * @param {string} name  or ""
 */
export function scoreText(head, name) {
  const names = (name ? [name] : Object.values(OF_NAMES)).filter((one) => isScore(head, one));
  const scores = names.map((one) => ({ words: scoreWords(one), value: head.scores?.[one] ?? 0 }));
  const largest = scores.reduce((a, b) => (b.value > a.value ? b : a), { words: "", value: name ? -1 : 0.3 });
  return largest.words ? `${largest.value.toFixed(2)} ${largest.words}` : "";
}
