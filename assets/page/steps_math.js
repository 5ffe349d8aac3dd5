// One query through one head: every number between its vector and the vector that it takes away.
import { averagedHeads } from "./patterns.js";

/**
 * @typedef {object} StepInputs  one head's real numbers
 * @property {Float32Array | null} q       of the query [d_head]; null: only scores are known
 * @property {Float32Array | null} k       [n_keys, d_head]
 * @property {Float32Array} v              [n_keys, d_value]
 * @property {Float32Array | null} scores  of the query [n_keys], instead of those that q and k give
 * @property {Float32Array | null} bias    of the query [n_keys]
 * @property {StepHead} head
 * @property {(key: number) => boolean} sees
 * @property {number} count                keys
 *
 * @typedef {object} Walk  what each step gives, [n_keys] but for the context [d_value]
 * @property {Float64Array | null} dots
 * @property {Float64Array} scaled
 * @property {Float64Array} capped
 * @property {Float64Array} biased
 * @property {Float64Array} tempered  divided by the temperature, with the change of one score
 * @property {Float64Array} masked    -Infinity where the mask hides the key
 * @property {Float64Array} weights
 * @property {Float64Array} context
 */

/**
 * @param {Float32Array} q
 * @param {Float32Array} k
 * @param {number} count
 */
function dotProducts(q, k, count) {
  return Float64Array.from({ length: count }, (_, key) =>
    q.reduce((sum, value, i) => sum + value * k[key * q.length + i], 0),
  );
}

/** @param {Float64Array} scores */
export function softmax(scores) {
  const largest = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = scores.map((score) => (largest === -Infinity ? 0 : Math.exp(score - largest)));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => (sum === 0 ? 0 : power / sum));
}

/**
 * @param {StepInputs} inputs
 * @param {number} temperature
 * @param {{key: number, by: number}} change  added to one score before the softmax
 * @returns {Walk}
 */
export function walk({ q, k, v, scores, bias, head, sees, count }, temperature, change) {
  const dots = q && k ? dotProducts(q, k, count) : null;
  const scaled = scores ? Float64Array.from(scores) : /** @type {Float64Array} */ (dots).map((dot) => dot * head.scale);
  const cap = head.soft_cap;
  const capped = scores || !cap ? scaled : scaled.map((score) => cap * Math.tanh(score / cap));
  const biased = scores || !bias ? capped : capped.map((score, key) => score + bias[key]);
  const tempered = biased.map((score, key) => score / temperature + (key === change.key ? change.by : 0));
  const masked = tempered.map((score, key) => (sees(key) ? score : -Infinity));
  const weights = softmax(masked);
  const size = head.d_value;
  const context = Float64Array.from({ length: size }, (_, i) =>
    weights.reduce((sum, weight, key) => sum + weight * v[key * size + i], 0),
  );
  return { dots, scaled, capped, biased, tempered, masked, weights, context };
}

/**
 * @typedef {object} Step  one page of the walk
 * @property {string} title
 * @property {string} column  what its numbers are called
 * @property {string} says
 * @property {Float64Array | null} before  what goes in, beside
 * @property {Float64Array} after          the numbers of the bars
 * @property {"dot" | "weight" | "sum" | ""} vectors  which vectors are drawn
 */

/**
 * Whether the heatmap has the weights of the steps, and where; it may show something that was made of them.
 * @param {Scene} scene
 * @param {string} title   of the head
 * @param {string} query
 * @param {boolean} changed  by the sliders
 */
export function drawnWhere({ data, state }, title, query, changed) {
  const { heads } = data.documents[0];
  const places = averagedHeads(state, heads, state.head);
  const made = [
    [places.length !== 1 || places[0] !== state.head, places.length > 1 ? "an average of heads" : "another head"],
    [state.dropSink, "rows without the first token, rescaled to sum to 1"],
    [state.units !== "tokens" || state.folds.length > 0, "groups of tokens"],
    [changed, "the weights before the sliders changed them"],
  ].flatMap(([does, what]) => (does ? [what] : []));
  return made.length > 0
    ? `These are the weights of “${query}” in ${title}; the heatmap shows something else: ${made.join(", ")}.`
    : `This is the row of “${query}” in the heatmap of ${title}.`;
}

/**
 * The scale of most models is 1 / √d_head.
 * @param {StepHead} head
 */
function scaleSentence(head) {
  const root = Math.sqrt(head.d_head);
  const purpose = "so that vectors of many numbers do not make the softmax too sharp.";
  if (Math.abs(head.scale * root - 1) < 1e-4) {
    const value = Number.isInteger(root) ? "" : ` = ${Number(root.toPrecision(3))}`;
    return `Every dot product is divided by √${head.d_head}${value}, ${purpose}`;
  }
  return head.scale === 1
    ? "This model does not scale the dot products."
    : `Every dot product is multiplied by ${Number(head.scale.toPrecision(4))}, ${purpose}`;
}

/**
 * The steps that this head takes: those that change nothing in it are left out.
 * @param {Walk} made
 * @param {StepHead} head
 * @param {number} temperature
 * @param {string} query  its label
 * @param {string} drawn  where the heatmap has these weights
 * @returns {Step[]}
 */
export function stepsOf(made, head, temperature, query, drawn) {
  /** @type {Step[]} */
  const steps = [];
  if (made.dots) {
    steps.push(
      {
        title: "Dot product",
        column: "dot product",
        says: `The query vector of “${query}” is multiplied by each key vector, number by number, and the products are added: the more closely the two point the same way, the larger the sum.`,
        before: null,
        after: made.dots,
        vectors: "dot",
      },
      {
        title: "Scale",
        column: "scaled",
        says: scaleSentence(head),
        before: made.dots,
        after: made.scaled,
        vectors: "",
      },
    );
  } else {
    steps.push({
      title: "Scores",
      column: "score",
      says: `The model gives these scores: how well “${query}” matches each key.`,
      before: null,
      after: made.scaled,
      vectors: "",
    });
  }
  if (made.capped !== made.scaled) {
    steps.push({
      title: "Soft cap",
      column: "capped",
      says: `Large scores are compressed so that all of them stay within ±${head.soft_cap}.`,
      before: made.scaled,
      after: made.capped,
      vectors: "",
    });
  }
  if (made.biased !== made.capped) {
    steps.push({
      title: "Bias",
      column: "with bias",
      says: "A number that depends on the distance is added: the farther away the key, the lower its score.",
      before: made.capped,
      after: made.biased,
      vectors: "",
    });
  }
  if (temperature !== 1 || made.tempered.some((score, key) => score !== made.biased[key])) {
    steps.push({
      title: "Temperature",
      column: "÷ temperature",
      says: `Scores are divided by the temperature ${temperature}: above 1 the weights become more even, below 1 sharper, and 1 changes nothing. You can also add to one score.`,
      before: made.biased,
      after: made.tempered,
      vectors: "",
    });
  }
  steps.push(
    {
      title: "Mask",
      column: "masked",
      says: "Keys that this query cannot see get the score −∞, so their weight becomes 0.",
      before: made.tempered,
      after: made.masked,
      vectors: "",
    },
    {
      title: "Softmax",
      column: "weight",
      says: `Each score s becomes e^s, divided by the sum of all e^s: no weight is negative, and they add up to 1. ${drawn}`,
      before: made.masked,
      after: made.weights,
      vectors: "weight",
    },
    {
      title: "Weighted sum",
      column: "weight",
      says: "Each value vector is multiplied by its weight, and the products are added: the sum is the head's context for this query.",
      before: null,
      after: made.weights,
      vectors: "sum",
    },
  );
  return steps;
}
