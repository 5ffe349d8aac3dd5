"""Cases of GPT-2 and GPT-NeoX."""

import numpy as np

import shapes
from case import Case
from twists import NEIGHBOURS, NO_ROPE, QKV_BY_PART, setting, transposed, without


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
]
