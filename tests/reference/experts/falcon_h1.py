"""falcon-h1/ and falcon-h1-norm/: random models and what they compute in float64. Needs NumPy.

Written from the family's definition (TII 2025): each layer adds, of one norm, what attention gives and what a Mamba-2
(Dao & Gu 2024) gives, then an MLP; multipliers stand in many places. falcon-h1 has no norm behind its states, as most
released models; falcon-h1-norm has one, in groups, before the gate opens, and biases everywhere. The .gguf has
the multipliers in its matrices, as llama.cpp's converter writes them, in F32.

--check runs mamba2() and attention() as Nemotron-H, and compares with the numbers in nemotronh/.
"""

import json
import math
import pathlib
import struct
import sys

import numpy as np

import gemma3n_gguf
import take
from bart import rounded

D, FF, VOCABULARY, LAYERS = 16, 24, 76, 2
HEADS, KV_HEADS, D_HEAD = 4, 2, 8
IDS = [1, 46, 23, 66, 7, 31, 46, 23, 66, 7]
COMMON = {
    "architectures": ["FalconH1ForCausalLM"],
    "attention_dropout": 0.0,
    "attention_in_multiplier": 1.25,
    "attention_out_multiplier": 0.9375,
    "attn_layer_indices": None,
    "bos_token_id": 1,
    "embedding_multiplier": 5.656854249492381,
    "eos_token_id": 11,
    "head_dim": D_HEAD,
    "hidden_act": "silu",
    "hidden_size": D,
    "initializer_range": 0.02,
    "intermediate_size": FF,
    "key_multiplier": 0.390625,
    "lm_head_multiplier": 0.375,
    "mamba_chunk_size": 128,
    "mamba_conv_bias": True,
    "mamba_d_conv": 4,
    "mamba_d_head": 6,
    "mamba_d_ssm": 24,
    "mamba_d_state": 8,
    "mamba_expand": 2,
    "mamba_n_groups": 2,
    "mamba_n_heads": 4,
    "mamba_use_mlp": True,
    "max_position_embeddings": 256,
    "mlp_multipliers": [0.8838834764831844, 0.5859375],
    "model_type": "falcon_h1",
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "num_key_value_heads": KV_HEADS,
    "num_logits_to_keep": 1,
    "pad_token_id": 0,
    "rms_norm_eps": 1e-05,
    "rope_scaling": None,
    "rope_theta": 100000.0,
    "ssm_in_multiplier": 1.25,
    "ssm_multipliers": [0.3535533905932738, 0.25, 0.75, 0.5, 0.625],
    "ssm_out_multiplier": 0.23570226039551587,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "use_cache": True,
    "vocab_size": VOCABULARY,
}
BIASES = ["attention_bias", "mlp_bias", "mamba_proj_bias", "projectors_bias"]
MODELS = {
    "falcon-h1": COMMON
    | {"mamba_rms_norm": False, "mamba_norm_before_gate": False}
    | {key: False for key in BIASES},
    "falcon-h1-norm": COMMON
    | {"mamba_rms_norm": True, "mamba_norm_before_gate": True, "time_step_limit": [0.05, 0.9]}
    | {key: True for key in BIASES},
}
GGUF_NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.final_layernorm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
GGUF_LAYER_NAMES = {
    "input_layernorm.weight": "attn_norm.weight",
    "pre_ff_layernorm.weight": "ffn_norm",  # without the usual end
    "self_attn.q_proj.weight": "attn_q.weight",
    "self_attn.k_proj.weight": "attn_k.weight",
    "self_attn.v_proj.weight": "attn_v.weight",
    "self_attn.o_proj.weight": "attn_output.weight",
    "feed_forward.gate_proj.weight": "ffn_gate.weight",
    "feed_forward.up_proj.weight": "ffn_up.weight",
    "feed_forward.down_proj.weight": "ffn_down.weight",
    "mamba.in_proj.weight": "ssm_in.weight",
    "mamba.conv1d.weight": "ssm_conv1d.weight",
    "mamba.conv1d.bias": "ssm_conv1d.bias",
    "mamba.A_log": "ssm_a",
    "mamba.D": "ssm_d",
    "mamba.dt_bias": "ssm_dt.bias",
    "mamba.out_proj.weight": "ssm_out.weight",
}


def rms(x, weight, eps=1e-5):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * weight


def silu(x):
    return x / (1.0 + np.exp(-x))


def attention(query, key, value, rotated):
    """[n, heads, d] each, heads of queries in groups; (pattern [head, query, key], contexts side by side)."""
    n, n_heads, d = query.shape
    if rotated is not None:
        angles = np.arange(n)[:, None] * rotated ** (-np.arange(0, d, 2) / d)
        cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]

        def turn(x):
            first, second = x[..., : d // 2], x[..., d // 2 :]
            return np.concatenate([first * cosine - second * sine, second * cosine + first * sine], -1)

        query, key = turn(query), turn(key)
    patterns, contexts = [], []
    for head in range(n_heads):
        shared = head * key.shape[1] // n_heads
        scores = query[:, head] @ key[:, shared].T / math.sqrt(d)
        scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
        pattern = np.exp(scores - scores.max(-1, keepdims=True))
        pattern /= pattern.sum(-1, keepdims=True)
        patterns.append(pattern)
        contexts.append(pattern @ value[:, shared])
    return np.stack(patterns), np.concatenate(contexts, -1)


def mamba2(projected, weights, n_heads, d_head, n_groups, d_state, limit, finish):
    """States of one layer, token by token; `finish` joins what they give with the gate z."""
    n, inner = len(projected), n_heads * d_head
    z, channels, steps = np.split(projected, [inner, projected.shape[1] - n_heads], axis=1)
    kernel, bias = weights["conv1d.weight"].reshape(channels.shape[1], -1), weights.get("conv1d.bias", 0.0)
    width = kernel.shape[1]
    padded = np.concatenate([np.zeros((width - 1, channels.shape[1])), channels])
    channels = silu(np.stack([(padded[t : t + width] * kernel.T).sum(0) for t in range(n)]) + bias)
    u, b, c = np.split(channels, [inner, inner + n_groups * d_state], axis=1)
    steps = np.clip(np.log1p(np.exp(steps + weights["dt_bias"])), *limit)
    rate = -np.exp(weights["A_log"])
    out = np.zeros((n, inner))
    for head in range(n_heads):
        group = head * n_groups // n_heads
        own, shared = slice(head * d_head, (head + 1) * d_head), slice(group * d_state, (group + 1) * d_state)
        state = np.zeros((d_head, d_state))
        for t in range(n):
            state = np.exp(steps[t, head] * rate[head]) * state + steps[t, head] * np.outer(u[t, own], b[t, shared])
            out[t, own] = state @ c[t, shared] + weights["D"][head] * u[t, own]
    return finish(out, z)


def in_groups(x, weight, n_groups):
    return rms(x.reshape(len(x), n_groups, -1), weight.reshape(n_groups, -1)).reshape(x.shape)


def weights_of(config, random):
    weights = {}

    def matrix(name, *shape, spread):
        weights[name] = rounded(random.normal(0.0, spread, shape))

    def linear(name, d_in, d_out, bias):
        matrix(name + ".weight", d_out, d_in, spread=1.3 / math.sqrt(d_in))
        if bias:
            matrix(name + ".bias", d_out, spread=0.4)

    def norm(name, size):
        weights[name + ".weight"] = rounded(1.0 + random.normal(0.0, 0.2, size))

    inner, states = config["mamba_d_ssm"], config["mamba_n_groups"] * config["mamba_d_state"]
    heads, channels = config["mamba_n_heads"], config["mamba_d_ssm"] + 2 * states
    matrix("model.embed_tokens.weight", VOCABULARY, D, spread=0.25)
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        norm(at + "input_layernorm", D)
        for name, size in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
            linear(f"{at}self_attn.{name}_proj", D, size * D_HEAD, config["attention_bias"])
            if name == "k":
                weights[at + "self_attn.k_proj.weight"] *= 2.0
        linear(at + "self_attn.o_proj", HEADS * D_HEAD, D, config["attention_bias"])
        linear(at + "mamba.in_proj", D, inner + channels + heads, config["mamba_proj_bias"])
        weights[at + "mamba.in_proj.weight"] *= 2.0
        matrix(at + "mamba.conv1d.weight", channels, 1, config["mamba_d_conv"], spread=0.7)
        matrix(at + "mamba.conv1d.bias", channels, spread=0.3)
        weights[at + "mamba.A_log"] = rounded(np.log(np.linspace(0.3, 2.0, heads)))
        matrix(at + "mamba.dt_bias", heads, spread=1.0)
        weights[at + "mamba.D"] = rounded(1.0 + random.normal(0.0, 0.3, heads))
        if config["mamba_rms_norm"]:
            norm(at + "mamba.norm", inner)
        linear(at + "mamba.out_proj", inner, D, config["projectors_bias"])
        weights[at + "mamba.out_proj.weight"] *= 4.0
        norm(at + "pre_ff_layernorm", D)
        for name, d_in, d_out in (("gate", D, FF), ("up", D, FF), ("down", FF, D)):
            linear(f"{at}feed_forward.{name}_proj", d_in, d_out, config["mlp_bias"])
    norm("model.final_layernorm", D)
    matrix("lm_head.weight", VOCABULARY, D, spread=1.0)
    return weights


def forward(config, weights):
    """(patterns [layer, head, query, key], logits)."""

    def linear(name, x):
        return x @ weights[name + ".weight"].T + weights.get(name + ".bias", 0.0)

    inner, states = config["mamba_d_ssm"], config["mamba_n_groups"] * config["mamba_d_state"]
    sizes = [inner, inner, states, states, config["mamba_n_heads"]]
    of_columns = np.repeat(config["ssm_multipliers"], sizes)

    def finish(of):
        def run(y, z):
            if not config["mamba_rms_norm"]:
                return y * silu(z)
            norm = lambda x: in_groups(x, of["norm.weight"], config["mamba_n_groups"])
            return norm(y) * silu(z) if config["mamba_norm_before_gate"] else norm(y * silu(z))

        return run

    x = weights["model.embed_tokens.weight"][IDS] * config["embedding_multiplier"]
    patterns = []
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        look = rms(x, weights[at + "input_layernorm.weight"])
        own = {name.removeprefix(at + "mamba."): of for name, of in weights.items() if name.startswith(at + "mamba.")}
        projected = linear(at + "mamba.in_proj", look * config["ssm_in_multiplier"]) * of_columns
        shape = (config["mamba_n_heads"], config["mamba_d_head"], config["mamba_n_groups"], config["mamba_d_state"])
        limit = config.get("time_step_limit", (0.0, np.inf))
        mixed = mamba2(projected, own, *shape, limit, finish(own))
        seen = look * config["attention_in_multiplier"]
        query, key, value = (
            linear(f"{at}self_attn.{name}_proj", seen).reshape(len(x), -1, D_HEAD) for name in "qkv"
        )
        pattern, contexts = attention(query, key * config["key_multiplier"], value, config["rope_theta"])
        patterns.append(pattern)
        x = (
            x
            + linear(at + "mamba.out_proj", mixed) * config["ssm_out_multiplier"]
            + linear(at + "self_attn.o_proj", contexts) * config["attention_out_multiplier"]
        )
        look = rms(x, weights[at + "pre_ff_layernorm.weight"])
        of_gate, of_down = config["mlp_multipliers"]
        gate = silu(linear(at + "feed_forward.gate_proj", look) * of_gate)
        x = x + linear(at + "feed_forward.down_proj", gate * linear(at + "feed_forward.up_proj", look)) * of_down
    logits = rms(x, weights["model.final_layernorm.weight"]) @ weights["lm_head.weight"].T
    return np.stack(patterns), logits * config["lm_head_multiplier"]


def gguf_tensors(config, weights):
    """{llama.cpp's name: numbers}, with the multipliers in them."""
    inner, states = config["mamba_d_ssm"], config["mamba_n_groups"] * config["mamba_d_state"]
    of_columns = np.repeat(config["ssm_multipliers"], [inner, inner, states, states, config["mamba_n_heads"]])
    attention_in = config["attention_in_multiplier"]
    of = {
        "model.embed_tokens.weight": config["embedding_multiplier"],
        "lm_head.weight": config["lm_head_multiplier"],
        "self_attn.q_proj.weight": attention_in,
        "self_attn.k_proj.weight": attention_in * config["key_multiplier"],
        "self_attn.v_proj.weight": attention_in,
        "self_attn.o_proj.weight": config["attention_out_multiplier"],
        "mamba.in_proj.weight": config["ssm_in_multiplier"] * of_columns[:, None],
        "mamba.out_proj.weight": config["ssm_out_multiplier"],
        "feed_forward.gate_proj.weight": config["mlp_multipliers"][0],
        "feed_forward.down_proj.weight": config["mlp_multipliers"][1],
    }
    named = {}
    for name, numbers in weights.items():
        if name in GGUF_NAMES:
            named[GGUF_NAMES[name]] = numbers * of.get(name, 1.0)
            continue
        _, _, layer, rest = name.split(".", 3)
        numbers = numbers * of.get(rest, 1.0)
        if rest == "mamba.A_log":
            numbers = -np.exp(numbers)
        if rest in ("mamba.A_log", "mamba.D"):
            numbers = numbers[:, None]
        if rest == "mamba.conv1d.weight":
            numbers = numbers.squeeze(1)
        named[f"blk.{layer}.{GGUF_LAYER_NAMES[rest]}"] = numbers
    return named


def write_gguf(path, config, tensors):
    keys = {
        "block_count": ("u32", LAYERS),
        "context_length": ("u32", config["max_position_embeddings"]),
        "embedding_length": ("u32", D),
        "feed_forward_length": ("u32", FF),
        "vocab_size": ("u32", VOCABULARY),
        "attention.head_count": ("u32", HEADS),
        "attention.head_count_kv": ("u32", KV_HEADS),
        "attention.key_length": ("u32", D_HEAD),
        "attention.value_length": ("u32", D_HEAD),
        "attention.layer_norm_rms_epsilon": ("f32", config["rms_norm_eps"]),
        "rope.freq_base": ("f32", config["rope_theta"]),
        "ssm.conv_kernel": ("u32", config["mamba_d_conv"]),
        "ssm.inner_size": ("u32", config["mamba_d_ssm"]),
        "ssm.state_size": ("u32", config["mamba_d_state"]),
        "ssm.time_step_rank": ("u32", config["mamba_n_heads"]),
        "ssm.group_count": ("u32", config["mamba_n_groups"]),
    }
    metadata = {"falcon-h1." + key: value for key, value in keys.items()}
    text = gemma3n_gguf.text
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata) + 1)
    head += text("general.architecture") + struct.pack("<I", 8) + text("falcon-h1")
    for key, (kind, value) in metadata.items():
        head += text(key) + gemma3n_gguf.value(kind, value)
    body = b""
    for name, numbers in tensors.items():
        data = numbers.astype("<f4").tobytes()
        head += text(name) + struct.pack(f"<I{numbers.ndim}QIQ", numbers.ndim, *reversed(numbers.shape), 0, len(body))
        body += data + bytes(-len(data) % 32)
    path.write_bytes(head + bytes(-len(head) % 32) + body)


def read_safetensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    tensors = {}
    for name, one in json.loads(data[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in one["data_offsets"])
        if one["dtype"] == "BF16":
            numbers = (np.frombuffer(data[begin:end], "<u2").astype("<u4") << 16).view("<f4").astype(np.float64)
        else:
            numbers = np.frombuffer(data[begin:end], {"F32": "<f4", "I64": "<i8"}[one["dtype"]])
        tensors[name] = numbers.reshape(one["shape"])
    return tensors


def check():
    """Nemotron-H by mamba2() and attention(): its numbers come from elsewhere."""
    folder = take.HERE / "nemotronh"
    config = json.loads((folder / "config.json").read_text())
    weights, expected = read_safetensors(folder / "model.safetensors"), read_safetensors(folder / "expected.safetensors")
    x = weights["backbone.embeddings.weight"][expected["ids"]]
    patterns = []
    for layer, letter in enumerate(config["hybrid_override_pattern"]):
        at = f"backbone.layers.{layer}."
        look = rms(x, weights[at + "norm.weight"])
        own = {name.removeprefix(at + "mixer."): of for name, of in weights.items() if name.startswith(at + "mixer.")}
        if letter == "M":
            norm = lambda y, z: in_groups(y * silu(z), own["norm.weight"], config["n_groups"])
            shape = (config["mamba_num_heads"], config["mamba_head_dim"], config["n_groups"], config["ssm_state_size"])
            x = x + mamba2(look @ own["in_proj.weight"].T, own, *shape, (0.0, np.inf), norm) @ own["out_proj.weight"].T
        elif letter == "*":
            heads = lambda name: (look @ own[name + "_proj.weight"].T).reshape(len(x), -1, config["head_dim"])
            pattern, contexts = attention(heads("q"), heads("k"), heads("v"), None)
            patterns.append(pattern)
            x = x + contexts @ own["o_proj.weight"].T
        else:
            x = x + np.maximum(look @ own["up_proj.weight"].T, 0.0) ** 2 @ own["down_proj.weight"].T
    logits = rms(x, weights["backbone.norm_f.weight"]) @ weights["lm_head.weight"].T
    apart = np.abs(np.stack(patterns) - expected["attention"]).max(), np.abs(logits - expected["logits"]).max()
    print("nemotronh: attention apart by {:.1e}, logits by {:.1e}".format(*apart))
    assert max(apart) < 2e-6  # as these are rounded


if __name__ == "__main__":
    if "--check" in sys.argv:
        check()
    for seed, (name, config) in enumerate(MODELS.items(), start=3):
        weights = weights_of(config, np.random.default_rng(seed))
        patterns, logits = forward(config, weights)
        folder = take.HERE / name
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
        arrays = lambda of: {key: (list(numbers.shape), numbers.ravel().tolist()) for key, numbers in of.items()}
        take.write_safetensors(folder / "model.safetensors", arrays(weights), "BF16")
        expected = {"ids": np.array(IDS), "attention": patterns, "logits": logits}
        take.write_safetensors(folder / "expected.safetensors", arrays(expected))
        if not config["mamba_rms_norm"]:
            write_gguf(folder / (name + ".gguf"), config, gguf_tensors(config, weights))
        print(name, "attention's deviation", patterns.std().round(3), "logits'", logits.std().round(3))
