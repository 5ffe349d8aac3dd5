"""The parts that the families are made of: norms, activations, rotary positions, attention.

Shapes: n tokens, d features of the residual stream, h heads, g key/value heads, e features of a head.
All numbers are float64. Nothing here is written for speed.
"""

import math

import torch


def linear(x, weights, name):
    """x W^T + b; W is stored [out, in], as torch.nn.Linear has it. b only if the file has one."""
    y = x @ weights[name + ".weight"].T
    return y + weights[name + ".bias"] if name + ".bias" in weights else y


def conv1d(x, weights, name):
    """x W + b; W is stored [in, out], as GPT-2's Conv1D has it."""
    return x @ weights[name + ".weight"] + weights[name + ".bias"]


def layer_norm(x, weights, name, eps):
    x = x - x.mean(-1, keepdim=True)
    x = x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)
    return x * weights[name + ".weight"] + weights[name + ".bias"]


def rms_norm(x, weights, name, eps, plus=0.0):
    """x / rms(x) * (plus + w); Gemma stores w around 0 and has plus = 1."""
    x = x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)
    return x * (plus + weights[name + ".weight"])


def gelu(x):
    """x Phi(x), Hendrycks and Gimpel 2016."""
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def gelu_tanh(x):
    """Its approximation, as GPT-2 and Gemma use it."""
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x):
    return x / (1 + torch.exp(-x))


ACTIVATIONS = {
    "gelu": gelu,
    "gelu_new": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh,
    "silu": silu,
    "relu": torch.relu,
}


def activation(name, x):
    return ACTIVATIONS[name](x)


def split_heads(x, n_heads):
    """[n, h e] to [h, n, e]."""
    return x.reshape(x.shape[0], n_heads, -1).transpose(0, 1)


def merge_heads(x):
    """[h, n, e] to [n, h e]."""
    return x.transpose(0, 1).reshape(x.shape[1], -1)


def visible(n, causal=True, window=None):
    """[query, key]: True where the query may look. A window of w leaves w keys, the query's own among them."""
    distance = torch.arange(n)[:, None] - torch.arange(n)[None, :]
    allowed = distance >= 0 if causal else torch.ones(n, n, dtype=torch.bool)
    return allowed & (distance < window) if window else allowed


def share_heads(x, n_heads):
    """[g, n, e] to [h, n, e]: neighbouring query heads share one key/value head."""
    return x.repeat_interleave(n_heads // x.shape[0], dim=0)


def soft_cap(x, cap):
    """cap tanh(x / cap); unchanged without a cap."""
    return cap * torch.tanh(x / cap) if cap else x


def attend(q, k, v, mask, scale, cap=None):
    """q [h, n, e], k and v [g, n, e] to (attention [h, n, n], mixed values [n, h e])."""
    k, v = share_heads(k, q.shape[0]), share_heads(v, q.shape[0])
    scores = soft_cap(q @ k.transpose(1, 2) * scale, cap)
    weights = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
    return weights, merge_heads(weights @ v)


def rotate(x, frequencies, factor=1.0):
    """Turns pairs of the first 2 len(frequencies) features of [h, n, e] by position times frequency.

    Feature i is paired with i + half, where half = len(frequencies). The features after these stay as they are.
    """
    half = len(frequencies)
    angles = torch.arange(x.shape[1], dtype=torch.float64)[:, None] * frequencies
    cos, sin = torch.cos(angles) * factor, torch.sin(angles) * factor
    a, b, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], dim=-1)


def rope_frequencies(dim, theta, scaling, n, limit, original=None):
    """(frequencies [dim/2], factor on cos and sin) of one scaling rule.

    scaling   the config's rope_scaling, or None
    n         the number of tokens of this text
    limit     max_position_embeddings
    original  original_max_position_embeddings where it stands outside rope_scaling (Phi-3)
    """
    scaling = scaling or {}
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    powers = torch.arange(0, dim, 2, dtype=torch.float64) / dim
    plain = theta**-powers
    if kind == "default":
        return plain, 1.0
    if kind == "linear":
        return plain / scaling["factor"], 1.0
    if kind == "dynamic":
        return dynamic(dim, theta, scaling["factor"], max(n, limit) / limit, powers), 1.0
    if kind == "llama3":
        return llama3(plain, scaling), 1.0
    if kind == "yarn":
        return yarn(dim, theta, plain, scaling, limit)
    if kind in ("longrope", "su"):
        return longrope(plain, scaling, n, limit, original)
    raise ValueError(f"unknown RoPE scaling {kind}")


def dynamic(dim, theta, factor, stretch, powers):
    """The base grows with the text's length, once it is longer than the trained one ("NTK-aware")."""
    grown = theta * (factor * stretch - (factor - 1)) ** (dim / (dim - 2))
    return grown**-powers


def llama3(plain, scaling):
    """Long waves are stretched by the factor, short ones stay, those between are mixed."""
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    turns = scaling["original_max_position_embeddings"] * plain / (2 * math.pi)
    keep = torch.clamp((turns - low) / (high - low), 0, 1)
    return keep * plain + (1 - keep) * plain / scaling["factor"]


def yarn(dim, theta, plain, scaling, limit):
    """Peng et al. 2023, arXiv:2309.00071, sections 3.2 to 3.4."""
    factor = scaling["factor"]
    original = scaling.get("original_max_position_embeddings") or limit

    def feature_that_turns(times):
        return dim * math.log(original / (times * 2 * math.pi)) / (2 * math.log(theta))

    low = max(math.floor(feature_that_turns(scaling.get("beta_fast") or 32)), 0)
    high = min(math.ceil(feature_that_turns(scaling.get("beta_slow") or 1)), dim - 1)
    stretched = torch.clamp((torch.arange(dim // 2) - low) / max(high - low, 0.001), 0, 1).double()
    attention_factor = scaling.get("attention_factor")
    if attention_factor is None:
        attention_factor = 0.1 * math.log(factor) + 1 if factor > 1 else 1.0
    return plain * (1 - stretched) + plain / factor * stretched, attention_factor


def longrope(plain, scaling, n, limit, original):
    """Ding et al. 2024, arXiv:2402.13753: a divisor for each frequency, others for short than for long texts."""
    divisors = scaling["long_factor" if n > original else "short_factor"]
    stretch = limit / original
    factor = scaling.get("attention_factor")
    if factor is None:
        factor = math.sqrt(1 + math.log(stretch) / math.log(original)) if stretch > 1 else 1.0
    return plain / torch.tensor(divisors, dtype=torch.float64), factor
