"""A GGUF file as ../models/families.py takes it: Hugging Face's config and tensors, with llama.cpp's changes undone."""

import pathlib
import sys

import numpy as np

import names
import quants

sys.path.append(str(pathlib.Path(__file__).parents[1] / "models"))
import families  # noqa: E402

MODEL_TYPES = {"gptneox": "gpt_neox", "gemma3": "gemma3_text"}


def weights(tensors):
    """{name: [..] float64}."""
    numbers = {name: quants.dequantise(kind, raw).reshape(shape) for name, (kind, shape, raw) in tensors.items()}
    return {name: array.astype("f8") for name, array in numbers.items()}


def rope_scaling(get, w, original):
    kind = get("rope.scaling.type", "none")
    if "rope_freqs.weight" in w or "rope_factors_long.weight" in w:
        both = {
            length: w.get(f"rope_factors_{length}.weight", w.get("rope_freqs.weight")).tolist()
            for length in ("long", "short")
        }
        divisors = {"long_factor": both["long"], "short_factor": both["short"]}
        return {"rope_type": "longrope", **divisors, "attention_factor": get("rope.scaling.attn_factor", 1.0)}
    if kind == "linear":
        return {"rope_type": "linear", "factor": get("rope.scaling.factor")}
    if kind == "yarn":
        return {
            "rope_type": "yarn",
            "factor": get("rope.scaling.factor"),
            "original_max_position_embeddings": original,
        }
    return None


def config_of(metadata, w):
    architecture = metadata["general.architecture"][1]

    def get(key, *otherwise):
        key = f"{architecture}.{key}"
        return metadata[key][1] if key in metadata or not otherwise else otherwise[0]

    n_heads = get("attention.head_count")
    d_head = get("attention.key_length", get("embedding_length") // n_heads)
    rms = get("attention.layer_norm_rms_epsilon", None)
    layer = get("attention.layer_norm_epsilon", None)
    original = get("rope.scaling.original_context_length", get("context_length"))
    scaling = rope_scaling(get, w, original)
    window = get("attention.sliding_window", None) or None
    config = {
        "model_type": MODEL_TYPES.get(architecture, architecture),
        "hidden_size": get("embedding_length"),
        "num_hidden_layers": get("block_count"),
        "num_attention_heads": n_heads,
        "num_key_value_heads": get("attention.head_count_kv", n_heads),
        "head_dim": d_head,
        "max_position_embeddings": get("context_length"),
        "original_max_position_embeddings": original,
        "partial_rotary_factor": get("rope.dimension_count", d_head) / d_head,
        "rotary_pct": get("rope.dimension_count", d_head) / d_head,
        "rms_norm_eps": rms,
        "layer_norm_eps": layer,
        "rope_theta": get("rope.freq_base", 10000.0),
        "rotary_emb_base": get("rope.freq_base", 10000.0),
        "rope_scaling": scaling,
        "rope_local_base_freq": get("rope.freq_base_swa", 10000.0),
        "sliding_window": window,
        "use_parallel_residual": get("use_parallel_residual", True),
        "query_pre_attn_scalar": d_head,
        "tie_word_embeddings": "output.weight" not in w,
        "attn_logit_softcapping": get("attn_logit_softcapping", None),
        "final_logit_softcapping": get("final_logit_softcapping", None),
    }
    if architecture == "gpt2":
        config |= {"n_embd": config["hidden_size"], "n_head": n_heads, "n_layer": config["num_hidden_layers"]}
        config["layer_norm_epsilon"] = layer
    return config


def undo(architecture, config, w):
    n_heads, n_kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    tensors = {}
    for name, array in w.items():
        original = names.hugging_face_name(architecture, name)
        if original is None:
            continue
        if architecture == "llama" and ".attn_q." in name:
            array = names.pair_halves(array, n_heads)
        if architecture == "llama" and ".attn_k." in name:
            array = names.pair_halves(array, n_kv_heads)
        if architecture == "gptneox" and ".attn_qkv." in name:
            array = names.stack_by_head(array, n_heads)
        if architecture == "gpt2" and name.startswith("blk.") and array.ndim == 2:
            array = array.T
        if architecture.startswith("gemma") and "norm" in name:
            array = array - 1
        tensors[original] = array
    return tensors


def run(metadata, tensors, ids, token_types=None, noise=0.0):
    """families.run of a file that gguf_file.read has read; noise: a random relative change of all weights."""
    architecture = metadata["general.architecture"][1]
    random = np.random.default_rng(1)
    w = {name: array * (1 + noise * random.standard_normal(array.shape)) for name, array in weights(tensors).items()}
    config = config_of(metadata, w)
    return families.run(config, undo(architecture, config, w), ids, token_types)
