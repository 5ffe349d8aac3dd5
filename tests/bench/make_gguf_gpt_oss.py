#!/usr/bin/env python3
"""Writes a GGUF file of gpt-oss 20B's shape with random weights: 20.9 billion, 12 GB.

Usage: make_gguf_gpt_oss.py FILE [--sparse]

Types as in the file that llama.cpp's users load: MXFP4 in the experts, Q8_0 in all other matrices. Numbers are drawn
once, a megabyte of each type, and repeated. With --sparse the experts are holes of the file that read as zeros, and it
takes 1.4 GB of the disk. The vocabulary is synthetic, as large as the real one. Needs no packages.
"""

import array
import itertools
import random
import struct
import sys

N_LAYERS, D, N_HEADS, N_KV_HEADS, D_HEAD, N_VOCAB = 24, 2880, 64, 8, 64, 201088
N_EXPERTS, N_USED, D_FF, WINDOW, N_CTX = 32, 4, 2880, 128, 131072
ALIGNMENT = 32
F32, Q8_0, MXFP4 = 0, 8, 39
BLOCK_BYTES = {F32: (1, 4), Q8_0: (32, 34), MXFP4: (32, 17)}
U32, F32_KEY, STRING, ARRAY, I32 = 4, 6, 8, 9, 5


def vocabulary():
    """(tokens, types, merges) of a byte-level tokenizer."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    alphabet = [chr(byte) for byte in printable] + [chr(256 + i) for i in range(len(others))]
    letters = "abcdefghijklmnopqrstuvwxyz"
    pairs = [(a, b) for a in "Ġ" + letters for b in letters]
    pairs += [("Ġ" + a, b) for a in letters for b in letters]
    twos = [a + b for a in letters for b in letters]
    n_special = 1090
    wanted = N_VOCAB - n_special - len(alphabet) - len(pairs)
    pairs += itertools.islice(itertools.product(twos, twos), wanted)
    specials = [f"<|reserved_{i}|>" for i in range(n_special)]
    tokens = alphabet + [a + b for a, b in pairs] + specials
    return tokens, [1] * (N_VOCAB - n_special) + [3] * n_special, [f"{a} {b}" for a, b in pairs]


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def metadata():
    tokens, types, merges = vocabulary()
    prefix = "gpt-oss."
    return {
        "general.architecture": (STRING, "gpt-oss"),
        "general.name": (STRING, "Random 20B"),
        prefix + "block_count": (U32, N_LAYERS),
        prefix + "context_length": (U32, N_CTX),
        prefix + "embedding_length": (U32, D),
        prefix + "feed_forward_length": (U32, D_FF),
        prefix + "expert_feed_forward_length": (U32, D_FF),
        prefix + "attention.head_count": (U32, N_HEADS),
        prefix + "attention.head_count_kv": (U32, N_KV_HEADS),
        prefix + "attention.key_length": (U32, D_HEAD),
        prefix + "attention.value_length": (U32, D_HEAD),
        prefix + "attention.layer_norm_rms_epsilon": (F32_KEY, 1e-5),
        prefix + "attention.sliding_window": (U32, WINDOW),
        prefix + "expert_count": (U32, N_EXPERTS),
        prefix + "expert_used_count": (U32, N_USED),
        prefix + "rope.freq_base": (F32_KEY, 150000.0),
        prefix + "rope.scaling.type": (STRING, "yarn"),
        prefix + "rope.scaling.factor": (F32_KEY, 32.0),
        prefix + "rope.scaling.original_context_length": (U32, 4096),
        "tokenizer.ggml.model": (STRING, "gpt2"),
        "tokenizer.ggml.pre": (STRING, "gpt-4o"),
        "tokenizer.ggml.tokens": (ARRAY, (STRING, tokens)),
        "tokenizer.ggml.token_type": (ARRAY, (I32, types)),
        "tokenizer.ggml.merges": (ARRAY, (STRING, merges)),
        "tokenizer.ggml.bos_token_id": (U32, N_VOCAB - 1),
        "tokenizer.ggml.eos_token_id": (U32, N_VOCAB - 2),
    }


def value(kind, content):
    if kind == STRING:
        return string(content)
    if kind == ARRAY:
        inner, items = content
        head = struct.pack("<IQ", inner, len(items))
        return head + (b"".join(map(string, items)) if inner == STRING else array.array("i", items).tobytes())
    return struct.pack("<f" if kind == F32_KEY else "<I", content)


def tensors():
    """(name, type, shape outermost first)."""
    for name in ("token_embd", "output"):
        yield f"{name}.weight", Q8_0, (N_VOCAB, D)
    yield "output_norm.weight", F32, (D,)
    for layer in range(N_LAYERS):

        def named(name, kind, *shape):
            return f"blk.{layer}.{name}", kind, shape

        yield named("attn_norm.weight", F32, D)
        yield named("post_attention_norm.weight", F32, D)
        for name, n in ("attn_q", N_HEADS), ("attn_k", N_KV_HEADS), ("attn_v", N_KV_HEADS):
            yield named(f"{name}.weight", Q8_0, n * D_HEAD, D)
            yield named(f"{name}.bias", F32, n * D_HEAD)
        yield named("attn_output.weight", Q8_0, D, N_HEADS * D_HEAD)
        yield named("attn_output.bias", F32, D)
        yield named("attn_sinks.weight", F32, N_HEADS)
        yield named("ffn_gate_inp.weight", F32, N_EXPERTS, D)
        yield named("ffn_gate_inp.bias", F32, N_EXPERTS)
        for name, n_out, n_in in ("gate", D_FF, D), ("up", D_FF, D), ("down", D, D_FF):
            yield named(f"ffn_{name}_exps.weight", MXFP4, N_EXPERTS, n_out, n_in)
            yield named(f"ffn_{name}_exps.bias", F32, N_EXPERTS, n_out)


def n_bytes(kind, shape):
    numbers, size = BLOCK_BYTES[kind]
    count = 1
    for axis in shape:
        count *= axis
    return count // numbers * size


def pieces(draw):
    """About a megabyte of each type: weights of about 1 / √d_model."""
    q8 = b"".join(struct.pack("<e", 0.02 / 64) + draw.randbytes(32) for _ in range(30840))
    mxfp4 = b"".join(bytes([121]) + draw.randbytes(16) for _ in range(61680))
    floats = array.array("f", (draw.gauss(0.0, 0.05) for _ in range(262144))).tobytes()
    return {Q8_0: q8, MXFP4: mxfp4, F32: floats}


def main(path, is_sparse):
    listed = list(tensors())
    keys = metadata()
    header = b"GGUF" + struct.pack("<IQQ", 3, len(listed), len(keys))
    header += b"".join(string(key) + struct.pack("<I", kind) + value(kind, content) for key, (kind, content) in keys.items())
    offset = 0
    for name, kind, shape in listed:
        header += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), kind, offset)
        offset += -(-n_bytes(kind, shape) // ALIGNMENT) * ALIGNMENT
    header += bytes(-len(header) % ALIGNMENT)
    repeated = pieces(random.Random(1))
    ones = array.array("f", [1.0]).tobytes()
    with open(path, "wb") as file:
        file.write(header)
        for name, kind, shape in listed:
            size = n_bytes(kind, shape)
            if is_sparse and kind == MXFP4:
                file.seek(size, 1)
            else:
                piece = ones if "norm" in name else repeated[kind]
                whole, rest = divmod(size, len(piece))
                for _ in range(whole if len(piece) > 4 else 0):
                    file.write(piece)
                file.write(piece[:rest] if len(piece) > 4 else piece * whole)
            file.seek(-(-size // ALIGNMENT) * ALIGNMENT - size, 1)
        file.truncate(len(header) + offset)
    print(f"{path}: {len(header) + offset:,} bytes")


if __name__ == "__main__":
    arguments = [word for word in sys.argv[1:] if word != "--sparse"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    main(arguments[0], "--sparse" in sys.argv)
