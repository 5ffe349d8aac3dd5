"""Makes the folders of GPT-Neo, GLM, GLM-4, MiniCPM and HunYuan: `make_2026.py [CASE ...]`. Needs numpy.

Weights are random and exact in float16. Each family has a forward pass of its own in float64, token by token and head by
head, written from its definition (the modeling files of transformers; of MiniCPM the one beside its weights); nothing
here is shared with attnviz. `check_2026.py` computes the same in PyTorch, as whole matrices.
"""

import json
import math
import pathlib
import struct
import sys

import numpy as np

import shrink

HERE = pathlib.Path(__file__).parent
N_VOCAB = 23
IDS = [5, 11, 2, 17, 5, 11, 20, 3, 8]


# Parts.


def layer_norm(x, weight, bias, epsilon):
    return (x - x.mean()) / math.sqrt(x.var() + epsilon) * weight + bias


def rms_norm(x, weight, epsilon):
    return x / math.sqrt((x * x).mean() + epsilon) * weight


def gelu_tanh(x):
    return 0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


def gelu(x):
    return np.array([0.5 * one * (1.0 + math.erf(one / math.sqrt(2.0))) for one in x])


def silu(x):
    return x / (1.0 + np.exp(-x))


def inverse_frequencies(n_rotated, base):
    return [base ** (-2.0 * i / n_rotated) for i in range(n_rotated // 2)]


def turned(x, position, frequencies, neighbours, magnitude=1.0):
    """The first 2 · len(frequencies) dimensions in pairs (2i, 2i + 1), or (i, i + their number)."""
    out = x.copy()
    half = len(frequencies)
    for i, frequency in enumerate(frequencies):
        a, b = (2 * i, 2 * i + 1) if neighbours else (i, i + half)
        cosine = magnitude * math.cos(position * frequency)
        sine = magnitude * math.sin(position * frequency)
        out[a] = x[a] * cosine - x[b] * sine
        out[b] = x[a] * sine + x[b] * cosine
    return out


def attend(queries, keys, values, scale, window=None):
    """queries [n][heads], keys and values [n][key heads] of vectors: contexts [n] and weights [heads, n, n]. A token
    sees itself and those before it, with a window W the last W of these."""
    n, n_heads = len(queries), len(queries[0])
    group = n_heads // len(keys[0])
    weights = np.zeros((n_heads, n, n))
    contexts = []
    for i in range(n):
        seen = [j for j in range(i + 1) if window is None or i - j < window]
        mixed = []
        for head in range(n_heads):
            scores = np.array([scale * (queries[i][head] @ keys[j][head // group]) for j in seen])
            exponentials = np.exp(scores - scores.max())
            for j, weight in zip(seen, exponentials / exponentials.sum()):
                weights[head, i, j] = weight
            mixed.append(sum(weights[head, i, j] * values[j][head // group] for j in seen))
        contexts.append(np.concatenate(mixed))
    return contexts, weights


class Weights:
    """Float64 copies of what is stored; `linear` as torch's: W x + b."""

    def __init__(self, tensors, prefix=""):
        self.tensors, self.prefix = tensors, prefix

    def at(self, prefix):
        return Weights(self.tensors, self.prefix + prefix)

    def __getitem__(self, name):
        return self.tensors[self.prefix + name].astype(np.float64)

    def linear(self, name, x):
        out = self[name + ".weight"] @ x
        return out + self[name + ".bias"] if self.prefix + name + ".bias" in self.tensors else out

    def heads(self, name, x, d_head):
        """[n][heads] of vectors."""
        return [self.linear(name, one).reshape(-1, d_head) for one in x]


def unembed(tensors, embeddings, x):
    matrix = tensors.get("lm_head.weight", embeddings).astype(np.float64)
    return np.array([matrix @ one for one in x])


# Families: of the ids, attention [layers, heads, n, n] and logits [n, vocabulary].


def gpt_neo(config, tensors, ids):
    w = Weights(tensors, "transformer.")
    width, epsilon = config["hidden_size"], config["layer_norm_epsilon"]
    d_head = width // config["num_heads"]
    act = {"gelu_new": gelu_tanh, "gelu": gelu}[config["activation_function"]]
    kinds = [kind for names, times in config["attention_types"] for _ in range(times) for kind in names]
    x = [w["wte.weight"][one] + w["wpe.weight"][i] for i, one in enumerate(ids)]
    attention = []
    for layer, kind in enumerate(kinds):
        own = w.at(f"h.{layer}.")
        y = [layer_norm(one, own["ln_1.weight"], own["ln_1.bias"], epsilon) for one in x]
        q, k, v = (own.heads(f"attn.attention.{name}_proj", y, d_head) for name in "qkv")
        window = config["window_size"] if kind == "local" else None
        contexts, weights = attend(q, k, v, 1.0, window)  # not divided by √d_head
        attention.append(weights)
        x = [one + own.linear("attn.attention.out_proj", z) for one, z in zip(x, contexts)]
        for i, one in enumerate(x):
            y = layer_norm(one, own["ln_2.weight"], own["ln_2.bias"], epsilon)
            x[i] = one + own.linear("mlp.c_proj", act(own.linear("mlp.c_fc", y)))
    x = [layer_norm(one, w["ln_f.weight"], w["ln_f.bias"], epsilon) for one in x]
    return attention, unembed(tensors, w["wte.weight"], x)


def gated_mlp(own, y, fused):
    if fused:
        gate, up = np.split(own.linear("mlp.gate_up_proj", y), 2)
    else:
        gate, up = own.linear("mlp.gate_proj", y), own.linear("mlp.up_proj", y)
    return own.linear("mlp.down_proj", silu(gate) * up)


def glm(config, tensors, ids):
    """Both GLM and, with norms of what attention and MLP give, GLM-4 0414."""
    w = Weights(tensors, "model.")
    is_4 = config["model_type"] == "glm4"
    d_head, epsilon = config["head_dim"], config["rms_norm_eps"]
    frequencies = inverse_frequencies(int(d_head * config["partial_rotary_factor"]), config["rope_theta"])
    x = [w["embed_tokens.weight"][one] for one in ids]
    attention = []
    for layer in range(config["num_hidden_layers"]):
        own = w.at(f"layers.{layer}.")
        y = [rms_norm(one, own["input_layernorm.weight"], epsilon) for one in x]
        q, k, v = (own.heads(f"self_attn.{name}_proj", y, d_head) for name in "qkv")
        for rows in (q, k):
            for i, heads in enumerate(rows):
                rows[i] = [turned(one, i, frequencies, neighbours=True) for one in heads]
        contexts, weights = attend(q, k, v, 1.0 / math.sqrt(d_head))
        attention.append(weights)
        for i, z in enumerate(contexts):
            added = own.linear("self_attn.o_proj", z)
            if is_4:
                added = rms_norm(added, own["post_self_attn_layernorm.weight"], epsilon)
            x[i] = x[i] + added
            added = gated_mlp(own, rms_norm(x[i], own["post_attention_layernorm.weight"], epsilon), fused=True)
            if is_4:
                added = rms_norm(added, own["post_mlp_layernorm.weight"], epsilon)
            x[i] = x[i] + added
    x = [rms_norm(one, w["norm.weight"], epsilon) for one in x]
    return attention, unembed(tensors, w["embed_tokens.weight"], x)


def minicpm(config, tensors, ids):
    w = Weights(tensors, "model.")
    d_head, epsilon = config["hidden_size"] // config["num_attention_heads"], config["rms_norm_eps"]
    frequencies, magnitude = inverse_frequencies(d_head, config["rope_theta"]), 1.0
    if scaling := config["rope_scaling"]:
        # Tables of sines are made for max_position_embeddings at once: long factors where that is the longer one.
        longest, original = config["max_position_embeddings"], scaling["original_max_position_embeddings"]
        factors = scaling["long_factor"] if longest > original else scaling["short_factor"]
        frequencies = [frequency / factor for frequency, factor in zip(frequencies, factors)]
        magnitude = math.sqrt(1.0 + math.log(longest / original) / math.log(original))
    depth = config["scale_depth"] / math.sqrt(config["num_hidden_layers"])
    x = [w["embed_tokens.weight"][one] * config["scale_emb"] for one in ids]
    attention = []
    for layer in range(config["num_hidden_layers"]):
        own = w.at(f"layers.{layer}.")
        y = [rms_norm(one, own["input_layernorm.weight"], epsilon) for one in x]
        q, k, v = (own.heads(f"self_attn.{name}_proj", y, d_head) for name in "qkv")
        for rows in (q, k):
            for i, heads in enumerate(rows):
                rows[i] = [turned(one, i, frequencies, False, magnitude) for one in heads]
        contexts, weights = attend(q, k, v, 1.0 / math.sqrt(d_head))
        attention.append(weights)
        for i, z in enumerate(contexts):
            x[i] = x[i] + own.linear("self_attn.o_proj", z) * depth
            y = rms_norm(x[i], own["post_attention_layernorm.weight"], epsilon)
            x[i] = x[i] + gated_mlp(own, y, fused=False) * depth
    x = [rms_norm(one, w["norm.weight"], epsilon) / (config["hidden_size"] / config["dim_model_base"]) for one in x]
    return attention, unembed(tensors, w["embed_tokens.weight"], x)


def hunyuan(config, tensors, ids):
    w = Weights(tensors, "model.")
    d_head = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    epsilon, base = config["rms_norm_eps"], config["rope_theta"]
    if scaling := config["rope_scaling"]:
        base *= scaling["alpha"] ** (d_head / (d_head - 2))  # whatever the text's length
    frequencies = inverse_frequencies(d_head, base)
    x = [w["embed_tokens.weight"][one] for one in ids]
    attention = []
    for layer in range(config["num_hidden_layers"]):
        own = w.at(f"layers.{layer}.")
        y = [rms_norm(one, own["input_layernorm.weight"], epsilon) for one in x]
        q, k, v = (own.heads(f"self_attn.{name}_proj", y, d_head) for name in "qkv")
        for rows, name in ((q, "query"), (k, "key")):
            weight = own[f"self_attn.{name}_layernorm.weight"]
            for i, heads in enumerate(rows):  # first turned, then normed
                rows[i] = [rms_norm(turned(one, i, frequencies, False), weight, epsilon) for one in heads]
        contexts, weights = attend(q, k, v, 1.0 / math.sqrt(d_head))
        attention.append(weights)
        for i, z in enumerate(contexts):
            x[i] = x[i] + own.linear("self_attn.o_proj", z)
            y = rms_norm(x[i], own["post_attention_layernorm.weight"], epsilon)
            x[i] = x[i] + gated_mlp(own, y, fused=False)
    x = [rms_norm(one, w["norm.weight"], epsilon) for one in x]
    return attention, unembed(tensors, w["embed_tokens.weight"], x)


# Random weights under the names that the families' files have.


class Maker:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.tensors = {}

    def matrix(self, name, d_out, d_in, spread=None):
        numbers = self.random.normal(0.0, spread or 1.0 / math.sqrt(d_in), (d_out, d_in))
        self.tensors[name + ".weight"] = numbers.astype(np.float16)

    def vector(self, name, size, around):
        self.tensors[name] = self.random.normal(around, 0.25, size).astype(np.float16).astype(np.float32)

    def linear(self, name, d_out, d_in, bias=False, spread=None):
        self.matrix(name, d_out, d_in, spread)
        if bias:
            self.vector(name + ".bias", d_out, 0.0)

    def norm(self, name, size, bias=False):
        self.vector(name + ".weight", size, 1.0)
        if bias:
            self.vector(name + ".bias", size, 0.0)


def gpt_neo_weights(config, seed):
    make = Maker(seed)
    d = config["hidden_size"]
    d_ff = config["intermediate_size"] or 4 * d
    make.matrix("transformer.wte", config["vocab_size"], d, 1.0)
    make.matrix("transformer.wpe", config["max_position_embeddings"], d, 0.5)
    for layer in range(config["num_layers"]):
        own = f"transformer.h.{layer}."
        make.norm(own + "ln_1", d, bias=True)
        for name in ("q_proj", "k_proj", "v_proj"):
            make.linear(own + "attn.attention." + name, d, d)
        make.linear(own + "attn.attention.out_proj", d, d, bias=True)
        make.norm(own + "ln_2", d, bias=True)
        make.linear(own + "mlp.c_fc", d_ff, d, bias=True)
        make.linear(own + "mlp.c_proj", d, d_ff, bias=True)
    make.norm("transformer.ln_f", d, bias=True)
    if not config["tie_word_embeddings"]:
        make.matrix("lm_head", config["vocab_size"], d)
    return make.tensors


def llama_like_weights(config, seed):
    make = Maker(seed)
    kind = config["model_type"]
    d, d_ff, n_heads = (config[key] for key in ("hidden_size", "intermediate_size", "num_attention_heads"))
    d_head = config.get("head_dim") or d // n_heads
    bias = config["attention_bias"]
    make.matrix("model.embed_tokens", config["vocab_size"], d, 0.25 if kind == "minicpm" else 1.0)
    for layer in range(config["num_hidden_layers"]):
        own = f"model.layers.{layer}."
        make.norm(own + "input_layernorm", d)
        for name, heads in (("q", n_heads), ("k", config["num_key_value_heads"]), ("v", config["num_key_value_heads"])):
            make.linear(own + f"self_attn.{name}_proj", heads * d_head, d, bias, 2.0 / math.sqrt(d))
        make.linear(own + "self_attn.o_proj", d, n_heads * d_head, bias and kind not in ("glm", "glm4"))
        if kind == "hunyuan_v1_dense":
            for name in ("query", "key"):
                make.norm(own + f"self_attn.{name}_layernorm", d_head)
        make.norm(own + "post_attention_layernorm", d)
        if kind in ("glm", "glm4"):
            make.linear(own + "mlp.gate_up_proj", 2 * d_ff, d)
        else:
            make.linear(own + "mlp.gate_proj", d_ff, d)
            make.linear(own + "mlp.up_proj", d_ff, d)
        make.linear(own + "mlp.down_proj", d, d_ff)
        if kind == "glm4":
            make.norm(own + "post_self_attn_layernorm", d)
            make.norm(own + "post_mlp_layernorm", d)
    make.norm("model.norm", d)
    if not config["tie_word_embeddings"]:
        make.matrix("lm_head", config["vocab_size"], d)
    return make.tensors


# Files.


def as_stored(array):
    array = np.ascontiguousarray(array)
    kind = {"float16": "F16", "float32": "F32", "int64": "I64", "uint8": "U8"}[str(array.dtype)]
    return kind, list(array.shape), array.tobytes()


# As llama.cpp's converter names them; what its graph wants permuted is.
GGUF_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "post_self_attn_layernorm": "post_attention_norm",
    "post_mlp_layernorm": "post_ffw_norm",
    "self_attn.qkv": "attn_qkv",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.query_layernorm": "attn_q_norm",
    "self_attn.key_layernorm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.gate_up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def neighbouring(matrix, n_heads):
    """Rows (i, i + d_head / 2) of each head next to one another."""
    d_head = matrix.shape[0] // n_heads
    return np.concatenate(
        [matrix[head * d_head + i + half] for head in range(n_heads) for i in range(d_head // 2) for half in (0, d_head // 2)]
    ).reshape(matrix.shape)


def fused(tensors):
    """Queries, keys and values in one, as the files have them that chatglm's are mostly made from."""
    made = {}
    for name, array in tensors.items():
        if "self_attn.q_proj" in name:
            array = np.concatenate([tensors[name.replace("q_proj", one)] for one in ("q_proj", "k_proj", "v_proj")])
            made[name.replace("q_proj", "qkv")] = array
        elif "k_proj" not in name and "v_proj" not in name:
            made[name] = array
    return made


def gguf_tensors(config, tensors):
    for name, array in (fused(tensors) if config["model_type"] == "glm" else tensors).items():
        part, _, kind = name.rpartition(".")
        layer = ""
        if part.startswith("model.layers."):
            _, _, number, part = part.split(".", 3)
            layer = f"blk.{number}."
        if config["model_type"] == "minicpm" and part in ("self_attn.q_proj", "self_attn.k_proj"):
            array = neighbouring(array, config["num_attention_heads" if "q_proj" in part else "num_key_value_heads"])
        yield f"{layer}{GGUF_NAMES[part]}.{kind}", array
    for length in ("long", "short") if config.get("rope_scaling") and "long_factor" in config["rope_scaling"] else ():
        yield f"rope_factors_{length}.weight", np.array(config["rope_scaling"][f"{length}_factor"], dtype=np.float32)


def gguf_keys(config):
    architecture = {"glm": "chatglm", "glm4": "glm4", "minicpm": "minicpm", "hunyuan_v1_dense": "hunyuan-dense"}[
        config["model_type"]
    ]
    d, n_heads, n_layers = (config[key] for key in ("hidden_size", "num_attention_heads", "num_hidden_layers"))
    d_head = config.get("head_dim") or d // n_heads
    own = {
        "context_length": config["max_position_embeddings"],
        "embedding_length": d,
        "block_count": n_layers,
        "feed_forward_length": config["intermediate_size"],
        "attention.head_count": n_heads,
        "attention.head_count_kv": config["num_key_value_heads"],
        "attention.layer_norm_rms_epsilon": float(config["rms_norm_eps"]),
        "rope.freq_base": float(config["rope_theta"]),
        "vocab_size": config["vocab_size"],
    }
    if architecture in ("glm4", "chatglm"):
        own["rope.dimension_count"] = int(d_head * config["partial_rotary_factor"])
    if architecture != "chatglm" and "head_dim" in config:
        own["attention.key_length"] = own["attention.value_length"] = d_head
    if architecture == "minicpm":
        own["embedding_scale"] = float(config["scale_emb"])
        own["residual_scale"] = config["scale_depth"] / n_layers**0.5
        own["logit_scale"] = d / config["dim_model_base"]
        own["rope.dimension_count"] = d_head
        if config["rope_scaling"]:
            own["rope.scaling.type"] = "longrope"
    if architecture == "hunyuan-dense" and config["rope_scaling"]:
        own["rope.freq_base"] *= config["rope_scaling"]["alpha"] ** (d_head / (d_head - 2))
        own["rope.scaling.type"] = "none"
        own["rope.scaling.factor"] = 1.0
        own["rope.scaling.original_context_length"] = own["context_length"] = 262144
    return {"general.architecture": architecture, **{f"{architecture}.{key}": value for key, value in own.items()}}


def gguf_value(value):
    if isinstance(value, str):
        return struct.pack("<I", shrink.STRING) + shrink.packed(value)
    return struct.pack("<II", 4, value) if isinstance(value, int) else struct.pack("<If", 6, value)


def write_gguf(path, config, tensors):
    infos, body, n_tensors = b"", b"", 0
    for name, array in gguf_tensors(config, tensors):
        data = array.tobytes()
        infos += shrink.packed(name) + struct.pack("<I", array.ndim)
        infos += b"".join(struct.pack("<Q", size) for size in reversed(array.shape))
        infos += struct.pack("<IQ", shrink.F16 if array.dtype == np.float16 else shrink.F32, len(body))
        body += data + bytes(-len(data) % shrink.ALIGNMENT)
        n_tensors += 1
    keys = gguf_keys(config)
    head = b"GGUF" + struct.pack("<IQQ", 3, n_tensors, len(keys))
    head += b"".join(shrink.packed(key) + gguf_value(value) for key, value in keys.items()) + infos
    path.write_bytes(head + bytes(-len(head) % shrink.ALIGNMENT) + body)


# The forms of published models, made small.

NEO = {
    "activation_function": "gelu_new",
    "architectures": ["GPTNeoForCausalLM"],
    "hidden_size": 18,
    "layer_norm_epsilon": 1e-5,
    "max_position_embeddings": 12,
    "model_type": "gpt_neo",
    "num_heads": 3,
    "tie_word_embeddings": True,
    "vocab_size": N_VOCAB,
}
GLM = {
    "attention_bias": True,
    "hidden_act": "silu",
    "hidden_size": 24,
    "intermediate_size": 20,
    "max_position_embeddings": 64,
    "num_attention_heads": 3,
    "num_hidden_layers": 3,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "partial_rotary_factor": 0.5,
    "rms_norm_eps": 1.5625e-07,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "vocab_size": N_VOCAB,
}
CPM = {
    "architectures": ["MiniCPMForCausalLM"],
    "attention_bias": False,
    "auto_map": {
        "AutoConfig": "configuration_minicpm.MiniCPMConfig",
        "AutoModel": "modeling_minicpm.MiniCPMModel",
        "AutoModelForCausalLM": "modeling_minicpm.MiniCPMForCausalLM",
    },
    "dim_model_base": 7,
    "hidden_act": "silu",
    "hidden_size": 24,
    "intermediate_size": 20,
    "max_position_embeddings": 64,
    "model_type": "minicpm",
    "num_attention_heads": 3,
    "num_hidden_layers": 3,
    "num_key_value_heads": 3,
    "rms_norm_eps": 1e-5,
    "rope_scaling": None,
    "rope_theta": 10000.0,
    "scale_depth": 1.4,
    "scale_emb": 12,
    "tie_word_embeddings": True,
    "vocab_size": N_VOCAB,
}
HUNYUAN = {
    "architectures": ["HunYuanDenseV1ForCausalLM"],
    "attention_bias": False,
    "head_dim": 8,
    "hidden_act": "silu",
    "hidden_size": 20,
    "intermediate_size": 20,
    "max_position_embeddings": 64,
    "model_type": "hunyuan_v1_dense",
    "num_attention_heads": 3,
    "num_hidden_layers": 3,
    "num_key_value_heads": 1,
    "rms_norm_eps": 1e-5,
    "rope_scaling": {
        "alpha": 1000.0,
        "beta_fast": 32,
        "beta_slow": 1,
        "factor": 1.0,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
        "type": "dynamic",
    },
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
    "use_qk_norm": True,
    "vocab_size": N_VOCAB,
}
CPM_4 = {
    **CPM,
    "max_position_embeddings": 16,
    "num_key_value_heads": 1,
    "rope_scaling": {
        "long_factor": [1.0, 1.75, 3.5, 6.0],
        "original_max_position_embeddings": 16,
        "rope_type": "longrope",
        "short_factor": [1.0, 1.25, 1.5, 2.0],
    },
    "tie_word_embeddings": False,
}

CASES = {
    "tinystories": {
        **NEO,
        "attention_layers": ["global", "local", "global", "local"],
        "attention_types": [[["global", "local"], 2]],
        "intermediate_size": None,
        "num_layers": 4,
        "window_size": 3,
    },
    "gpt-neo-untied": {
        **NEO,
        "activation_function": "gelu",
        "attention_types": [[["local"], 1], [["global"], 1]],
        "intermediate_size": 22,
        "num_layers": 2,
        "tie_word_embeddings": False,
        "window_size": 4,
    },
    "glm-4-9b-chat": {"architectures": ["GlmForCausalLM"], "model_type": "glm", **GLM},
    "glm-4-0414": {
        "architectures": ["Glm4ForCausalLM"],
        "model_type": "glm4",
        **GLM,
        "hidden_size": 20,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "rms_norm_eps": 1e-5,
    },
    "glm-4-no-bias": {
        "architectures": ["Glm4ForCausalLM"],
        "model_type": "glm4",
        **GLM,
        "attention_bias": False,
        "num_hidden_layers": 2,
        "partial_rotary_factor": 1.0,
        "rope_theta": 500.0,
        "tie_word_embeddings": True,
    },
    "minicpm-2b": CPM,
    "minicpm4": CPM_4,
    "minicpm4-stretched": {**CPM_4, "max_position_embeddings": 64, "num_hidden_layers": 2},
    "hunyuan-0.5b": HUNYUAN,
    "hunyuan-bias": {
        **{key: value for key, value in HUNYUAN.items() if key != "head_dim"},
        "attention_bias": True,
        "hidden_size": 24,
        "num_hidden_layers": 2,
        "rope_scaling": None,
        "tie_word_embeddings": False,
    },
}
FORWARD = {"gpt_neo": gpt_neo, "glm": glm, "glm4": glm, "minicpm": minicpm, "hunyuan_v1_dense": hunyuan}


def make(name, seed):
    config = CASES[name]
    kind = config["model_type"]
    tensors = (gpt_neo_weights if kind == "gpt_neo" else llama_like_weights)(config, seed)
    attention, logits = FORWARD[kind](config, tensors, IDS)
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")
    stored = dict(tensors)
    if name == "tinystories":  # what GPT-Neo's files have beside the weights
        for layer in range(config["num_layers"]):
            stored[f"transformer.h.{layer}.attn.attention.bias"] = np.tri(12, dtype=np.uint8).reshape(1, 1, 12, 12)
            stored[f"transformer.h.{layer}.attn.attention.masked_bias"] = np.array(-1e9, dtype=np.float32)
    shrink.write_safetensors(folder / "model.safetensors", {key: as_stored(one) for key, one in stored.items()})
    expected = {
        "ids": np.array(IDS, dtype=np.int64),
        "attention": np.array(attention).astype(np.float32),
        "logits": logits.astype(np.float32),
    }
    shrink.write_safetensors(folder / "expected.safetensors", {key: as_stored(one) for key, one in expected.items()})
    if kind != "gpt_neo" and name != "minicpm4-stretched":  # llama.cpp has no GPT-Neo, and other factors there
        write_gguf(folder / f"{name}.gguf", config, tensors)


if __name__ == "__main__":
    for number, case in enumerate(CASES):
        if not sys.argv[1:] or case in sys.argv[1:]:
            make(case, 2026 + number)
