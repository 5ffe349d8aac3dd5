"""Writes gptoss-ollama, the model of gptoss-mxfp4 as Ollama's converter lays it out: run it here. Needs no packages.

What is computed of it is what llama.cpp's GGUF file gives, so its expected numbers are those of gptoss-mxfp4-gguf.
"""

import json
import pathlib
import shutil
import struct

HERE = pathlib.Path(__file__).parent
U32, F32, STRING, BOOL = 4, 6, 8, 7
TYPES = {"F32": 0, "BF16": 30}
OLLAMAS_MXFP4 = 4
ALIGNMENT = 32
NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_out",
    "self_attn.sinks": "attn_sinks",
    "mlp.router": "ffn_gate_inp",
    "mlp.experts.gate_up_proj_": "ffn_gate_up_exps.",
    "mlp.experts.down_proj_": "ffn_down_exps.",
}


def named(name):
    name = name.replace("model.layers.", "blk.")
    for theirs, ours in NAMES.items():
        name = name.replace(theirs, ours)
    return name


def tensors(path):
    """{name: (type, shape, bytes)} in Ollama's names and blocks."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        found[named(name)] = entry["dtype"], entry["shape"], data[8 + length + begin : 8 + length + end]
    result = {}
    for name, (dtype, shape, content) in found.items():
        if name.endswith(".blocks"):
            scales = found[name.replace(".blocks", ".scales")][2]
            blocks = [scales[i : i + 1] + content[16 * i : 16 * i + 16] for i in range(len(scales))]
            result[name.replace(".blocks", ".weight")] = OLLAMAS_MXFP4, [*shape[:2], 32 * shape[2]], b"".join(blocks)
        elif not name.endswith(".scales"):
            result[name] = TYPES[dtype], shape, content
    return result


def string(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def keys(config):
    head = "gptoss."
    yield "general.architecture", STRING, "gptoss"
    yield head + "context_length", U32, config["max_position_embeddings"]
    yield head + "block_count", U32, config["num_hidden_layers"]
    yield head + "embedding_length", U32, config["hidden_size"]
    yield head + "feed_forward_length", U32, config["intermediate_size"]
    yield head + "expert_count", U32, config["num_local_experts"]
    yield head + "expert_used_count", U32, config["num_experts_per_tok"]
    yield head + "attention.head_count", U32, config["num_attention_heads"]
    yield head + "attention.head_count_kv", U32, config["num_key_value_heads"]
    yield head + "attention.key_length", U32, config["head_dim"]
    yield head + "attention.value_length", U32, config["head_dim"]
    yield head + "attention.layer_norm_rms_epsilon", F32, config["rms_norm_eps"]
    yield head + "attention.sliding_window", U32, config["sliding_window"]
    scaling = config.get("rope_scaling") or config["rope_parameters"]
    yield head + "rope.freq_base", F32, config.get("rope_theta") or scaling["rope_theta"]
    yield head + "rope.scaling.factor", F32, scaling["factor"]
    yield head + "rope.scaling.original_context_length", U32, scaling["original_max_position_embeddings"]
    yield "tokenizer.ggml.add_bos_token", BOOL, False


def write(path, config, weights):
    listed = list(keys(config))
    data = b"GGUF" + struct.pack("<IQQ", 3, len(weights), len(listed))
    forms = {U32: "<I", F32: "<f", BOOL: "<?"}
    for key, kind, value in listed:
        content = string(value) if kind == STRING else struct.pack(forms[kind], value)
        data += string(key) + struct.pack("<I", kind) + content
    offset = 0
    for name, (kind, shape, content) in weights.items():
        data += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), kind, offset)
        offset += -(-len(content) // ALIGNMENT) * ALIGNMENT
    data += bytes(-len(data) % ALIGNMENT)
    for _, _, content in weights.values():
        data += content + bytes(-len(content) % ALIGNMENT)
    path.write_bytes(data)


if __name__ == "__main__":
    source = HERE / "gptoss-mxfp4"
    target = HERE / "gptoss-ollama"
    target.mkdir(exist_ok=True)
    settings = json.loads((source / "config.json").read_text())
    write(target / "gptoss-ollama.gguf", settings, tensors(source / "model.safetensors"))
    shutil.copyfile(HERE / "gptoss-mxfp4-gguf" / "expected.safetensors", target / "expected.safetensors")
