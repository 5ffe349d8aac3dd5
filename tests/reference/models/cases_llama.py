"""Cases of Llama: heads, biases, files, and every way to scale RoPE."""

import numpy as np

import shapes
from case import NO_SCALING, Case, decoder, headless
from twists import NEIGHBOURS, NO_ROPE, NO_ROPE_FACTOR, REMOVED, TILED, setting, without


def llama(**changes):
    return decoder("llama", "LlamaForCausalLM", **{"rope_scaling": None, "head_dim": 6, **changes})


def small_llama(**changes):
    """For RoPE scaling, which more heads would not test better."""
    return llama(**{"head_dim": 8, "num_attention_heads": 2, "num_key_value_heads": 1, **changes})

LLAMA3 = {
    "factor": 8.0,
    "high_freq_factor": 1.0,
    "low_freq_factor": 0.25,
    "original_max_position_embeddings": 16,
    "rope_type": "llama3",
}
YARN = {"factor": 4.0, "original_max_position_embeddings": 12, "rope_type": "yarn"}
OLD_YARN = {"type": "yarn", "factor": 3.0, "attention_factor": 0.8, "beta_fast": 2.0, "beta_slow": 0.05}

CASES = [
    Case(
        "llama-mha-untied",
        "Llama 1: every head its own keys, no `num_key_value_heads`, own `lm_head`, buffers `rotary_emb.inv_freq`",
        llama(
            head_dim=REMOVED,
            hidden_size=12,
            num_attention_heads=2,
            num_key_value_heads=REMOVED,
            rope_theta=REMOVED,
            tie_word_embeddings=False,
            rms_norm_eps=1e-06,
        ),
        shapes.decoder,
        13,
        (NEIGHBOURS, NO_ROPE, setting("tied", tie_word_embeddings=True), setting("gelu", hidden_act="gelu")),
        extras=lambda c, r: {
            f"model.layers.{i}.self_attn.rotary_emb.inv_freq": ("F32", 10000.0 ** -(np.arange(0, 6, 2) / 6))
            for i in range(c["num_hidden_layers"])
        },
    ),
    Case(
        "llama-gqa-bias",
        "4 heads on 2 key/value heads, `attention_bias`, `mlp_bias`, `head_dim` other than d/h, large epsilon",
        llama(
            attention_bias=True,
            intermediate_size=9,
            mlp_bias=True,
            rms_norm_eps=0.02,
            torch_dtype="float64",
        ),
        headless,
        13,
        (
            TILED,
            without("q_proj.bias"),
            without("o_proj.bias"),
            without("gate_proj.bias"),
            without("down_proj.bias"),
            setting("epsilon 1e-5", rms_norm_eps=1e-5, least=1e-3),
        ),
        dtype="F64",
    ),
    Case(
        "llama-sharded-bf16",
        "three shards with an index, 3 layers, 6 heads on 2 key/value heads",
        llama(
            num_hidden_layers=3,
            num_attention_heads=6,
            head_dim=4,
            tie_word_embeddings=False,
            torch_dtype="bfloat16",
        ),
        shapes.decoder,
        13,
        (TILED, NEIGHBOURS, without("layers.2.input_layernorm")),
        dtype="BF16",
        shards=3,
    ),
    Case(
        "llama-rope-linear",
        '`rope_scaling` {"type": "linear"}, another `rope_theta`',
        small_llama(rope_scaling={"type": "linear", "factor": 4.0}, rope_theta=300.0),
        headless,
        13,
        (NO_SCALING, setting("theta 10000", rope_theta=10000.0)),
    ),
    Case(
        "llama-rope-dynamic",
        "dynamic NTK with a text longer than `max_position_embeddings`, after which alone it acts",
        small_llama(rope_scaling={"type": "dynamic", "factor": 3.0}, max_position_embeddings=9),
        headless,
        17,
        (NO_SCALING, setting("as if trained on more", max_position_embeddings=13)),
    ),
    Case(
        "llama-rope-llama3",
        "Llama 3.1 scaling: one frequency kept, one mixed, two stretched",
        small_llama(rope_scaling=LLAMA3, rope_theta=500.0),
        headless,
        19,
        (
            NO_SCALING,
            setting("as linear", rope_scaling={"type": "linear", "factor": 8.0}),
            setting("not mixed", rope_scaling={**LLAMA3, "low_freq_factor": 0.99}),
        ),
    ),
    Case(
        "llama-rope-yarn",
        "YaRN with its defaults: beta 32 and 1, cos and sin scaled by 0.1 ln(factor) + 1",
        small_llama(rope_scaling=YARN, max_position_embeddings=48),
        headless,
        17,
        (NO_SCALING, NO_ROPE_FACTOR, setting("as linear", rope_scaling={"type": "linear", "factor": 4.0})),
    ),
    Case(
        "llama-rope-yarn-explicit",
        'YaRN by the old key "type", with `attention_factor`, betas and no original length',
        small_llama(rope_scaling=OLD_YARN, max_position_embeddings=16, rope_theta=500.0),
        headless,
        13,
        (
            NO_SCALING,
            NO_ROPE_FACTOR,
            setting("default betas", rope_scaling={**OLD_YARN, "beta_fast": None, "beta_slow": None}),
        ),
    ),
    Case(
        "llama-rope-parameters",
        "the newer config: `rope_parameters` instead of `rope_theta` and `rope_scaling`, `dtype`, `head_dim` null",
        small_llama(
            dtype="float32",
            head_dim=None,
            hidden_size=16,
            torch_dtype=REMOVED,
            rope_scaling=REMOVED,
            rope_theta=REMOVED,
            rope_parameters={"factor": 2.0, "rope_theta": 50.0, "rope_type": "linear"},
        ),
        headless,
        13,
        (
            setting("no scaling", rope_parameters={"rope_theta": 50.0, "rope_type": "default"}),
            setting("theta 10000", rope_parameters={"rope_theta": 1e4, "rope_type": "linear", "factor": 2.0}),
        ),
    ),
]
