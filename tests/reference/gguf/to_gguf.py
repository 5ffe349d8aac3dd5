"""Hugging Face's config and tensors as llama.cpp's converter writes them: (metadata, tensors) for gguf_file.write."""

import math

import numpy as np

import names

ARCHITECTURES = {"mistral": "llama", "roberta": "bert", "gpt_neox": "gptneox", "gemma3_text": "gemma3"}
PREFIXES = ("transformer.", "gpt_neox.", "model.", "roberta.", "bert.")


def architecture_of(config):
    return ARCHITECTURES.get(config["model_type"], config["model_type"])


def sizes(config):
    """(layers, heads, key/value heads, features, features of a head, of the MLP, positions)."""

    def get(*keys):
        return next((config[key] for key in keys if config.get(key) is not None), None)

    d, n_heads = get("hidden_size", "n_embd"), get("num_attention_heads", "n_head")
    return (
        get("num_hidden_layers", "n_layer"),
        n_heads,
        get("num_key_value_heads") or n_heads,
        d,
        get("head_dim") or d // n_heads,
        get("intermediate_size", "n_inner") or 4 * d,
        get("max_position_embeddings", "n_positions") - first_position(config),
    )


def first_position(config):
    """RoBERTa counts from pad_token_id + 1; the converter leaves out the rows before."""
    return config["pad_token_id"] + 1 if config["model_type"] == "roberta" else 0


def rope_keys(config, d_head, limit):
    """What the converter says about RoPE; it does not say "llama3", whose divisors become a tensor."""
    keys = {}
    scaling = config.get("rope_scaling") or {}
    kind = scaling.get("rope_type", scaling.get("type"))
    part = config.get("partial_rotary_factor", config.get("rotary_pct", 1.0))
    keys["rope.dimension_count"] = ("u32", int(d_head * part))
    keys["rope.freq_base"] = ("f32", float(config.get("rope_theta", config.get("rotary_emb_base", 10000.0))))
    if kind in ("linear", "yarn"):
        keys["rope.scaling.type"] = ("string", kind)
        keys["rope.scaling.factor"] = ("f32", scaling["factor"])
    if kind == "yarn":
        keys["rope.scaling.original_context_length"] = ("u32", scaling["original_max_position_embeddings"])
    if config["model_type"] == "phi3":
        original = config["original_max_position_embeddings"]
        keys["rope.scaling.original_context_length"] = ("u32", original)
        if kind == "longrope":
            stretch = limit / original
            factor = math.sqrt(1 + math.log(stretch) / math.log(original)) if stretch > 1 else 1.0
            keys["rope.scaling.attn_factor"] = ("f32", factor)
    return keys


def metadata_of(config, name, file_type):
    architecture = architecture_of(config)
    n_layers, n_heads, n_kv_heads, d, d_head, d_ff, limit = sizes(config)
    keys = {
        "block_count": ("u32", n_layers),
        "context_length": ("u32", limit),
        "embedding_length": ("u32", d),
        "feed_forward_length": ("u32", d_ff),
        "attention.head_count": ("u32", n_heads),
    }
    if architecture in ("gpt2", "gptneox", "bert"):
        epsilon = config.get("layer_norm_epsilon", config.get("layer_norm_eps"))
        keys["attention.layer_norm_epsilon"] = ("f32", epsilon)
    else:
        keys["attention.head_count_kv"] = ("u32", n_kv_heads)
        keys["attention.layer_norm_rms_epsilon"] = ("f32", config["rms_norm_eps"])
        if config.get("head_dim"):
            keys["attention.key_length"] = keys["attention.value_length"] = ("u32", d_head)
    if architecture not in ("gpt2", "bert"):
        keys |= rope_keys(config, d_head, limit)
    if architecture == "llama":
        keys["vocab_size"] = ("u32", config["vocab_size"])
    if architecture == "gptneox":
        keys["use_parallel_residual"] = ("bool", config["use_parallel_residual"])
    if architecture == "bert":
        keys["attention.causal"] = ("bool", False)
        keys["pooling_type"] = ("u32", 1)
    if architecture in ("gemma2", "gemma3", "phi3"):
        # Which layers have the window the architecture implies.
        keys["attention.sliding_window"] = ("u32", config.get("sliding_window") or 0)
    if architecture == "gemma2":
        keys["attn_logit_softcapping"] = ("f32", config["attn_logit_softcapping"])
        keys["final_logit_softcapping"] = ("f32", config["final_logit_softcapping"])
    return {
        "general.architecture": ("string", architecture),
        "general.type": ("string", "model"),
        "general.name": ("string", name),
        "general.file_type": ("u32", file_type),
        "general.quantization_version": ("u32", 2),
        **{f"{architecture}.{key}": value for key, value in keys.items()},
    }


def changed(architecture, config, name, array):
    """What the converter makes of one tensor; `name` is GGUF's."""
    _, n_heads, n_kv_heads, *_ = sizes(config)
    if architecture == "llama" and ".attn_q." in name:
        return names.pair_neighbours(array, n_heads)
    if architecture == "llama" and ".attn_k." in name:
        return names.pair_neighbours(array, n_kv_heads)
    if architecture == "gptneox" and ".attn_qkv." in name:
        return names.stack_by_part(array, n_heads)
    if architecture == "gpt2" and name.startswith("blk.") and array.ndim == 2:
        return array.T  # Conv1D's [in, out]
    if architecture.startswith("gemma") and "norm" in name:
        return array + np.float32(1)
    if name.startswith("position_embd"):
        return array[first_position(config) :]
    return array


def stored(array, kind):
    """A tensor of gguf_file.write."""
    array = np.ascontiguousarray(array, "<f4")
    if kind == "F32":
        return kind, array.shape, array.tobytes()
    if kind == "F16":
        return kind, array.shape, array.astype("<f2").tobytes()
    bits = array.view("<u4")
    assert not (bits & 0xFFFF).any(), "only numbers that are BF16 already"
    return kind, array.shape, (bits >> 16).astype("<u2").tobytes()


def rope_tensors(config, d_head):
    scaling = config.get("rope_scaling") or {}
    if scaling.get("rope_type") == "llama3":
        yield "rope_freqs.weight", names.llama3_divisors(d_head, config["rope_theta"], scaling)
    if config["model_type"] == "phi3" and scaling:
        yield "rope_factors_long.weight", np.array(scaling["long_factor"])
        yield "rope_factors_short.weight", np.array(scaling["short_factor"])


def tensors_of(config, tensors, kind):
    """Matrices become `kind`; vectors, positions and token types stay float32, as the converter has it."""
    architecture = architecture_of(config)
    written = {name: stored(array, "F32") for name, array in rope_tensors(config, sizes(config)[4])}
    for original, array in tensors.items():
        for prefix in PREFIXES:
            original = original.removeprefix(prefix)
        name = names.gguf_name(architecture, original)
        if name is None or array.dtype.kind != "f":
            continue
        array = changed(architecture, config, name, array)
        small = array.ndim == 1 or name.startswith(("position_embd", "token_types"))
        written[name] = stored(array, "F32" if small else kind)
    return written
