"""bart/ and mbart/: random models and what they compute in float64. Needs NumPy; --check also PyTorch.

Written from the definitions: Lewis et al. 2020 (BART: norms after the sums, learned positions from row 2 on, a norm of the
embeddings) and Liu et al. 2020 (mBART: norms before attention and MLP, and one after the last layer of each stack).
--check compares both stacks with torch.nn.TransformerEncoderLayer and TransformerDecoderLayer in float64.
"""

import json
import math
import pathlib
import sys

import numpy as np

import take

D, FF, HEADS, VOCABULARY, POSITIONS = 16, 32, 4, 77, 32
LAYERS = {"encoder": 3, "decoder": 2}
IDS = [0, 25, 31, 9, 44, 25, 60, 12, 2]
DECODER_IDS = [2, 0, 17, 44, 52, 9, 30]
COMMON = {
    "activation_dropout": 0.0,
    "add_bias_logits": False,
    "attention_dropout": 0.0,
    "bos_token_id": 0,
    "classifier_dropout": 0.0,
    "d_model": D,
    "decoder_attention_heads": HEADS,
    "decoder_ffn_dim": FF,
    "decoder_layerdrop": 0.0,
    "decoder_layers": LAYERS["decoder"],
    "decoder_start_token_id": 2,
    "dropout": 0.1,
    "encoder_attention_heads": HEADS,
    "encoder_ffn_dim": FF,
    "encoder_layerdrop": 0.0,
    "encoder_layers": LAYERS["encoder"],
    "eos_token_id": 2,
    "forced_eos_token_id": 2,
    "gradient_checkpointing": False,
    "init_std": 0.02,
    "is_encoder_decoder": True,
    "max_position_embeddings": POSITIONS,
    "normalize_embedding": True,
    "num_beams": 4,
    "num_hidden_layers": LAYERS["encoder"],
    "output_past": True,
    "pad_token_id": 1,
    "static_position_embeddings": False,
    "use_cache": True,
    "vocab_size": VOCABULARY,
}
MODELS = {
    "bart": COMMON
    | {
        "activation_function": "gelu",
        "add_final_layer_norm": False,
        "architectures": ["BartForConditionalGeneration"],
        "classif_dropout": 0.0,
        "extra_pos_embeddings": 2,
        "forced_bos_token_id": 0,
        "model_type": "bart",
        "normalize_before": False,
        "scale_embedding": False,
    },
    "mbart": COMMON
    | {
        "activation_function": "relu",
        "add_final_layer_norm": True,
        "architectures": ["MBartForConditionalGeneration"],
        "model_type": "mbart",
        "normalize_before": True,
        "scale_embedding": True,
    },
}


def rounded(numbers):
    """To BF16, by dropping what it has no place for."""
    bits = np.asarray(numbers, "<f4").view("<u4") & 0xFFFF0000
    return bits.view("<f4").astype(np.float64)


def weights_of(config, random):
    def matrix(*shape, spread):
        return rounded(random.normal(0.0, spread, shape))

    weights = {"shared.weight": matrix(VOCABULARY, D, spread=0.8)}

    def linear(name, d_in, d_out):
        weights[name + ".weight"] = matrix(d_out, d_in, spread=1.3 / math.sqrt(d_in))
        weights[name + ".bias"] = matrix(d_out, spread=0.3)

    def norm(name):
        weights[name + ".weight"] = rounded(1.0 + random.normal(0.0, 0.2, D))
        weights[name + ".bias"] = matrix(D, spread=0.2)

    for stack in LAYERS:
        weights[stack + ".embed_tokens.weight"] = weights["shared.weight"]  # as old files have it
        weights[stack + ".embed_positions.weight"] = matrix(POSITIONS + 2, D, spread=0.5)
        norm(stack + ".layernorm_embedding")
        for layer in range(LAYERS[stack]):
            at = f"{stack}.layers.{layer}."
            for attention in ["self_attn"] + ["encoder_attn"] * (stack == "decoder"):
                for part in "q_proj", "k_proj", "v_proj", "out_proj":
                    linear(at + attention + "." + part, D, D)
                norm(at + attention + "_layer_norm")
            linear(at + "fc1", D, FF)
            linear(at + "fc2", FF, D)
            norm(at + "final_layer_norm")
        if config["model_type"] == "mbart":
            norm(stack + ".layer_norm")
    weights["final_logits_bias"] = matrix(1, VOCABULARY, spread=0.5)
    return weights


class Forward:
    def __init__(self, config, weights):
        self.config, self.weights = config, weights
        self.norms_first = config["model_type"] == "mbart"
        self.patterns = {"encoder": [], "decoder": [], "cross": []}

    def linear(self, name, x):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, name, x):
        apart = x - x.mean(-1, keepdims=True)
        scaled = apart / np.sqrt((apart**2).mean(-1, keepdims=True) + 1e-5)
        return scaled * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def activation(self, x):
        if self.config["activation_function"] == "relu":
            return np.maximum(x, 0.0)
        return 0.5 * x * (1.0 + np.vectorize(math.erf)(x / math.sqrt(2.0)))

    def attention(self, name, kind, x, of, causal):
        heads = lambda y: y.reshape(len(y), HEADS, D // HEADS).transpose(1, 0, 2)
        query, key, value = (heads(self.linear(f"{name}.{p}_proj", y)) for p, y in (("q", x), ("k", of), ("v", of)))
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(D // HEADS)
        if causal:
            scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
        pattern = np.exp(scores - scores.max(-1, keepdims=True))
        pattern /= pattern.sum(-1, keepdims=True)
        self.patterns[kind].append(pattern)
        return self.linear(name + ".out_proj", (pattern @ value).transpose(1, 0, 2).reshape(len(x), D))

    def branch(self, norm, x, run):
        return x + run(self.norm(norm, x)) if self.norms_first else self.norm(norm, x + run(x))

    def embed(self, stack, ids):
        scale = math.sqrt(D) if self.config["scale_embedding"] else 1.0
        positions = self.weights[stack + ".embed_positions.weight"][2 : 2 + len(ids)]
        return self.norm(stack + ".layernorm_embedding", scale * self.weights["shared.weight"][ids] + positions)

    def layer(self, stack, layer, x, encoded):
        at = f"{stack}.layers.{layer}."
        own = lambda y: self.attention(at + "self_attn", stack, y, y, stack == "decoder")
        cross = lambda y: self.attention(at + "encoder_attn", "cross", y, encoded, False)
        mlp = lambda y: self.linear(at + "fc2", self.activation(self.linear(at + "fc1", y)))
        x = self.branch(at + "self_attn_layer_norm", x, own)
        if encoded is not None:
            x = self.branch(at + "encoder_attn_layer_norm", x, cross)
        return self.branch(at + "final_layer_norm", x, mlp)

    def stack(self, stack, ids, encoded=None):
        x = self.embed(stack, ids)
        for layer in range(LAYERS[stack]):
            x = self.layer(stack, layer, x, encoded)
        return self.norm(stack + ".layer_norm", x) if self.norms_first else x

    def run(self):
        self.encoded = self.stack("encoder", IDS)
        self.decoded = self.stack("decoder", DECODER_IDS, self.encoded)
        return self.decoded @ self.weights["shared.weight"].T + self.weights["final_logits_bias"]


def check(forward):
    """Both stacks by PyTorch's own layers."""
    import torch

    torch.set_default_dtype(torch.float64)
    weights = {name: torch.tensor(numbers) for name, numbers in forward.weights.items()}

    def loaded(kind, at):
        norm_names = ["self_attn_layer_norm", "encoder_attn_layer_norm"][: 1 if kind == "Encoder" else 2]
        layer = getattr(torch.nn, f"Transformer{kind}Layer")(
            D, HEADS, FF, 0.0, forward.config["activation_function"], norm_first=forward.norms_first, batch_first=True
        )
        state = {}
        for end in "weight", "bias":
            for ours, theirs in (("self_attn", "self_attn"), ("encoder_attn", "multihead_attn"))[: len(norm_names)]:
                parts = [weights[f"{at}{ours}.{part}_proj.{end}"] for part in "qkv"]
                state[f"{theirs}.in_proj_{end}"] = torch.cat(parts)
                state[f"{theirs}.out_proj.{end}"] = weights[f"{at}{ours}.out_proj.{end}"]
            for i, name in enumerate(norm_names + ["final_layer_norm"]):
                state[f"norm{i + 1}.{end}"] = weights[f"{at}{name}.{end}"]
            state[f"linear1.{end}"], state[f"linear2.{end}"] = weights[f"{at}fc1.{end}"], weights[f"{at}fc2.{end}"]
        layer.load_state_dict(state)
        return layer.train()  # without the shortcuts of inference; nothing drops out

    def last(stack, x):
        names = [f"{stack}.layer_norm.{end}" for end in ("weight", "bias")]
        norm = lambda y: torch.nn.functional.layer_norm(y, (D,), weights[names[0]], weights[names[1]], 1e-5)
        return norm(x) if forward.norms_first else x

    x = torch.tensor(forward.embed("encoder", IDS))[None]
    for layer in range(LAYERS["encoder"]):
        x = loaded("Encoder", f"encoder.layers.{layer}.")(x)
    encoded = last("encoder", x)
    y = torch.tensor(forward.embed("decoder", DECODER_IDS))[None]
    mask = torch.nn.Transformer.generate_square_subsequent_mask(len(DECODER_IDS)).to(torch.float64)
    for layer in range(LAYERS["decoder"]):
        y = loaded("Decoder", f"decoder.layers.{layer}.")(y, encoded, tgt_mask=mask)
    apart = [np.abs(of.detach().numpy()[0] - ours).max() for of, ours in ((encoded, forward.encoded), (last("decoder", y), forward.decoded))]
    print(f"{forward.config['model_type']}: apart from PyTorch by {max(apart):.1e}")
    assert max(apart) < 1e-12


if __name__ == "__main__":
    for seed, (name, config) in enumerate(MODELS.items(), start=5):
        weights = weights_of(config, np.random.default_rng(seed))
        forward = Forward(config, weights)
        logits = forward.run()
        if "--check" in sys.argv:
            check(forward)
        named = {("" if key == "final_logits_bias" else "model.") + key: numbers for key, numbers in weights.items()}
        folder = take.HERE / name
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
        take.write_safetensors(
            folder / "model.safetensors",
            {key: (list(numbers.shape), numbers.ravel().tolist()) for key, numbers in named.items()},
            "BF16",
        )
        expected = {"ids": np.array(IDS), "decoder_ids": np.array(DECODER_IDS), "logits": logits}
        expected |= {kind: np.stack(patterns) for kind, patterns in forward.patterns.items()}
        arrays = {key: (list(numbers.shape), numbers.ravel().tolist()) for key, numbers in expected.items()}
        take.write_safetensors(folder / "expected.safetensors", arrays)
