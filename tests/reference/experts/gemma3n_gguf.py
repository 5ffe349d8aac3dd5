"""gemma3n/gemma3n.gguf from the model beside it, named as llama.cpp's converter names it. Needs no packages.

llama.cpp runs released sizes alone (and cuts gates by another deviation), so its numbers are no reference: those of the
folder are, whose weights these are.
"""

import json
import math
import pathlib
import statistics
import struct

HERE = pathlib.Path(__file__).parent / "gemma3n"
KINDS = {"u32": (4, "I"), "f32": (6, "f"), "bool": (7, "?")}
OUTSIDE = {
    "embed_tokens": "token_embd",
    "embed_tokens_per_layer": "per_layer_token_embd",
    "per_layer_model_projection": "per_layer_model_proj",
    "per_layer_projection_norm": "per_layer_proj_norm",
    "norm": "output_norm",
}
IN_LAYERS = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "per_layer_input_gate": "inp_gate",
    "per_layer_projection": "proj",
    "post_per_layer_input_norm": "post_norm",
    "altup.correct_output_scale": "altup_correct_scale",
    "altup.correction_coefs": "altup_correct_coef",
    "altup.prediction_coefs": "altup_predict_coef",
    "altup.modality_router": "altup_router",
    "altup.router_norm": "altup_router_norm",
    "laurel.linear_left": "laurel_l",
    "laurel.linear_right": "laurel_r",
    "laurel.post_laurel_norm": "laurel_post_norm",
}


def read_tensors():
    """{name: (shape, bytes of BF16)}."""
    data = (HERE / "model.safetensors").read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    tensors = {}
    for name, one in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            assert one["dtype"] == "BF16", name
            begin, end = (8 + length + offset for offset in one["data_offsets"])
            tensors[name.removeprefix("model.language_model.")] = one["shape"], data[begin:end]
    return tensors


def renamed(tensors):
    found, stacks = {}, {"altup_projections": {}, "altup_unembed_projections": {}}
    for name, tensor in tensors.items():
        plain = name.removesuffix(".weight")
        if plain.split(".")[0] in stacks:
            stack, index = plain.split(".")
            stacks[stack][int(index)] = tensor
        elif plain in OUTSIDE:
            found[OUTSIDE[plain] + ".weight"] = tensor
        else:
            _, layer, rest = plain.split(".", 2)
            found[f"blk.{layer}.{IN_LAYERS[rest]}.weight"] = tensor
    for stack, name in ("altup_projections", "altup_proj"), ("altup_unembed_projections", "altup_unembd_proj"):
        each = [stacks[stack][i] for i in sorted(stacks[stack])]
        found[name + ".weight"] = [len(each), *each[0][0]], b"".join(data for _, data in each)
    return found


def metadata_of(config):
    quantile = lambda share: statistics.NormalDist().inv_cdf(share) if share > 0 else -math.inf
    sliding = [kind == "sliding_attention" for kind in config["layer_types"]]
    keys = {
        "block_count": ("u32", config["num_hidden_layers"]),
        "context_length": ("u32", config["max_position_embeddings"]),
        "embedding_length": ("u32", config["hidden_size"]),
        "feed_forward_length": ("[u32]", config["intermediate_size"]),
        "attention.head_count": ("u32", config["num_attention_heads"]),
        "attention.head_count_kv": ("u32", config["num_key_value_heads"]),
        "attention.layer_norm_rms_epsilon": ("f32", config["rms_norm_eps"]),
        "attention.key_length": ("u32", config["head_dim"]),
        "attention.value_length": ("u32", config["head_dim"]),
        "attention.sliding_window": ("u32", config["sliding_window"]),
        "attention.sliding_window_pattern": ("[bool]", sliding),
        "attention.shared_kv_layers": ("u32", config["num_kv_shared_layers"]),
        "rope.freq_base": ("f32", config["rope_theta"]),
        "altup.active_idx": ("u32", config["altup_active_idx"]),
        "altup.num_inputs": ("u32", config["altup_num_inputs"]),
        "embedding_length_per_layer_input": ("u32", config["hidden_size_per_layer_input"]),
        "activation_sparsity_scale": ("[f32]", [quantile(s) for s in config["activation_sparsity_pattern"]]),
    }
    return {"gemma3n." + key: value for key, value in keys.items()}


def text(string):
    return struct.pack("<Q", len(string)) + string.encode()


def value(kind, of):
    if kind.startswith("["):
        number, code = KINDS[kind[1:-1]]
        return struct.pack(f"<IIQ{len(of)}{code}", 9, number, len(of), *of)
    number, code = KINDS[kind]
    return struct.pack(f"<I{code}", number, of)


def write(path, metadata, tensors):
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata) + 1)
    head += text("general.architecture") + struct.pack("<I", 8) + text("gemma3n")
    for key, (kind, of) in metadata.items():
        head += text(key) + value(kind, of)
    body = b""
    for name, (shape, data) in tensors.items():
        bf16 = 30
        if len(shape) == 1:  # as the converter has vectors
            bf16, data = 0, b"".join(b"\0\0" + data[i : i + 2] for i in range(0, len(data), 2))
        head += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), bf16, len(body))
        body += data + bytes(-len(data) % 32)
    path.write_bytes(head + bytes(-len(head) % 32) + body)


if __name__ == "__main__":
    config = json.loads((HERE / "config.json").read_text())["text_config"]
    write(HERE / "gemma3n.gguf", metadata_of(config), renamed(read_tensors()))
