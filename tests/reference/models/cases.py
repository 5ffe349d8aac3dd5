#!/usr/bin/env python3
"""The cases: tiny random models, one for each thing that a family or a config can ask for.

A case's twists are wrong readings of it, whose numbers must differ from the right ones. Run as a script,
this prints the README's table.
"""

import dataclasses

import numpy as np

import shapes
import twists
from twists import CAUSAL, LATE_NORM, NEIGHBOURS, NO_ROPE, NO_ROPE_FACTOR, NO_TYPES, NO_WINDOW, PLUS_ONE
from twists import QKV_BY_PART, REMOVED, TILED, WIDER, setting, transposed, without


@dataclasses.dataclass
class Case:
    name: str
    covers: str
    config: dict
    shapes: object  # config to [(name, shape, kind)]
    n: int  # tokens
    twists: tuple
    dtype: str = "F32"
    shards: int = 1
    extras: object = None  # (config, random) to {name: (type, array)}: tensors to be ignored
    rename: object = str  # name in the file
    token_types: bool = False


def gpt2(architecture, **changes):
    return {
        "activation_function": "gelu_new",
        "architectures": [architecture],
        "attn_pdrop": 0.1,
        "bos_token_id": 46,
        "embd_pdrop": 0.1,
        "eos_token_id": 46,
        "initializer_range": 0.02,
        "layer_norm_epsilon": 1e-05,
        "model_type": "gpt2",
        "n_ctx": 17,
        "n_embd": 12,
        "n_head": 3,
        "n_inner": None,
        "n_layer": 2,
        "n_positions": 17,
        "resid_pdrop": 0.1,
        "summary_type": "cls_index",
        "vocab_size": 47,
        **changes,
    }


def gpt_neox(**changes):
    return {
        "architectures": ["GPTNeoXForCausalLM"],
        "bos_token_id": 0,
        "eos_token_id": 0,
        "hidden_act": "gelu",
        "hidden_size": 24,
        "initializer_range": 0.02,
        "intermediate_size": 25,
        "layer_norm_eps": 1e-05,
        "max_position_embeddings": 19,
        "model_type": "gpt_neox",
        "num_attention_heads": 3,
        "num_hidden_layers": 2,
        "rotary_emb_base": 10000,
        "rotary_pct": 0.5,
        "tie_word_embeddings": False,
        "torch_dtype": "float16",
        "transformers_version": "4.24.0",
        "use_cache": True,
        "use_parallel_residual": True,
        "vocab_size": 43,
        **changes,
    }


def decoder(family, architecture, **changes):
    config = {
        "architectures": [architecture],
        "attention_dropout": 0.0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "hidden_act": "silu",
        "hidden_size": 10,
        "initializer_range": 0.02,
        "intermediate_size": 13,
        "max_position_embeddings": 64,
        "model_type": family,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "num_key_value_heads": 2,
        "rms_norm_eps": 1e-05,
        "rope_theta": 10000.0,
        "tie_word_embeddings": True,
        "torch_dtype": "float32",
        "use_cache": True,
        "vocab_size": 41,
        **changes,
    }
    return {key: value for key, value in config.items() if value is not REMOVED}


def llama(**changes):
    return decoder("llama", "LlamaForCausalLM", **{"rope_scaling": None, "head_dim": 6, **changes})


def small_llama(**changes):
    """For RoPE scaling, which more heads would not test better."""
    return llama(**{"head_dim": 8, "num_attention_heads": 2, "num_key_value_heads": 1, **changes})


def gemma(family, architecture, **changes):
    defaults = {
        "hidden_act": REMOVED,
        "hidden_activation": "gelu_pytorch_tanh",
        "head_dim": 6,
        "rms_norm_eps": 1e-06,
        "tie_word_embeddings": REMOVED,
    }
    return decoder(family, architecture, **{**defaults, **changes})


def bert(family, architecture, **changes):
    return {
        "architectures": [architecture],
        "attention_probs_dropout_prob": 0.1,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": 12,
        "initializer_range": 0.02,
        "intermediate_size": 19,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": 24,
        "model_type": family,
        "num_attention_heads": 3,
        "num_hidden_layers": 2,
        "pad_token_id": 0,
        "position_embedding_type": "absolute",
        "type_vocab_size": 2,
        "vocab_size": 45,
        **changes,
    }


def headless(config):
    return shapes.decoder(config, head=False)


LLAMA3 = {
    "factor": 8.0,
    "high_freq_factor": 1.0,
    "low_freq_factor": 0.25,
    "original_max_position_embeddings": 16,
    "rope_type": "llama3",
}
YARN = {"factor": 4.0, "original_max_position_embeddings": 12, "rope_type": "yarn"}
OLD_YARN = {"type": "yarn", "factor": 3.0, "attention_factor": 0.8, "beta_fast": 2.0, "beta_slow": 0.05}
LONGROPE = {"long_factor": [1.5, 3.0, 7.25], "short_factor": [1.0, 1.25, 2.0], "type": "longrope"}
GEMMA3_ROPE = {
    "full_attention": {"factor": 8.0, "rope_theta": 50000.0, "rope_type": "linear"},
    "sliding_attention": {"rope_theta": 100.0, "rope_type": "default"},
}
NO_SCALING = setting("no RoPE scaling", rope_scaling=None)

CASES = [
    Case(
        "gpt2-tied",
        "Conv1D [in, out], learned positions, tied head, no prefix, mask buffers `attn.bias`, `n_inner` null",
        gpt2("GPT2LMHeadModel"),
        shapes.gpt2,
        15,
        (
            transposed("c_proj.weight"),
            without("wpe"),
            without("attn.c_attn.bias"),
            setting("exact gelu", activation_function="gelu", least=1e-4),
        ),
        extras=lambda c, r: {
            f"h.{i}.attn.bias": ("F32", np.tril(np.ones((1, 1, c["n_ctx"], c["n_ctx"]))))
            for i in range(c["n_layer"])
        },
    ),
    Case(
        "gpt2-untied-inverse-layer",
        "prefix `transformer.`, own `lm_head`, `n_inner`, scores divided by layer number",
        gpt2(
            "GPT2LMHeadModel",
            n_embd=20,
            n_head=4,
            n_inner=23,
            layer_norm_epsilon=0.01,
            scale_attn_by_inverse_layer_idx=True,
            tie_word_embeddings=False,
            torch_dtype="float16",
        ),
        lambda c: shapes.gpt2(c, "transformer.", head=True),
        13,
        (
            setting("not by layer", scale_attn_by_inverse_layer_idx=False),
            setting("unscaled", scale_attn_weights=False),
            setting("tied", tie_word_embeddings=True),
            setting("epsilon 1e-5", layer_norm_epsilon=1e-5, least=1e-3),
        ),
        dtype="F16",
    ),
    Case(
        "gpt-neox-parallel",
        "fused QKV by head, parallel residual, RoPE on half of each head, own `embed_out`, buffers BOOL and scalar",
        gpt_neox(),
        shapes.gpt_neox,
        15,
        (
            QKV_BY_PART,
            setting("one after the other", use_parallel_residual=False),
            setting("RoPE on all", rotary_pct=1.0),
            setting("gelu by tanh", hidden_act="gelu_new", least=1e-4),
            NEIGHBOURS,
        ),
        dtype="F16",
        extras=lambda c, r: {
            f"gpt_neox.layers.{i}.attention.{name}": buffer
            for i in range(c["num_hidden_layers"])
            for name, buffer in {
                "bias": ("BOOL", np.tril(np.ones((1, 1, 19, 19), bool))),
                "masked_bias": ("F16", np.array(-1e9).clip(-65504)),
                "rotary_emb.inv_freq": ("F16", np.array([1.0, 0.01])),
            }.items()
        },
    ),
    Case(
        "gpt-neox-sequential",
        "`use_parallel_residual` false, RoPE on a quarter with another base, U8 buffers",
        gpt_neox(
            hidden_size=16,
            num_attention_heads=2,
            intermediate_size=21,
            rotary_emb_base=100,
            rotary_pct=0.25,
            torch_dtype="float32",
            use_parallel_residual=False,
        ),
        shapes.gpt_neox,
        14,
        (
            QKV_BY_PART,
            setting("parallel", use_parallel_residual=True),
            setting("RoPE on half", rotary_pct=0.5),
            NO_ROPE,
        ),
        extras=lambda c, r: {
            f"gpt_neox.layers.{i}.attention.bias": ("U8", np.tril(np.ones((1, 1, 19, 19))))
            for i in range(c["num_hidden_layers"])
        },
    ),
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
    Case(
        "mistral-window",
        "a window of 5 keys in all layers, `head_dim` other than d/h",
        decoder(
            "mistral",
            "MistralForCausalLM",
            head_dim=6,
            sliding_window=5,
            tie_word_embeddings=False,
            torch_dtype="bfloat16",
        ),
        shapes.decoder,
        16,
        (NO_WINDOW, WIDER, TILED),
        dtype="BF16",
    ),
    Case(
        "mistral-no-window",
        "`sliding_window` null and a large base, as from version 0.2 on",
        decoder(
            "mistral",
            "MistralForCausalLM",
            hidden_size=16,
            rope_theta=1000000.0,
            sliding_window=None,
            tie_word_embeddings=False,
            torch_dtype="bfloat16",
        ),
        shapes.decoder,
        14,
        (setting("window", sliding_window=5), setting("theta 10000", rope_theta=10000.0)),
        dtype="BF16",
    ),
    Case(
        "qwen2-bias",
        "biases of q, k and v alone, a window that `use_sliding_window` false turns off, tied",
        decoder(
            "qwen2",
            "Qwen2ForCausalLM",
            hidden_size=24,
            max_window_layers=1,
            rms_norm_eps=1e-06,
            rope_theta=1000000.0,
            sliding_window=4,
            use_sliding_window=False,
            torch_dtype="bfloat16",
        ),
        headless,
        13,
        (without("q_proj.bias"), without("v_proj.bias"), setting("window", use_sliding_window=True)),
        dtype="BF16",
    ),
    Case(
        "qwen2-window-upper-layers",
        "a window from layer `max_window_layers` on, untied (no key: the default)",
        decoder(
            "qwen2",
            "Qwen2ForCausalLM",
            hidden_size=16,
            max_window_layers=1,
            num_hidden_layers=3,
            num_key_value_heads=1,
            sliding_window=4,
            tie_word_embeddings=REMOVED,
            torch_dtype="float16",
            use_sliding_window=True,
        ),
        shapes.decoder,
        13,
        (NO_WINDOW, WIDER, setting("all layers", max_window_layers=0), setting("tied", tie_word_embeddings=True)),
        dtype="F16",
    ),
    Case(
        "qwen3-qk-norm",
        "norms of each head's q and k before RoPE, `head_dim` other than d/h, names without `model.`",
        decoder(
            "qwen3",
            "Qwen3ForCausalLM",
            attention_bias=False,
            head_dim=6,
            max_window_layers=2,
            rms_norm_eps=1e-06,
            rope_scaling=None,
            sliding_window=None,
            use_sliding_window=False,
        ),
        lambda c: shapes.decoder(c, base="", head=False),
        15,
        (without("q_norm"), without("k_norm"), LATE_NORM, NEIGHBOURS),
    ),
    Case(
        "qwen3-bias-layer-types",
        "`attention_bias` and `layer_types`: the window in the middle layer alone",
        decoder(
            "qwen3",
            "Qwen3ForCausalLM",
            attention_bias=True,
            head_dim=8,
            layer_types=["full_attention", "sliding_attention", "full_attention"],
            max_window_layers=0,
            num_hidden_layers=3,
            num_key_value_heads=4,
            sliding_window=4,
            torch_dtype="float16",
            use_sliding_window=True,
        ),
        headless,
        13,
        (
            NO_WINDOW,
            WIDER,
            setting("by max_window_layers", layer_types=REMOVED),
            without("k_norm"),
            without("o_proj.bias"),
        ),
        dtype="F16",
    ),
    Case(
        "gemma-mqa",
        'embeddings times √d, norms by 1 + w, one key/value head, tied by default, tanh gelu though it says "gelu"',
        gemma(
            "gemma",
            "GemmaForCausalLM",
            head_dim=8,
            hidden_act="gelu",
            hidden_activation=REMOVED,
            hidden_size=14,
            num_attention_heads=3,
            num_key_value_heads=1,
        ),
        headless,
        13,
        (
            PLUS_ONE,
            twists.Twist("embeddings unscaled", tensors=twists.divided("embed_tokens.weight", 14**0.5)),
            setting("exact gelu", hidden_activation="gelu", least=1e-4),
            NEIGHBOURS,
        ),
    ),
    Case(
        "gemma2-softcap-window",
        "four norms a layer, soft caps of scores and logits, `query_pre_attn_scalar`, window in even layers",
        gemma(
            "gemma2",
            "Gemma2ForCausalLM",
            attn_logit_softcapping=1.75,
            final_logit_softcapping=4.5,
            num_hidden_layers=3,
            query_pre_attn_scalar=3,
            sliding_window=5,
            torch_dtype="bfloat16",
        ),
        headless,
        13,
        (
            setting("no cap of scores", attn_logit_softcapping=None),
            setting("no cap of logits", final_logit_softcapping=None),
            setting("scaled by head_dim", query_pre_attn_scalar=6),
            setting("window in odd layers", layer_types=["full_attention", "sliding_attention", "full_attention"]),
            NO_WINDOW,
            WIDER,
            PLUS_ONE,
            without("post_attention_layernorm"),
            without("post_feedforward_layernorm"),
        ),
        dtype="BF16",
    ),
    Case(
        "gemma2-no-caps",
        "soft caps null, `layer_types` given",
        gemma(
            "gemma2",
            "Gemma2ForCausalLM",
            attn_logit_softcapping=None,
            final_logit_softcapping=None,
            layer_types=["full_attention", "sliding_attention"],
            query_pre_attn_scalar=6,
            sliding_window=4,
            ),
        headless,
        14,
        (
            setting("cap of scores", attn_logit_softcapping=30.0, least=1e-3),
            setting("cap of logits", final_logit_softcapping=30.0),
            setting("window in even layers", layer_types=REMOVED),
        ),
    ),
    Case(
        "gemma3-local-global",
        "norms of q and k by 1 + w, every third layer global with its own base and linear scaling",
        gemma(
            "gemma3_text",
            "Gemma3ForCausalLM",
            head_dim=8,
            num_attention_heads=3,
            num_hidden_layers=4,
            num_key_value_heads=1,
            query_pre_attn_scalar=5,
            rope_local_base_freq=100.0,
            rope_scaling={"factor": 8.0, "rope_type": "linear"},
            rope_theta=50000.0,
            sliding_window=5,
            sliding_window_pattern=3,
            torch_dtype="bfloat16",
        ),
        headless,
        13,
        (
            setting("one base", rope_local_base_freq=50000.0),
            NO_SCALING,
            setting("every second layer", sliding_window_pattern=2),
            NO_WINDOW,
            WIDER,
            PLUS_ONE,
            LATE_NORM,
            setting("scaled by head_dim", query_pre_attn_scalar=8),
        ),
        dtype="BF16",
    ),
    Case(
        "gemma3-rope-parameters",
        "the newer config: `layer_types` and `rope_parameters` of each kind of layer",
        gemma(
            "gemma3_text",
            "Gemma3ForCausalLM",
            dtype="bfloat16",
            layer_types=["sliding_attention", "full_attention", "sliding_attention"],
            num_hidden_layers=3,
            query_pre_attn_scalar=6,
            rope_parameters=GEMMA3_ROPE,
            rope_theta=REMOVED,
            sliding_window=5,
            torch_dtype=REMOVED,
        ),
        headless,
        13,
        (
            setting("kinds swapped", rope_parameters=dict(zip(GEMMA3_ROPE, reversed(GEMMA3_ROPE.values())))),
            setting("by default pattern", layer_types=REMOVED),
            WIDER,
        ),
        dtype="BF16",
    ),
    Case(
        "gemma3-multimodal",
        "`text_config` that leaves defaults out, prefix `language_model.model.`, a vision tensor to ignore",
        {
            "architectures": ["Gemma3ForConditionalGeneration"],
            "boi_token_index": 38,
            "eoi_token_index": 39,
            "eos_token_id": [1, 36],
            "image_token_index": 40,
            "initializer_range": 0.02,
            "mm_tokens_per_image": 4,
            "model_type": "gemma3",
            "text_config": {
                "head_dim": 8,
                "hidden_size": 10,
                "intermediate_size": 13,
                "model_type": "gemma3_text",
                "num_attention_heads": 2,
                "num_hidden_layers": 7,
                "num_key_value_heads": 1,
                "query_pre_attn_scalar": 7,
                "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
                "sliding_window": 5,
                "vocab_size": 41,
            },
            "torch_dtype": "bfloat16",
            "transformers_version": "4.50.0",
            "vision_config": {"hidden_size": 8, "model_type": "siglip_vision_model", "num_hidden_layers": 1},
        },
        lambda c: shapes.decoder(c, base="language_model.model.", head=False),
        14,
        (
            setting("theta 10000", rope_theta=10000.0),
            NO_SCALING,
            setting("local base 1e6", rope_local_base_freq=1e6),
            setting("every second layer", sliding_window_pattern=2),
        ),
        dtype="BF16",
        extras=lambda c, r: {
            "vision_tower.vision_model.embeddings.position_embedding.weight": ("BF16", r.standard_normal((4, 8)))
        },
    ),
    Case(
        "phi3-window",
        "one matrix for q, k and v, one for gate and up, a window, untied",
        decoder(
            "phi3",
            "Phi3ForCausalLM",
            hidden_size=16,
            original_max_position_embeddings=64,
            rope_scaling=None,
            sliding_window=5,
            tie_word_embeddings=False,
        ),
        shapes.decoder,
        13,
        (
            NO_WINDOW,
            WIDER,
            TILED,
            twists.Twist("up before gate", tensors=twists.halves_swapped("gate_up_proj.weight")),
        ),
    ),
    Case(
        "phi3-longrope-short",
        "LongRoPE on three quarters of each head, a text within the original length, tied",
        decoder(
            "phi3",
            "Phi3ForCausalLM",
            hidden_size=16,
            head_dim=REMOVED,
            max_position_embeddings=64,
            num_attention_heads=2,
            num_key_value_heads=1,
            original_max_position_embeddings=16,
            partial_rotary_factor=0.75,
            rope_scaling=LONGROPE,
            rope_theta=500.0,
        ),
        headless,
        16,
        (
            setting("plain RoPE", rope_scaling=None),
            setting("long factors", original_max_position_embeddings=15),
            NO_ROPE_FACTOR,
        ),
    ),
    Case(
        "phi3-longrope-long",
        "the same for a text longer than the original length: the long factors",
        decoder(
            "phi3",
            "Phi3ForCausalLM",
            hidden_size=16,
            head_dim=REMOVED,
            max_position_embeddings=64,
            num_attention_heads=2,
            num_key_value_heads=1,
            original_max_position_embeddings=16,
            partial_rotary_factor=0.75,
            rope_scaling=LONGROPE,
            rope_theta=500.0,
        ),
        headless,
        17,
        (
            setting("plain RoPE", rope_scaling=None),
            setting("short factors", rope_scaling={**LONGROPE, "long_factor": LONGROPE["short_factor"]}),
            setting(
                "RoPE on all",
                partial_rotary_factor=1.0,
                rope_scaling={**LONGROPE, "long_factor": [1.5, 3.0, 7.25, 9.0]},
            ),
            NO_ROPE_FACTOR,
        ),
    ),
    Case(
        "bert-pair",
        "a pair with token types, every key visible, names without `bert.`, pooler, I64 buffer `position_ids`",
        bert("bert", "BertModel", layer_norm_eps=0.01),
        shapes.bert,
        15,
        (
            NO_TYPES,
            CAUSAL,
            without("position_embeddings"),
            setting("gelu by tanh", hidden_act="gelu_new", least=1e-4),
            setting("epsilon 1e-12", layer_norm_eps=1e-12, least=1e-3),
        ),
        extras=lambda c, r: {"embeddings.position_ids": ("I64", np.arange(24)[None])},
        token_types=True,
    ),
    Case(
        "bert-mlm-gamma-beta",
        "`bert.` prefix, old names `LayerNorm.gamma` and `.beta`, masked-language head, next-sentence head to ignore",
        bert("bert", "BertForMaskedLM", num_attention_heads=4, intermediate_size=17),
        lambda c: shapes.bert(c, "bert.", head="bert"),
        13,
        (NO_TYPES, CAUSAL, without("predictions.bias"), without("predictions.transform.LayerNorm")),
        rename=lambda name: name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ),
        token_types=True,
    ),
    Case(
        "roberta-mlm",
        "positions from 2 on, one token type, `lm_head` with its own norm",
        bert(
            "roberta",
            "RobertaForMaskedLM",
            bos_token_id=0,
            eos_token_id=2,
            layer_norm_eps=1e-05,
            hidden_size=16,
            max_position_embeddings=19,
            num_attention_heads=4,
            pad_token_id=1,
            type_vocab_size=1,
        ),
        lambda c: shapes.bert(c, "roberta.", head="roberta"),
        17,
        (
            setting("positions from 0", pad_token_id=-1),
            setting("positions from 1", pad_token_id=0),
            without("token_type_embeddings"),
            CAUSAL,
        ),
        dtype="F16",
    ),
    Case(
        "distilbert-mlm",
        "its own names, no token types, `vocab_transform` and `vocab_projector`",
        {
            "activation": "gelu",
            "architectures": ["DistilBertForMaskedLM"],
            "attention_dropout": 0.1,
            "dim": 12,
            "dropout": 0.1,
            "hidden_dim": 19,
            "initializer_range": 0.02,
            "max_position_embeddings": 24,
            "model_type": "distilbert",
            "n_heads": 3,
            "n_layers": 2,
            "pad_token_id": 0,
            "qa_dropout": 0.1,
            "seq_classif_dropout": 0.2,
            "sinusoidal_pos_embds": False,
            "tie_weights_": True,
            "transformers_version": "4.10.0.dev0",
            "vocab_size": 43,
        },
        shapes.distilbert,
        14,
        (
            CAUSAL,
            without("position_embeddings"),
            transposed("q_lin.weight", "k_lin.weight"),
            setting("gelu by tanh", activation="gelu_new", least=1e-4),
        ),
    ),
]

if __name__ == "__main__":
    print("| case | type | tokens | what it covers |\n| --- | --- | --- | --- |")
    for case in CASES:
        print(f"| `{case.name}` | {case.dtype} | {case.n} | {case.covers} |")
