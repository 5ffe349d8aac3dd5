#!/usr/bin/env python3
"""Writes torch_mha.json and torch_mha_expected.json, from PyTorch's own multi-head attention.

torch_mha.json is the module as attnviz weights: its matrices are copied as they are, because PyTorch
multiplies W·x ("convention": "column"). torch_mha_expected.json is what the module answers in
float64: the attention [head][query][key] and the output [query][d_model],
without a mask and with a causal one.

Needs PyTorch (Debian: apt-get install python3-torch); the numbers were made with 1.13.
Run it in this folder.
"""

import json

import torch

D_MODEL, N_HEADS, N_TOKENS = 12, 3, 5
D_HEAD = D_MODEL // N_HEADS


def rounded(*shape):
    """Values with three decimals, so that the file stays small and float32 loses next to nothing."""
    return torch.round(torch.randn(*shape, dtype=torch.float64) * 1000) / 1000


def numbers(tensor, digits):
    if tensor.dim() == 0:
        return round(tensor.item(), digits)
    return [numbers(part, digits) for part in tensor]


torch.manual_seed(7)
module = torch.nn.MultiheadAttention(D_MODEL, N_HEADS, bias=True, batch_first=True).double().eval()
with torch.no_grad():
    module.in_proj_weight.copy_(rounded(3 * D_MODEL, D_MODEL) * 0.25)
    module.in_proj_bias.copy_(rounded(3 * D_MODEL) * 0.25)
    module.out_proj.weight.copy_(rounded(D_MODEL, D_MODEL) * 0.25)
    module.out_proj.bias.copy_(rounded(D_MODEL) * 0.25)
x = rounded(N_TOKENS, D_MODEL)

weights = module.in_proj_weight.detach().chunk(3)
biases = module.in_proj_bias.detach().chunk(3)
heads = []
for h in range(N_HEADS):
    rows = slice(h * D_HEAD, (h + 1) * D_HEAD)
    head = {}
    for name, weight in zip("QKV", weights):
        head["W_" + name] = numbers(weight[rows], 6)
    for name, bias in zip("QKV", biases):
        head["b_" + name] = numbers(bias[rows], 6)
    heads.append(head)

model = {
    "schema": "attnviz.weights/1",
    "d_model": D_MODEL,
    "tokenizer": "words",
    "mask": "none",
    "positions": "none",
    "convention": "column",
    "inputs": numbers(x, 6),
    "residual": False,
    "layers": [
        {
            "heads": heads,
            "W_O": numbers(module.out_proj.weight.detach(), 6),
            "b_O": numbers(module.out_proj.bias.detach(), 6),
        }
    ],
}

expected = {}
hidden = torch.triu(torch.ones(N_TOKENS, N_TOKENS, dtype=torch.bool), diagonal=1)
for mask, attn_mask in (("none", None), ("causal", hidden)):
    with torch.no_grad():
        output, attention = module(
            x[None], x[None], x[None], attn_mask=attn_mask, average_attn_weights=False
        )
    expected[mask] = {"attention": numbers(attention[0], 10), "output": numbers(output[0], 10)}

with open("torch_mha.json", "w") as file:
    json.dump(model, file)
    file.write("\n")
with open("torch_mha_expected.json", "w") as file:
    json.dump(expected, file)
    file.write("\n")
