"""A tiny Llama in plain PyTorch, saved as and loaded from a Hugging Face folder."""
import json
import math
import os
import pathlib
import struct
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Config(NamedTuple):
    vocabulary: int
    d_model: int = 128
    n_heads: int = 4
    n_layers: int = 4
    d_feed_forward: int = 336
    context: int = 256
    rope_theta: float = 10000.0
    norm_epsilon: float = 1e-5

    @property
    def d_head(self):
        return self.d_model // self.n_heads


class RMSNorm(nn.Module):
    def __init__(self, size, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.epsilon = epsilon

    def forward(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * self.weight


def rotate(x, cos, sin):
    """Rotary position embedding; dimension i is paired with i + d_head / 2. x [batch * heads, tokens, d_head]."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        d, d_ff = config.d_model, config.d_feed_forward
        self.attention_norm = RMSNorm(d, config.norm_epsilon)
        self.mlp_norm = RMSNorm(d, config.norm_epsilon)
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.out = nn.Linear(d, d, bias=False)
        self.gate_up = nn.Linear(d, 2 * d_ff, bias=False)
        self.down = nn.Linear(d_ff, d, bias=False)

    def forward(self, x, mask, rope, patterns):
        """x [batch, tokens, d_model]; mask [tokens, tokens], added to the scores; patterns: None, or a list to which
        the attention [batch, heads, query, key] is appended."""
        batch, n_tokens, d = x.shape
        heads, d_head = self.config.n_heads, self.config.d_head
        qkv = self.qkv(self.attention_norm(x)).view(batch, n_tokens, 3, heads, d_head)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).reshape(3, batch * heads, n_tokens, d_head).unbind(0)
        scores = torch.baddbmm(mask, rotate(q, *rope), rotate(k, *rope).transpose(1, 2), alpha=d_head ** -.5)
        pattern = scores.softmax(-1)
        if patterns is not None:
            patterns.append(pattern.view(batch, heads, n_tokens, n_tokens))
        mixed = torch.bmm(pattern, v).view(batch, heads, n_tokens, d_head).transpose(1, 2)
        x = x + self.out(mixed.reshape(batch, n_tokens, d))
        gate, up = self.gate_up(self.mlp_norm(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class LanguageModel(nn.Module):
    """Input and output embeddings are one matrix."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.d_model)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layers))
        self.final_norm = RMSNorm(config.d_model, config.norm_epsilon)
        for name, parameter in self.named_parameters():
            if name.startswith("embedding"):
                nn.init.normal_(parameter, std=.02)
            elif parameter.dim() == 2:
                adds_to_residual = name.endswith(("out.weight", "down.weight"))
                scale = 1 / math.sqrt(2 * config.n_layers) if adds_to_residual else 1
                nn.init.normal_(parameter, std=scale * config.d_model ** -.5)
        mask = torch.full((config.context, config.context), -1e9).triu(1)
        frequencies = config.rope_theta ** (-torch.arange(0, config.d_head, 2) / config.d_head)
        angles = torch.arange(config.context)[:, None] * frequencies
        angles = torch.cat((angles, angles), 1)
        self.register_buffer("mask", mask, persistent=False)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def hidden(self, ids, patterns=None):
        """ids [batch, tokens] -> [batch, tokens, d_model] behind the final norm."""
        n_tokens = ids.shape[1]
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, self.mask[:n_tokens, :n_tokens], (self.cos[:n_tokens], self.sin[:n_tokens]), patterns)
        return self.final_norm(x)

    def forward(self, ids, patterns=None):
        """ids [batch, tokens] -> logits [batch, tokens, vocabulary]."""
        return F.linear(self.hidden(ids, patterns), self.embedding.weight)


# The Hugging Face folder.

def tensor_names(config):
    """[(parameter here, the tensors of the file that follow each other in it)]"""
    names = [("embedding.weight", ["model.embed_tokens.weight"])]
    parts = {"attention_norm": ["input_layernorm"], "mlp_norm": ["post_attention_layernorm"],
             "qkv": ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"], "out": ["self_attn.o_proj"],
             "gate_up": ["mlp.gate_proj", "mlp.up_proj"], "down": ["mlp.down_proj"]}
    for layer in range(config.n_layers):
        for ours, theirs in parts.items():
            names.append((f"blocks.{layer}.{ours}.weight", [f"model.layers.{layer}.{t}.weight" for t in theirs]))
    return names + [("final_norm.weight", ["model.norm.weight"])]


def save_safetensors(path, tensors):
    """Writes {name: float16 array}; the file appears whole or not at all."""
    header, blobs, offset = {"__metadata__": {"format": "pt"}}, [], 0
    for name, array in tensors.items():
        blob = array.astype("<f2").tobytes()
        header[name] = {"dtype": "F16", "shape": list(array.shape), "data_offsets": [offset, offset + len(blob)]}
        blobs.append(blob)
        offset += len(blob)
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % 8)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_bytes(struct.pack("<Q", len(encoded)) + encoded + b"".join(blobs))
    os.replace(unfinished, path)


def load_safetensors(path, dtype="f4"):
    """{name: array of dtype}"""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8:8 + size]), data[8 + size:]
    kinds = {"F16": "<f2", "F32": "<f4"}
    return {name: np.frombuffer(body[slice(*entry["data_offsets"])], kinds[entry["dtype"]])
            .reshape(entry["shape"]).astype(dtype) for name, entry in header.items() if name != "__metadata__"}


def save_folder(model, folder):
    """Writes config.json and model.safetensors (float16)."""
    config = model.config
    state, tensors = model.state_dict(), {}
    for ours, theirs in tensor_names(config):
        for name, part in zip(theirs, state[ours].chunk(len(theirs), 0)):
            tensors[name] = part.numpy()
    folder.mkdir(parents=True, exist_ok=True)
    save_safetensors(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": config.d_model,
        "intermediate_size": config.d_feed_forward, "num_hidden_layers": config.n_layers,
        "num_attention_heads": config.n_heads, "num_key_value_heads": config.n_heads,
        "max_position_embeddings": config.context, "rms_norm_eps": config.norm_epsilon,
        "rope_theta": config.rope_theta, "hidden_act": "silu", "attention_bias": False, "mlp_bias": False,
        "vocab_size": config.vocabulary, "bos_token_id": 0, "eos_token_id": 0, "tie_word_embeddings": True,
        "torch_dtype": "float16", "initializer_range": .02}, indent=1) + "\n")


def load_folder(folder):
    folder = pathlib.Path(folder)
    file = json.loads((folder / "config.json").read_text())
    config = Config(file["vocab_size"], file["hidden_size"], file["num_attention_heads"], file["num_hidden_layers"],
                    file["intermediate_size"], file["max_position_embeddings"], file["rope_theta"],
                    file["rms_norm_eps"])
    model, tensors = LanguageModel(config), load_safetensors(folder / "model.safetensors")
    model.load_state_dict({ours: torch.cat([torch.from_numpy(tensors[name]) for name in theirs])
                           for ours, theirs in tensor_names(config)})
    return model.eval()
