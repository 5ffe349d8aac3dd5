"""Cases of Gemma 1 to 3."""

import shapes
import twists
from case import NO_SCALING, Case, decoder, headless
from twists import LATE_NORM, NEIGHBOURS, NO_WINDOW, PLUS_ONE, REMOVED, WIDER, setting, without


def gemma(family, architecture, **changes):
    defaults = {
        "hidden_act": REMOVED,
        "hidden_activation": "gelu_pytorch_tanh",
        "head_dim": 6,
        "rms_norm_eps": 1e-06,
        "tie_word_embeddings": REMOVED,
    }
    return decoder(family, architecture, **{**defaults, **changes})

GEMMA3_ROPE = {
    "full_attention": {"factor": 8.0, "rope_theta": 50000.0, "rope_type": "linear"},
    "sliding_attention": {"rope_theta": 100.0, "rope_type": "default"},
}

CASES = [
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
]
