// The forward pass of a Llama (Touvron et al. 2023): from token ids to what the model expects next.
//
//   stream = embedding of each token                                [n, d_model]
//   for each layer:
//     stream += attention(norm(stream))     tokens fetch from earlier tokens
//     stream += mlp(norm(stream))           each token for itself
//   logits = norm(stream) · embedding                               of the vocabulary, a token
//
// n is the number of tokens. The stream of a token is what the model knows of it so far; layers
// only ever add to it.

import { addInPlace, linear, rmsNorm, softmaxInPlace } from "./operations.js";

/** @typedef {import("./llama.js").LlamaModel} LlamaModel */
/** @typedef {import("./llama.js").LlamaLayer} LlamaLayer */

/**
 * What one head did.
 * @typedef {object} LiveHead
 * @property {Float32Array} q        [n, d_head], what each token looks for, with its position
 * @property {Float32Array} k        [n, d_head], what each token offers to be found by, likewise
 * @property {Float32Array} v        [n, d_head], what each token hands over
 * @property {Float32Array} weights  [n, n], row = query; 0 above the diagonal
 */

/**
 * @typedef {object} LiveRun
 * @property {LiveHead[][]} heads   [layer][head]
 * @property {Float32Array} stream  [n, d_model], after the last layer
 */

/** @typedef {(layer: number, head: number) => boolean} IsLeftOut */

/**
 * The columns of one head out of those of all.
 * @param {Float32Array} x  [n, d_model]
 * @param {number} head
 * @param {LlamaModel} model
 * @returns {Float32Array}  [n, d_head]
 */
function columnsOfHead(x, head, { dModel, dHead }) {
  const n = x.length / dModel;
  const columns = new Float32Array(n * dHead);
  for (let t = 0; t < n; ++t) {
    const begin = t * dModel + head * dHead;
    columns.set(x.subarray(begin, begin + dHead), t * dHead);
  }
  return columns;
}

/**
 * Turns each pair of numbers by an angle that grows with the token's position, so that the product
 * of a query and a key depends on how far apart they are. Number i is paired with i + d_head / 2;
 * the first pairs turn fast, the last ones slowly:
 *   angle = position · θ^(-2 i / d_head)
 * Source: Su et al. 2021 (RoPE), with the pairing of Hugging Face's Llama.
 * @param {Float32Array} x  [n, d_head], changed in place
 * @param {LlamaModel} model
 */
function rotateByPosition(x, { dHead, ropeTheta }) {
  const half = dHead / 2;
  for (let i = 0; i < half; ++i) {
    const frequency = ropeTheta ** ((-2 * i) / dHead);
    for (let position = 0; position * dHead < x.length; ++position) {
      const cosine = Math.cos(position * frequency);
      const sine = Math.sin(position * frequency);
      const at = position * dHead + i;
      const first = x[at];
      const second = x[at + half];
      x[at] = first * cosine - second * sine;
      x[at + half] = first * sine + second * cosine;
    }
  }
}

/**
 * How much each token looks at each: softmax(q kᵀ / √d_head) over the tokens up to itself. The
 * division keeps scores from growing with d_head. Source: Vaswani et al. 2017, section 3.2.1.
 * @param {Float32Array} q  [n, d_head]
 * @param {Float32Array} k  [n, d_head]
 * @param {number} dHead
 * @returns {Float32Array}  [n, n]
 */
function attentionWeights(q, k, dHead) {
  const n = q.length / dHead;
  const scale = 1 / Math.sqrt(dHead);
  const weights = new Float32Array(n * n);
  for (let query = 0; query < n; ++query) {
    // Keys after the query stay 0: a model that saw them would know what it is to predict.
    for (let key = 0; key <= query; ++key) {
      let score = 0;
      for (let i = 0; i < dHead; ++i) {
        score += q[query * dHead + i] * k[key * dHead + i];
      }
      weights[query * n + key] = score * scale;
    }
    softmaxInPlace(weights, query * n, query * n + query + 1);
  }
  return weights;
}

/**
 * What each token gathers: the mean of the values, weighted; written to the head's columns.
 * @param {LiveHead} made
 * @param {number} head
 * @param {LlamaModel} model
 * @param {Float32Array} context  [n, d_model], 0 in these columns so far
 */
function gatherValues({ weights, v }, head, { dModel, dHead }, context) {
  const n = v.length / dHead;
  for (let query = 0; query < n; ++query) {
    const to = query * dModel + head * dHead;
    for (let key = 0; key <= query; ++key) {
      const weight = weights[query * n + key];
      for (let i = 0; i < dHead; ++i) {
        context[to + i] += weight * v[key * dHead + i];
      }
    }
  }
}

/**
 * All heads of a layer. A head that is left out still looks, so that its weights can be shown, but
 * what it gathers is 0.
 * @param {LlamaModel} model
 * @param {LlamaLayer} layer
 * @param {Float32Array} x  [n, d_model], after the norm
 * @param {(head: number) => boolean} isLeftOut
 * @returns {{change: Float32Array, heads: LiveHead[]}} change [n, d_model]: what they add
 */
function attentionOfLayer(model, layer, x, isLeftOut) {
  const allQ = linear(x, layer.wQ, model.dModel);
  const allK = linear(x, layer.wK, model.dModel);
  const allV = linear(x, layer.wV, model.dModel);
  const context = new Float32Array(x.length);
  /** @type {LiveHead[]} */
  const heads = [];
  for (let head = 0; head < model.nHeads; ++head) {
    const q = columnsOfHead(allQ, head, model);
    const k = columnsOfHead(allK, head, model);
    const v = columnsOfHead(allV, head, model);
    rotateByPosition(q, model);
    rotateByPosition(k, model);
    const made = { q, k, v, weights: attentionWeights(q, k, model.dHead) };
    if (!isLeftOut(head)) {
      gatherValues(made, head, model, context);
    }
    heads.push(made);
  }
  return { change: linear(context, layer.wO, model.dModel), heads };
}

/**
 * down(silu(gate x) · up x), where silu(z) = z / (1 + e⁻ᶻ). Source: Shazeer 2020 (SwiGLU).
 * @param {LlamaModel} model
 * @param {LlamaLayer} layer
 * @param {Float32Array} x  [n, d_model], after the norm
 * @returns {Float32Array}  [n, d_model]
 */
function mlpOfLayer(model, layer, x) {
  const hidden = linear(x, layer.gate, model.dModel);
  const up = linear(x, layer.up, model.dModel);
  for (let i = 0; i < hidden.length; ++i) {
    hidden[i] = (hidden[i] / (1 + Math.exp(-hidden[i]))) * up[i];
  }
  return linear(hidden, layer.down, model.dFeedForward);
}

/**
 * Runs the model on a text.
 * @param {LlamaModel} model
 * @param {number[]} ids         [n], n at most model.nContext
 * @param {IsLeftOut} isLeftOut  heads whose contribution is 0
 * @returns {LiveRun}
 */
export function runLlama(model, ids, isLeftOut) {
  const { dModel, normEpsilon } = model;
  const stream = new Float32Array(ids.length * dModel);
  ids.forEach((id, t) => {
    stream.set(model.embedding.subarray(id * dModel, (id + 1) * dModel), t * dModel);
  });
  const heads = model.layers.map((layer, index) => {
    const normed = rmsNorm(stream, layer.attentionNorm, normEpsilon);
    const attention = attentionOfLayer(model, layer, normed, (head) => isLeftOut(index, head));
    addInPlace(stream, attention.change);
    addInPlace(stream, mlpOfLayer(model, layer, rmsNorm(stream, layer.mlpNorm, normEpsilon)));
    return attention.heads;
  });
  return { heads, stream };
}

/**
 * The places of the largest numbers, the largest first, and the first of equal ones. Sorting all of them
 * would take longer than a layer.
 * @param {Float32Array} x
 * @param {number} count
 * @returns {number[]}
 */
function placesOfLargest(x, count) {
  /** @type {number[]} */
  const places = [];
  for (let i = 0; i < x.length; ++i) {
    let rank = places.length;
    while (rank > 0 && x[i] > x[places[rank - 1]]) {
      --rank;
    }
    if (rank < count) {
      places.splice(rank, 0, i);
      places.length = Math.min(places.length, count);
    }
  }
  return places;
}

/**
 * The tokens that the model finds most probable after a token, the likeliest first. The logit of
 * a token is the product of its embedding and the stream; probabilities are the softmax of all.
 * @param {LlamaModel} model
 * @param {LiveRun} run
 * @param {number} position  of the token
 * @param {number} count
 * @returns {{id: number, probability: number, logit: number}[]}
 */
export function mostProbable(model, run, position, count) {
  const { dModel } = model;
  const row = run.stream.subarray(position * dModel, (position + 1) * dModel);
  const logits = linear(rmsNorm(row, model.finalNorm, model.normEpsilon), model.embedding, dModel);
  const probabilities = logits.slice();
  softmaxInPlace(probabilities, 0, probabilities.length);
  const ids = placesOfLargest(logits, count);
  return ids.map((id) => ({
    id,
    probability: probabilities[id],
    logit: logits[id],
  }));
}
