"""How llama.cpp names the tensors of each family, and how its converter changes them.

The tables go from Hugging Face's name to GGUF's: of a layer (with blk.N. in front there), and of the rest of a model.
"""

import numpy as np

DECODER_LAYER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.qkv_proj": "attn_qkv",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.gate_up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
# Gemma 2 and 3 norm what attention and MLP give as well.
GEMMA_LAYER = {
    **DECODER_LAYER,
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}
DECODER = {"embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output"}

GPT2_LAYER = {
    "ln_1": "attn_norm",
    "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output",
    "ln_2": "ffn_norm",
    "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
}
GPT2 = {"wte": "token_embd", "wpe": "position_embd", "ln_f": "output_norm", "lm_head": "output"}

NEOX_LAYER = {
    "input_layernorm": "attn_norm",
    "attention.query_key_value": "attn_qkv",
    "attention.dense": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.dense_h_to_4h": "ffn_up",
    "mlp.dense_4h_to_h": "ffn_down",
}
NEOX = {"embed_in": "token_embd", "final_layer_norm": "output_norm", "embed_out": "output"}

BERT_LAYER = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
BERT = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
}

# By architecture: what a layer's names begin with in Hugging Face's files, the layer's names, the others.
NAMES = {
    **dict.fromkeys(("llama", "qwen2", "qwen3", "gemma", "phi3"), ("layers", DECODER_LAYER, DECODER)),
    **dict.fromkeys(("gemma2", "gemma3"), ("layers", GEMMA_LAYER, DECODER)),
    "gpt2": ("h", GPT2_LAYER, GPT2),
    "gptneox": ("layers", NEOX_LAYER, NEOX),
    "bert": ("encoder.layer", BERT_LAYER, BERT),
}


def gguf_name(architecture, name):
    """The name in GGUF files of one without the base model's prefix; None for what the converter leaves out."""
    layer, of_layer, whole = NAMES[architecture]
    stem, _, ending = name.rpartition(".")
    if name.startswith(layer + "."):
        number, _, rest = stem.removeprefix(layer + ".").partition(".")
        return f"blk.{number}.{of_layer[rest]}.{ending}" if rest in of_layer else None
    return f"{whole[stem]}.{ending}" if stem in whole else None


def hugging_face_name(architecture, name):
    """The other way round; None for tensors that Hugging Face's files do not have."""
    layer, of_layer, whole = NAMES[architecture]
    stem, _, ending = name.rpartition(".")
    if not name.startswith("blk."):
        others = {there: here for here, there in whole.items()}
        return f"{others[stem]}.{ending}" if stem in others else None
    number, _, rest = stem.removeprefix("blk.").partition(".")
    # Phi-3's ffn_up is gate and up, of the other families up alone.
    other = "mlp.up_proj" if architecture == "phi3" else "mlp.gate_up_proj"
    here = next(here for here, there in of_layer.items() if there == rest and here != other)
    return f"{layer}.{number}.{here}.{ending}"


def pair_neighbours(rows, n_heads):
    """Rows of q or k: Hugging Face's files pair i with i + half, GGUF's of architecture llama 2 i with 2 i + 1."""
    return rows.reshape(n_heads, 2, -1, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def pair_halves(rows, n_heads):
    """The reverse."""
    return rows.reshape(n_heads, -1, 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def stack_by_part(rows, n_heads):
    """GPT-NeoX's q, k and v of one head after the other become all q, all k, all v."""
    return rows.reshape(n_heads, 3, -1, *rows.shape[1:]).swapaxes(0, 1).reshape(rows.shape)


def stack_by_head(rows, n_heads):
    """The reverse."""
    return rows.reshape(3, n_heads, -1, *rows.shape[1:]).swapaxes(0, 1).reshape(rows.shape)


def llama3_divisors(dim, theta, scaling):
    """rope_freqs.weight: what to divide each frequency by. Long waves are stretched, short ones kept, others mixed."""
    low, high, factor = scaling["low_freq_factor"], scaling["high_freq_factor"], scaling["factor"]
    turns = scaling["original_max_position_embeddings"] / (2 * np.pi) * theta ** -(np.arange(0, dim, 2) / dim)
    keep = np.clip((turns - low) / (high - low), 0, 1)
    return 1 / (keep + (1 - keep) / factor)
