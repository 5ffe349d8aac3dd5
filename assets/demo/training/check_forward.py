#!/usr/bin/python3
"""The forward pass once more, in numpy and float64, from the Hugging Face conventions alone.

    check_forward.py MODEL_FOLDER

Compares it with model.py, which shares no code with it. The reference values of the tests come from here.
"""
import json
import pathlib
import struct
import sys

import numpy as np

EXAMPLE = "The cat sat on the mat because it was tired"


def read_tensors(path):
    """{name: float64 array} of a safetensors file."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    kinds = {"F16": "<f2", "F32": "<f4"}
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            flat = np.frombuffer(data[8 + size + begin:8 + size + end], kinds[entry["dtype"]])
            tensors[name] = flat.reshape(entry["shape"]).astype("f8")
    return tensors


class Forward:
    """The model of a folder; calling it with ids gives logits [tokens, vocabulary] and attention
    [layer, head, query, key]."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.config = json.loads((folder / "config.json").read_text())
        self.tensors = read_tensors(folder / "model.safetensors")

    def norm(self, x, weight):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.config["rms_norm_eps"]) * weight

    def rotate(self, x):
        """x [heads, tokens, d_head]; rotates dimension i with i + d_head / 2 by position / theta^(2 i / d_head)."""
        _, n_tokens, d_head = x.shape
        half = d_head // 2
        angles = np.arange(n_tokens)[:, None] * self.config["rope_theta"] ** (-2.0 * np.arange(half) / d_head)
        first, second = x[..., :half], x[..., half:]
        return np.concatenate([first * np.cos(angles) - second * np.sin(angles),
                               second * np.cos(angles) + first * np.sin(angles)], -1)

    def attention(self, layer, x):
        """(what the layer's heads add to x, their pattern [head, query, key])"""
        n_tokens, d_model = x.shape
        n_heads = self.config["num_attention_heads"]
        d_head = d_model // n_heads
        weight = {n: self.tensors[f"model.layers.{layer}.self_attn.{n}_proj.weight"] for n in "qkvo"}
        q, k, v = ((x @ weight[n].T).reshape(n_tokens, n_heads, d_head).transpose(1, 0, 2) for n in "qkv")
        scores = self.rotate(q) @ self.rotate(k).transpose(0, 2, 1) / np.sqrt(d_head)
        scores[:, np.triu(np.ones((n_tokens, n_tokens), bool), 1)] = -np.inf
        pattern = np.exp(scores - scores.max(-1, keepdims=True))
        pattern /= pattern.sum(-1, keepdims=True)
        mixed = (pattern @ v).transpose(1, 0, 2).reshape(n_tokens, d_model)
        return mixed @ weight["o"].T, pattern

    def mlp(self, layer, x):
        weight = {n: self.tensors[f"model.layers.{layer}.mlp.{n}_proj.weight"] for n in ("gate", "up", "down")}
        gate = x @ weight["gate"].T
        return (gate / (1 + np.exp(-gate)) * (x @ weight["up"].T)) @ weight["down"].T

    def __call__(self, ids):
        x, patterns = self.tensors["model.embed_tokens.weight"][ids], []
        for layer in range(self.config["num_hidden_layers"]):
            norms = [self.tensors[f"model.layers.{layer}.{n}_layernorm.weight"] for n in ("input", "post_attention")]
            change, pattern = self.attention(layer, self.norm(x, norms[0]))
            x = x + change
            x = x + self.mlp(layer, self.norm(x, norms[1]))
            patterns.append(pattern)
        logits = self.norm(x, self.tensors["model.norm.weight"]) @ self.tensors["model.embed_tokens.weight"].T
        return logits, np.stack(patterns)


def main():
    import torch

    from model import load_folder
    from tokenizer import Tokenizer
    folder = pathlib.Path(sys.argv[1])
    ids = Tokenizer(folder / "tokenizer.json").encode(EXAMPLE)
    logits, attention = Forward(folder)(ids)
    patterns = []
    with torch.no_grad():
        torch_logits = load_folder(folder)(torch.tensor([ids]), patterns)[0].numpy()
    torch_attention = torch.stack(patterns)[:, 0].numpy()
    print(f"{EXAMPLE!r}: greatest difference of a logit {np.abs(logits - torch_logits).max():.1e}, "
          f"of an attention weight {np.abs(attention - torch_attention).max():.1e}")


if __name__ == "__main__":
    main()
