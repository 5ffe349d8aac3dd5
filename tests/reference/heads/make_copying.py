#!/usr/bin/env python3
"""Writes copying.json: copying scores of small models in float64, by numpy and with no code of ours.

    python3 tests/reference/heads/make_copying.py

The score is the sum of the eigenvalues of W_E W_V W_O W_U [n_vocab, n_vocab] over the sum of their
absolute values, from the [d_head, d_head] matrix W_O W_U W_E W_V, which has the same but for zeros;
where the vocabulary is small, from both. Source: Elhage et al. 2021, "A Mathematical Framework for
Transformer Circuits". Every norm between is folded in: its weight, and of a LayerNorm the mean.
"""

import json
import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/reference/models"))
import safetensors_file  # noqa: E402

MODELS = {
    "demo": "assets/demo/model",
    "gpt2-tied": "tests/reference/models/gpt2-tied",
    "gpt2-untied-inverse-layer": "tests/reference/models/gpt2-untied-inverse-layer",
    "gpt-neox-parallel": "tests/reference/models/gpt-neox-parallel",
    "llama-gqa-bias": "tests/reference/models/llama-gqa-bias",
    "gemma2-softcap-window": "tests/reference/models/gemma2-softcap-window",
}


def layer_norm(weight):
    """[d, d]: takes the mean out of a row vector, then multiplies with the weight."""
    d = len(weight)
    return (np.eye(d) - np.full((d, d), 1 / d)) @ np.diag(weight)


def gpt2(config, tensor):
    tensor = {name.removeprefix("transformer."): value for name, value in tensor.items()}
    d, n_heads = config["n_embd"], config["n_head"]
    size = d // n_heads
    embed = tensor["wte.weight"]
    unembed = tensor.get("lm_head.weight", embed).T
    for layer in range(config["n_layer"]):
        norm = layer_norm(tensor[f"h.{layer}.ln_1.weight"])
        value = tensor[f"h.{layer}.attn.c_attn.weight"][:, 2 * d :]
        output = tensor[f"h.{layer}.attn.c_proj.weight"]
        yield [
            (embed @ norm @ value[:, i : i + size],
             output[i : i + size] @ layer_norm(tensor["ln_f.weight"]) @ unembed)
            for i in range(0, d, size)
        ]


def neox(config, tensor):
    d, n_heads = config["hidden_size"], config["num_attention_heads"]
    size = d // n_heads
    for layer in range(config["num_hidden_layers"]):
        name = f"gpt_neox.layers.{layer}."
        norm = layer_norm(tensor[name + "input_layernorm.weight"])
        qkv = tensor[name + "attention.query_key_value.weight"].reshape(n_heads, 3, size, d)
        output = tensor[name + "attention.dense.weight"].T
        yield [
            (tensor["gpt_neox.embed_in.weight"] @ norm @ qkv[head, 2].T,
             output[head * size : (head + 1) * size]
             @ layer_norm(tensor["gpt_neox.final_layer_norm.weight"])
             @ tensor["embed_out.weight"].T)
            for head in range(n_heads)
        ]


def llama(config, tensor):
    n_heads = config["num_attention_heads"]
    size = config.get("head_dim") or config["hidden_size"] // n_heads
    group = n_heads // config["num_key_value_heads"]
    is_gemma = config["model_type"] == "gemma2"
    weight = lambda name: np.diag(tensor[name] + (1 if is_gemma else 0))  # noqa: E731
    embed = tensor["model.embed_tokens.weight"]
    unembed = tensor.get("lm_head.weight", embed).T
    for layer in range(config["num_hidden_layers"]):
        name = f"model.layers.{layer}."
        value = tensor[name + "self_attn.v_proj.weight"].T
        output = tensor[name + "self_attn.o_proj.weight"].T
        if is_gemma:
            output = output @ weight(name + "post_attention_layernorm.weight")
        yield [
            (embed @ weight(name + "input_layernorm.weight")
             @ value[:, head // group * size : (head // group + 1) * size],
             output[head * size : (head + 1) * size] @ weight("model.norm.weight") @ unembed)
            for head in range(n_heads)
        ]


FAMILIES = {"gpt2": gpt2, "gpt_neox": neox, "llama": llama, "gemma2": llama}


def share(matrix):
    values = np.linalg.eigvals(matrix)
    return values.sum().real / np.abs(values).sum()


def score(into, out):
    """into [n_vocab, d_head] = W_E W_V, out [d_head, n_vocab] = W_O W_U."""
    found = share(out @ into)
    if len(into) < 100:
        assert abs(found - share(into @ out)) < 1e-5, (found, share(into @ out))
    return float(f"{found:.10g}")


def main():
    scores = {}
    for name, folder in MODELS.items():
        config, tensors = safetensors_file.read_folder(ROOT / folder)
        tensors = {key: value.astype(np.float64) for key, value in tensors.items()}
        layers = FAMILIES[config["model_type"]](config, tensors)
        scores[name] = [[score(*head) for head in heads] for heads in layers]
    lines = ",\n".join(f'  "{name}": {json.dumps(value)}' for name, value in scores.items())
    pathlib.Path(__file__).with_name("copying.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
