"""Computes the numbers of make_2026.py a second time: `check_2026.py`. Needs torch (1.13 or newer).

Whole matrices, torch's own modules and complex rotations in float64, instead of loops over tokens and heads.
"""

import json
import math

import torch
import torch.nn.functional as F

import make_2026
import shrink

TYPES = {"F16": torch.float16, "F32": torch.float32, "I64": torch.int64, "U8": torch.uint8}


def read(path):
    return {
        name: torch.frombuffer(bytearray(data), dtype=TYPES[kind]).reshape(shape)
        for name, (kind, shape, data) in shrink.read_safetensors(path).items()
    }


def rms(x, weight, epsilon):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * weight


def rotate(x, base, n_rotated, neighbours, factors=1.0, magnitude=1.0):
    """x [n, heads, d_head]: pairs as complex numbers, times e^(i angle)."""
    frequencies = base ** (-torch.arange(0, n_rotated, 2, dtype=torch.float64) / n_rotated) / torch.as_tensor(factors)
    angles = torch.outer(torch.arange(x.shape[0], dtype=torch.float64), frequencies)
    turns = torch.polar(torch.full_like(angles, magnitude), angles)[:, None, :]
    part = x[..., :n_rotated]
    pairs = part.unflatten(-1, (-1, 2)) if neighbours else part.unflatten(-1, (2, -1)).transpose(-1, -2)
    out = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * turns)
    out = out.flatten(-2) if neighbours else out.transpose(-1, -2).flatten(-2)
    return torch.cat([out, x[..., n_rotated:]], dim=-1)


def forward(config, stored, ids):
    tensors = {name: one.double() for name, one in stored.items()}
    kind, n = config["model_type"], len(ids)
    is_neo = kind == "gpt_neo"
    body = "transformer." if is_neo else "model."
    epsilon = config["layer_norm_epsilon" if is_neo else "rms_norm_eps"]
    n_heads = config["num_heads" if is_neo else "num_attention_heads"]
    d_head = config.get("head_dim") or config["hidden_size"] // n_heads

    def linear(name, x):
        return F.linear(x, tensors[name + ".weight"], tensors.get(name + ".bias"))

    def norm(name, x):
        if is_neo:
            return F.layer_norm(x, x.shape[-1:], tensors[name + ".weight"], tensors[name + ".bias"], epsilon)
        return rms(x, tensors[name + ".weight"], epsilon)

    def turn(x):
        if kind in ("glm", "glm4"):
            return rotate(x, config["rope_theta"], int(d_head * config["partial_rotary_factor"]), True)
        scaling = config["rope_scaling"]
        if kind == "hunyuan_v1_dense":
            alpha = scaling["alpha"] if scaling else 1.0
            return rotate(x, config["rope_theta"] * alpha ** (d_head / (d_head - 2)), d_head, False)
        if not scaling:
            return rotate(x, config["rope_theta"], d_head, False)
        original = scaling["original_max_position_embeddings"]
        factors = scaling["long_factor" if config["max_position_embeddings"] > original else "short_factor"]
        magnitude = math.sqrt(1 + math.log(config["max_position_embeddings"] / original, original))
        return rotate(x, config["rope_theta"], d_head, False, factors, magnitude)

    embeddings = tensors[body + ("wte" if is_neo else "embed_tokens") + ".weight"]
    x = embeddings[ids]
    if is_neo:
        x = x + tensors["transformer.wpe.weight"][:n]
    x = x * config.get("scale_emb", 1)
    n_layers = config["num_layers" if is_neo else "num_hidden_layers"]
    depth = config["scale_depth"] / n_layers**0.5 if kind == "minicpm" else 1.0
    causal = torch.ones(n, n, dtype=torch.bool).tril()
    attention = []
    for layer in range(n_layers):
        own = body + (f"h.{layer}." if is_neo else f"layers.{layer}.")
        attn = own + ("attn.attention." if is_neo else "self_attn.")
        y = norm(own + ("ln_1" if is_neo else "input_layernorm"), x)
        q, k, v = (linear(attn + f"{one}_proj", y).unflatten(-1, (-1, d_head)) for one in "qkv")
        if not is_neo:
            q, k = turn(q), turn(k)
        if kind == "hunyuan_v1_dense":
            q, k = norm(attn + "query_layernorm", q), norm(attn + "key_layernorm", k)
        k, v = (one.repeat_interleave(n_heads // one.shape[1], dim=1) for one in (k, v))
        scores = torch.einsum("ihd,jhd->hij", q, k) * (1.0 if is_neo else d_head**-0.5)
        seen = causal
        if is_neo and (["global", "local"] * n_layers if n_layers == 4 else ["local", "global"])[layer] == "local":
            seen = causal ^ causal.tril(-config["window_size"])
        attention.append(scores.masked_fill(~seen, -math.inf).softmax(-1))
        context = torch.einsum("hij,jhd->ihd", attention[-1], v).flatten(1)
        added = linear(attn + ("out_proj" if is_neo else "o_proj"), context)
        x = x + depth * (norm(own + "post_self_attn_layernorm", added) if kind == "glm4" else added)
        y = norm(own + ("ln_2" if is_neo else "post_attention_layernorm"), x)
        if is_neo:
            approximate = "tanh" if config["activation_function"] == "gelu_new" else "none"
            added = linear(own + "mlp.c_proj", F.gelu(linear(own + "mlp.c_fc", y), approximate=approximate))
        else:
            fused = own + "mlp.gate_up_proj"
            gate, up = (
                linear(fused, y).chunk(2, -1)
                if fused + ".weight" in tensors
                else (linear(own + "mlp.gate_proj", y), linear(own + "mlp.up_proj", y))
            )
            added = linear(own + "mlp.down_proj", F.silu(gate) * up)
        x = x + depth * (norm(own + "post_mlp_layernorm", added) if kind == "glm4" else added)
    x = norm(body + ("ln_f" if is_neo else "norm"), x)
    if kind == "minicpm":
        x = x * config["dim_model_base"] / config["hidden_size"]
    return torch.stack(attention), F.linear(x, tensors.get("lm_head.weight", embeddings))


def check(name):
    folder = make_2026.HERE / name
    config = json.loads((folder / "config.json").read_text())
    expected = read(folder / "expected.safetensors")
    attention, logits = forward(config, read(folder / "model.safetensors"), expected["ids"])
    apart = [(attention - expected["attention"]).abs().max().item(), (logits - expected["logits"]).abs().max().item()]
    print(f"{name}: attention {apart[0]:.1e}, logits {apart[1]:.1e} of {logits.abs().max().item():.2g}")
    assert apart[0] < 1e-7 and apart[1] < 1e-6 * logits.abs().max().item()


if __name__ == "__main__":
    for case in make_2026.CASES:
        check(case)
