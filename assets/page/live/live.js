// The demo model, run in the page: type a text, or leave heads out, and see what changes.

import { mostProbable, runLlama } from "./forward.js";
import { readLlama } from "./llama.js";
import { readSafetensors } from "./safetensors.js";
import { createTokenizer } from "./tokenizer.js";

/** @typedef {import("./llama.js").LlamaModel} LlamaModel */
/** @typedef {import("./tokenizer.js").LiveTokens} LiveTokens */
/** @typedef {import("./tokenizer.js").Tokenizer} Tokenizer */

/**
 * The page's "live": the files of the model as they are, each a blob.
 * @typedef {object} LiveData
 * @property {number} model      model.safetensors
 * @property {number} config     config.json
 * @property {number} tokenizer  tokenizer.json
 */

/** @typedef {(layer: number, head: number) => Float32Array} OfHead */

/**
 * @typedef {object} LivePrediction
 * @property {number} id
 * @property {string} token   " on"
 * @property {string} label   "␣on"
 * @property {number} probability
 * @property {number} logit
 */

/**
 * A text that went through the model; n tokens.
 * @typedef {object} LiveResult
 * @property {LiveTokens} tokens
 * @property {OfHead} weights  [n, n], row = query; 0 above the diagonal
 * @property {OfHead} q        [n, d_head], as the scores see them: turned by their positions
 * @property {OfHead} k        [n, d_head], likewise
 * @property {OfHead} v        [n, d_head]
 * @property {LivePrediction[]} prediction  the 5 most probable tokens after the last
 * @property {(position: number, count: number) => LivePrediction[]} predict  … after any token
 */

/**
 * @typedef {object} Live
 * @property {number} nLayers
 * @property {number} nHeads
 * @property {number} dHead
 * @property {number} scale     score = q · k · scale
 * @property {number} nContext  tokens that a text may have, <|bos|> among them
 * @property {(text: string) => LiveTokens} tokenize
 * @property {(text: string, options?: {without?: [number, number][]}) => LiveResult} run
 *   Throws an Error, whose message a reader may see, for a blank text, for one of more than
 *   nContext tokens, and for heads that do not exist: `attnviz` refuses these, too.
 */

const WARM_UP_TEXT = "The cat sat on the mat because it was tired.";

/**
 * The tokens of a text that the model takes.
 * @param {string} text
 * @param {Tokenizer} tokenizer
 * @param {number} nContext
 * @returns {LiveTokens}
 */
function tokensThatFit(text, tokenizer, nContext) {
  if (/^[ \t\r\n\v\f]*$/.test(text)) {
    throw new Error("The text is empty or blank");
  }
  /** @type {(count: string) => Error} */
  const tooLong = (count) =>
    new Error(`The text has ${count} tokens, but the model's context is ${nContext} tokens: ` +
              "shorten the text");
  // A book that was pasted by mistake is not worth cutting into tokens.
  if (text.length > nContext * tokenizer.longestPiece) {
    throw tooLong(`more than ${nContext}`);
  }
  const tokens = tokenizer.tokenize(text);
  if (tokens.id.length > nContext) {
    throw tooLong(`${tokens.id.length}`);
  }
  return tokens;
}

/**
 * The heads to leave out, as a question to ask for each.
 * @param {LlamaModel} model
 * @param {[number, number][]} without  [layer, head]
 * @returns {(layer: number, head: number) => boolean}
 */
function leavesOut(model, without) {
  const names = new Set();
  for (const [layer, head] of without) {
    const isHead = Number.isInteger(head) && head >= 0 && head < model.nHeads;
    if (model.layers[layer] === undefined || !isHead) {
      throw new Error(`head ${layer}.${head}: the model has ${model.layers.length} layers of ` +
                      `${model.nHeads} heads`);
    }
    names.add(`${layer}.${head}`);
  }
  return (layer, head) => names.has(`${layer}.${head}`);
}

/**
 * Loads the model; takes some hundredths of a second.
 * @param {LiveData} live
 * @param {(blob: number) => Promise<ArrayBuffer>} getBlob
 * @returns {Promise<Live>}
 */
export async function createLive(live, getBlob) {
  /** @type {(blob: number) => Promise<any>} */
  const json = async (blob) => JSON.parse(new TextDecoder().decode(await getBlob(blob)));
  const model = readLlama(readSafetensors(await getBlob(live.model)), await json(live.config));
  const tokenizer = createTokenizer(await json(live.tokenizer));

  /**
   * @param {string} text
   * @param {{without?: [number, number][]}} options
   * @returns {LiveResult}
   */
  function run(text, { without = [] } = {}) {
    const tokens = tokensThatFit(text, tokenizer, model.nContext);
    const made = runLlama(model, tokens.id, leavesOut(model, without));
    /** @type {LiveResult["predict"]} */
    const predict = (position, count) =>
      mostProbable(model, made, position, count).map((likely) => ({
        ...likely,
        token: tokenizer.textOf(likely.id),
        label: tokenizer.labelOf(likely.id),
      }));
    return {
      tokens,
      weights: (layer, head) => made.heads[layer][head].weights,
      q: (layer, head) => made.heads[layer][head].q,
      k: (layer, head) => made.heads[layer][head].k,
      v: (layer, head) => made.heads[layer][head].v,
      prediction: predict(tokens.id.length - 1, 5),
      predict,
    };
  }

  // Engines compile what has run for a while: better now than while a reader waits for a text.
  run(WARM_UP_TEXT);
  return {
    nLayers: model.layers.length,
    nHeads: model.nHeads,
    dHead: model.dHead,
    scale: 1 / Math.sqrt(model.dHead),
    nContext: model.nContext,
    tokenize: tokenizer.tokenize,
    run,
  };
}
