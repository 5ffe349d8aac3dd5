// The weights of a Llama model (Touvron et al. 2023) by what they are for.

/** @typedef {import("./safetensors.js").Tensor} Tensor */

/**
 * @typedef {object} LlamaConfig  what is read of a config.json
 * @property {string} model_type
 * @property {number} hidden_size              d_model: numbers that stand for a token
 * @property {number} intermediate_size        d_ff: numbers inside of an MLP
 * @property {number} num_hidden_layers
 * @property {number} num_attention_heads
 * @property {number} num_key_value_heads
 * @property {number} max_position_embeddings  tokens that a text may have
 * @property {number} rms_norm_eps
 * @property {number} rope_theta
 * @property {string} hidden_act
 * @property {boolean} attention_bias
 * @property {boolean} mlp_bias
 * @property {number} vocab_size
 * @property {boolean} tie_word_embeddings
 */

/**
 * Matrices are [d_out, d_in]. Heads lie below each other: rows h · d_head to
 * (h + 1) · d_head - 1 of wQ, wK and wV make the query, key and value of head h, and the same
 * columns of wO read what it has gathered.
 * @typedef {object} LlamaLayer
 * @property {Float32Array} attentionNorm  [d_model]
 * @property {Float32Array} wQ    [d_model, d_model]
 * @property {Float32Array} wK    [d_model, d_model]
 * @property {Float32Array} wV    [d_model, d_model]
 * @property {Float32Array} wO    [d_model, d_model]
 * @property {Float32Array} mlpNorm        [d_model]
 * @property {Float32Array} gate  [d_ff, d_model]
 * @property {Float32Array} up    [d_ff, d_model]
 * @property {Float32Array} down  [d_model, d_ff]
 */

/**
 * @typedef {object} LlamaModel
 * @property {number} dModel
 * @property {number} dFeedForward
 * @property {number} nHeads
 * @property {number} dHead
 * @property {number} nContext
 * @property {number} normEpsilon
 * @property {number} ropeTheta
 * @property {Float32Array} embedding  [vocabulary, d_model]: tokens to numbers, and back
 * @property {LlamaLayer[]} layers
 * @property {Float32Array} finalNorm  [d_model]
 */

/**
 * Llamas differ; forward.js is for one like the demo model. Another kind would give wrong numbers.
 * @param {LlamaConfig} config
 */
function checkConfig(config) {
  const expected = {
    model_type: "llama",
    hidden_act: "silu",
    num_key_value_heads: config.num_attention_heads,
    attention_bias: false,
    mlp_bias: false,
    tie_word_embeddings: true,
  };
  for (const [key, value] of Object.entries(expected)) {
    const found = config[/** @type {keyof typeof expected} */ (key)];
    if (found !== value) {
      throw new Error(`model: ${key}: expected ${value}, found ${found}`);
    }
  }
}

/**
 * @param {Map<string, Tensor>} tensors
 * @param {string} name
 * @param {number[]} shape
 * @returns {Float32Array}
 */
function takeTensor(tensors, name, shape) {
  const tensor = tensors.get(name);
  if (tensor === undefined) {
    throw new Error(`model: tensor ${name} is missing`);
  }
  if (tensor.shape.join() !== shape.join()) {
    throw new Error(`model: ${name}: expected the shape ${shape}, found ${tensor.shape}`);
  }
  return tensor.data;
}

/**
 * @param {Map<string, Tensor>} tensors  of model.safetensors
 * @param {LlamaConfig} config           config.json
 * @returns {LlamaModel}
 */
export function readLlama(tensors, config) {
  checkConfig(config);
  const d = config.hidden_size;
  const dFf = config.intermediate_size;
  /** @type {LlamaLayer[]} */
  const layers = [];
  for (let layer = 0; layer < config.num_hidden_layers; ++layer) {
    /** @type {(name: string, ...shape: number[]) => Float32Array} */
    const take = (name, ...shape) =>
      takeTensor(tensors, `model.layers.${layer}.${name}.weight`, shape);
    layers.push({
      attentionNorm: take("input_layernorm", d),
      wQ: take("self_attn.q_proj", d, d),
      wK: take("self_attn.k_proj", d, d),
      wV: take("self_attn.v_proj", d, d),
      wO: take("self_attn.o_proj", d, d),
      mlpNorm: take("post_attention_layernorm", d),
      gate: take("mlp.gate_proj", dFf, d),
      up: take("mlp.up_proj", dFf, d),
      down: take("mlp.down_proj", d, dFf),
    });
  }
  return {
    dModel: d,
    dFeedForward: dFf,
    nHeads: config.num_attention_heads,
    dHead: d / config.num_attention_heads,
    nContext: config.max_position_embeddings,
    normEpsilon: config.rms_norm_eps,
    ropeTheta: config.rope_theta,
    embedding: takeTensor(tensors, "model.embed_tokens.weight", [config.vocab_size, d]),
    layers,
    finalNorm: takeTensor(tensors, "model.norm.weight", [d]),
  };
}
