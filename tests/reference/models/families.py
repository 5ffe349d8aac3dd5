"""Forward passes of the model families, from a Hugging Face config.json and its tensors, in float64.

run(config, tensors, ids, token_types) answers with a dict:
    attention  [n_layers, h, n, n] after softmax, axes layer, head, query, key
    hidden     [n, d]              after the last norm, as last_hidden_state
    logits     [n, n_vocab]        where the model has a language-model head
One text, no padding. Written for reading: every family states its residual block in full.
"""

import torch

import parts


def without_prefix(tensors, *prefixes):
    """Base-model names: files come with and without the name of the base model in front."""
    for prefix in prefixes:
        tensors = {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
    return tensors


def result(attention, hidden, logits=None):
    answer = {"attention": torch.stack(attention), "hidden": hidden}
    return answer if logits is None else {**answer, "logits": logits}


def head(config, w, embedding, tied_by_default):
    """The language-model head's matrix [n_vocab, d]; config.json leaves out what is the family's default."""
    return w[embedding] if config.get("tie_word_embeddings", tied_by_default) else w["lm_head.weight"]


def gpt2(config, tensors, ids, token_types=None):
    """Pre-norm, learned positions, one matrix for q, k and v, matrices stored [in, out]."""
    w = without_prefix(tensors, "transformer.")
    n_heads, eps = config["n_head"], config.get("layer_norm_epsilon", 1e-5)
    act = config.get("activation_function", "gelu_new")
    n, d_head = len(ids), config["n_embd"] // n_heads
    x = w["wte.weight"][ids] + w["wpe.weight"][:n]
    attention = []
    for layer in range(config["n_layer"]):
        at = f"h.{layer}."
        y = parts.layer_norm(x, w, at + "ln_1", eps)
        qkv = parts.conv1d(y, w, at + "attn.c_attn").chunk(3, dim=-1)
        q, k, v = (parts.split_heads(part, n_heads) for part in qkv)
        scale = d_head**-0.5 if config.get("scale_attn_weights", True) else 1.0
        if config.get("scale_attn_by_inverse_layer_idx", False):
            scale /= layer + 1
        pattern, mixed = parts.attend(q, k, v, parts.visible(n), scale)
        attention.append(pattern)
        x = x + parts.conv1d(mixed, w, at + "attn.c_proj")
        y = parts.layer_norm(x, w, at + "ln_2", eps)
        y = parts.activation(act, parts.conv1d(y, w, at + "mlp.c_fc"))
        x = x + parts.conv1d(y, w, at + "mlp.c_proj")
    x = parts.layer_norm(x, w, "ln_f", eps)
    return result(attention, x, x @ head(config, w, "wte.weight", True).T)


def split_fused_by_head(qkv, n_heads):
    """GPT-NeoX: the features of one head are its q, then its k, then its v."""
    by_head = parts.split_heads(qkv, n_heads)  # [h, n, 3 e]
    return by_head.chunk(3, dim=-1)


def gpt_neox(config, tensors, ids, token_types=None):
    """Rotary positions on a part of each head; attention and MLP side by side or one after the other."""
    w = without_prefix(tensors, "gpt_neox.")
    n_heads, eps, n = config["num_attention_heads"], config.get("layer_norm_eps", 1e-5), len(ids)
    d_head = config["hidden_size"] // n_heads
    frequencies, _ = parts.rope_frequencies(
        int(d_head * config.get("rotary_pct", 0.25)),
        config.get("rotary_emb_base", 10000),
        config.get("rope_scaling"),
        n,
        config["max_position_embeddings"],
    )
    x = w["embed_in.weight"][ids]
    attention = []
    for layer in range(config["num_hidden_layers"]):
        at = f"layers.{layer}."
        y = parts.layer_norm(x, w, at + "input_layernorm", eps)
        q, k, v = split_fused_by_head(parts.linear(y, w, at + "attention.query_key_value"), n_heads)
        q, k = parts.rotate(q, frequencies), parts.rotate(k, frequencies)
        pattern, mixed = parts.attend(q, k, v, parts.visible(n), d_head**-0.5)
        attention.append(pattern)
        after_attention = x + parts.linear(mixed, w, at + "attention.dense")
        mlp_input = x if config.get("use_parallel_residual", True) else after_attention
        y = parts.layer_norm(mlp_input, w, at + "post_attention_layernorm", eps)
        y = parts.activation(config.get("hidden_act", "gelu"), parts.linear(y, w, at + "mlp.dense_h_to_4h"))
        x = after_attention + parts.linear(y, w, at + "mlp.dense_4h_to_h")
    x = parts.layer_norm(x, w, "final_layer_norm", eps)
    return result(attention, x, x @ w["embed_out.weight"].T)


def windows(config):
    """The sliding window of each layer, or None where it sees all keys before it."""
    family, layers = config["model_type"], range(config["num_hidden_layers"])
    width = config.get("sliding_window")
    if family in ("qwen2", "qwen3") and not config.get("use_sliding_window", False):
        width = None
    if "layer_types" in config:
        return [width if kind == "sliding_attention" else None for kind in config["layer_types"]]
    if family in ("mistral", "phi3"):
        return [width for _ in layers]
    if family in ("qwen2", "qwen3"):
        return [width if layer >= config.get("max_window_layers", 28) else None for layer in layers]
    if family == "gemma2":
        return [width if layer % 2 == 0 else None for layer in layers]
    if family == "gemma3_text":
        pattern = config.get("sliding_window_pattern", 6)
        return [width if (layer + 1) % pattern else None for layer in layers]
    return [None for _ in layers]


def rope_settings(config, kind=None, theta=10000.0):
    """(theta, scaling rule): either rope_theta and rope_scaling, or the newer rope_parameters, by kind of layer."""
    new = config.get("rope_parameters")
    if new:
        new = new.get(kind, new)
        return new["rope_theta"], new
    return config.get("rope_theta", theta), config.get("rope_scaling")


def gated_mlp(x, w, at, act):
    """down(act(gate(x)) up(x)); Phi-3 keeps gate and up in one matrix, gate first."""
    if at + "mlp.gate_up_proj.weight" in w:
        gate, up = parts.linear(x, w, at + "mlp.gate_up_proj").chunk(2, dim=-1)
    else:
        gate, up = parts.linear(x, w, at + "mlp.gate_proj"), parts.linear(x, w, at + "mlp.up_proj")
    return parts.linear(parts.activation(act, gate) * up, w, at + "mlp.down_proj")


def project_qkv(x, w, at, n_heads, n_kv_heads, d_head):
    """Three matrices, or Phi-3's one: all queries, then all keys, then all values."""
    if at + "self_attn.qkv_proj.weight" in w:
        fused = parts.linear(x, w, at + "self_attn.qkv_proj")
        q, k, v = fused.split([n_heads * d_head, n_kv_heads * d_head, n_kv_heads * d_head], dim=-1)
    else:
        q, k, v = (parts.linear(x, w, at + f"self_attn.{name}_proj") for name in "qkv")
    return parts.split_heads(q, n_heads), parts.split_heads(k, n_kv_heads), parts.split_heads(v, n_kv_heads)


def llama(config, tensors, ids, token_types=None):
    """Llama, Mistral, Qwen 2 and 3, Phi-3: RMS norms, rotary positions, shared key/value heads, gated MLP."""
    w = without_prefix(tensors, "model.")
    n_heads, n, eps = config["num_attention_heads"], len(ids), config.get("rms_norm_eps", 1e-6)
    n_kv_heads = config.get("num_key_value_heads", n_heads)
    d_head = config.get("head_dim") or config["hidden_size"] // n_heads
    theta, scaling = rope_settings(config)
    frequencies, factor = parts.rope_frequencies(
        int(d_head * config.get("partial_rotary_factor", 1.0)),
        theta,
        scaling,
        n,
        config["max_position_embeddings"],
        config.get("original_max_position_embeddings"),
    )
    x = w["embed_tokens.weight"][ids]
    attention = []
    for layer, window in enumerate(windows(config)):
        at = f"layers.{layer}."
        y = parts.rms_norm(x, w, at + "input_layernorm", eps)
        q, k, v = project_qkv(y, w, at, n_heads, n_kv_heads, d_head)
        if config["model_type"] == "qwen3":
            q = parts.rms_norm(q, w, at + "self_attn.q_norm", eps)
            k = parts.rms_norm(k, w, at + "self_attn.k_norm", eps)
        q, k = parts.rotate(q, frequencies, factor), parts.rotate(k, frequencies, factor)
        pattern, mixed = parts.attend(q, k, v, parts.visible(n, window=window), d_head**-0.5)
        attention.append(pattern)
        x = x + parts.linear(mixed, w, at + "self_attn.o_proj")
        y = parts.rms_norm(x, w, at + "post_attention_layernorm", eps)
        x = x + gated_mlp(y, w, at, config.get("hidden_act", "silu"))
    x = parts.rms_norm(x, w, "norm", eps)
    return result(attention, x, x @ head(config, w, "embed_tokens.weight", False).T)


def gemma(config, tensors, ids, token_types=None):
    """Gemma 1, 2 and 3: embeddings times sqrt(d), norms by 1 + w, from 2 on norms after each part too."""
    w = without_prefix(tensors, "language_model.", "model.", "language_model.")
    config = {"model_type": "gemma3_text", **config["text_config"]} if "text_config" in config else config
    family = config["model_type"]
    n_heads, n, eps = config["num_attention_heads"], len(ids), config.get("rms_norm_eps", 1e-6)
    n_kv_heads, d_head = config.get("num_key_value_heads", n_heads), config.get("head_dim", 256)
    # Gemma 1 was trained with the tanh form, even where its first config says "gelu".
    act = config.get("hidden_activation") or "gelu_pytorch_tanh"
    scalar = d_head if family == "gemma" else config.get("query_pre_attn_scalar", 256)
    rope = {}
    for kind in ("full_attention", "sliding_attention"):
        theta, scaling = rope_settings(config, kind, 1e6 if family == "gemma3_text" else 10000.0)
        if family == "gemma3_text" and kind == "sliding_attention" and "rope_parameters" not in config:
            theta, scaling = config.get("rope_local_base_freq", 10000.0), None
        rope[kind] = parts.rope_frequencies(d_head, theta, scaling, n, config.get("max_position_embeddings"))

    def norm(x, name):
        return parts.rms_norm(x, w, name, eps, plus=1.0)

    x = w["embed_tokens.weight"][ids] * config["hidden_size"] ** 0.5
    attention = []
    for layer, window in enumerate(windows(config)):
        at = f"layers.{layer}."
        q, k, v = project_qkv(norm(x, at + "input_layernorm"), w, at, n_heads, n_kv_heads, d_head)
        if family == "gemma3_text":
            q, k = norm(q, at + "self_attn.q_norm"), norm(k, at + "self_attn.k_norm")
        frequencies, factor = rope["sliding_attention" if window else "full_attention"]
        q, k = parts.rotate(q, frequencies, factor), parts.rotate(k, frequencies, factor)
        mask = parts.visible(n, window=window)
        pattern, mixed = parts.attend(q, k, v, mask, scalar**-0.5, config.get("attn_logit_softcapping"))
        attention.append(pattern)
        y = parts.linear(mixed, w, at + "self_attn.o_proj")
        if family == "gemma":
            x = x + y
            x = x + gated_mlp(norm(x, at + "post_attention_layernorm"), w, at, act)
        else:
            x = x + norm(y, at + "post_attention_layernorm")
            y = gated_mlp(norm(x, at + "pre_feedforward_layernorm"), w, at, act)
            x = x + norm(y, at + "post_feedforward_layernorm")
    x = norm(x, "norm")
    logits = x @ head(config, w, "embed_tokens.weight", True).T
    return result(attention, x, parts.soft_cap(logits, config.get("final_logit_softcapping")))


def encoder_layer(x, w, names, n_heads, act, eps):
    """A block that norms after each residual sum (Vaswani et al. 2017); every token sees every token."""
    n, d_head = x.shape[0], x.shape[1] // n_heads
    q, k, v = (parts.split_heads(parts.linear(x, w, names[part]), n_heads) for part in "qkv")
    pattern, mixed = parts.attend(q, k, v, parts.visible(n, causal=False), d_head**-0.5)
    x = parts.layer_norm(x + parts.linear(mixed, w, names["out"]), w, names["attention_norm"], eps)
    y = parts.linear(parts.activation(act, parts.linear(x, w, names["up"])), w, names["down"])
    return pattern, parts.layer_norm(x + y, w, names["mlp_norm"], eps)


def bert(config, tensors, ids, token_types=None):
    """BERT and RoBERTa; the latter counts positions from pad_token_id + 1 and has one token type."""
    w = without_prefix(tensors, "bert.", "roberta.")
    w = {name.replace(".gamma", ".weight").replace(".beta", ".bias"): t for name, t in w.items()}
    eps, act, n = config.get("layer_norm_eps", 1e-12), config.get("hidden_act", "gelu"), len(ids)
    first = config.get("pad_token_id", 1) + 1 if config["model_type"] == "roberta" else 0
    types = torch.zeros(n, dtype=torch.long) if token_types is None else token_types
    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.token_type_embeddings.weight"][types]
    x = x + w["embeddings.position_embeddings.weight"][first : first + n]
    x = parts.layer_norm(x, w, "embeddings.LayerNorm", eps)
    attention = []
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}."
        names = {
            "q": at + "attention.self.query",
            "k": at + "attention.self.key",
            "v": at + "attention.self.value",
            "out": at + "attention.output.dense",
            "attention_norm": at + "attention.output.LayerNorm",
            "up": at + "intermediate.dense",
            "down": at + "output.dense",
            "mlp_norm": at + "output.LayerNorm",
        }
        pattern, x = encoder_layer(x, w, names, config["num_attention_heads"], act, eps)
        attention.append(pattern)
    embedding = w["embeddings.word_embeddings.weight"]
    if "cls.predictions.bias" in w:
        y = parts.activation(act, parts.linear(x, w, "cls.predictions.transform.dense"))
        y = parts.layer_norm(y, w, "cls.predictions.transform.LayerNorm", eps)
        return result(attention, x, y @ embedding.T + w["cls.predictions.bias"])
    if "lm_head.bias" in w:
        y = parts.gelu(parts.linear(x, w, "lm_head.dense"))
        y = parts.layer_norm(y, w, "lm_head.layer_norm", eps)
        return result(attention, x, y @ embedding.T + w["lm_head.bias"])
    return result(attention, x)


def distilbert(config, tensors, ids, token_types=None):
    """BERT without token types, under other names."""
    w = without_prefix(tensors, "distilbert.")
    eps, act, n = 1e-12, config.get("activation", "gelu"), len(ids)
    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:n]
    x = parts.layer_norm(x, w, "embeddings.LayerNorm", eps)
    attention = []
    for layer in range(config["n_layers"]):
        at = f"transformer.layer.{layer}."
        names = {
            "q": at + "attention.q_lin",
            "k": at + "attention.k_lin",
            "v": at + "attention.v_lin",
            "out": at + "attention.out_lin",
            "attention_norm": at + "sa_layer_norm",
            "up": at + "ffn.lin1",
            "down": at + "ffn.lin2",
            "mlp_norm": at + "output_layer_norm",
        }
        pattern, x = encoder_layer(x, w, names, config["n_heads"], act, eps)
        attention.append(pattern)
    if "vocab_projector.bias" not in w:
        return result(attention, x)
    y = parts.activation(act, parts.linear(x, w, "vocab_transform"))
    y = parts.layer_norm(y, w, "vocab_layer_norm", eps)
    return result(attention, x, y @ w["embeddings.word_embeddings.weight"].T + w["vocab_projector.bias"])


FAMILIES = {
    "gpt2": gpt2,
    "gpt_neox": gpt_neox,
    **dict.fromkeys(("llama", "mistral", "qwen2", "qwen3", "phi3"), llama),
    **dict.fromkeys(("gemma", "gemma2", "gemma3", "gemma3_text"), gemma),
    **dict.fromkeys(("bert", "roberta"), bert),
    "distilbert": distilbert,
}


def run(config, tensors, ids, token_types=None):
    """tensors: {name: NumPy array of any float type}, named as in the file."""
    floats = {name: array for name, array in tensors.items() if array.dtype.kind == "f"}
    weights = {name: torch.as_tensor(array, dtype=torch.float64) for name, array in floats.items()}
    types = None if token_types is None else torch.as_tensor(token_types, dtype=torch.long)
    return FAMILIES[config["model_type"]](config, weights, torch.as_tensor(ids, dtype=torch.long), types)
