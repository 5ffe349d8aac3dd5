#!/usr/bin/env python3
"""Makes a model by hand whose cross-attention aligns words: `alignment.py FOLDER`. Needs no packages.

An encoder-decoder of T5's form whose weights come from a small dictionary, not from training: a token
has a direction for what it means, and a target token looks at the source tokens that mean the same.
It translates nothing. Then

    attnviz -m FOLDER "The agreement on the European Economic Area was signed in August 1992 ." \\
        --target "L' accord sur la zone économique européenne a été signé en août 1992 ." \\
        --head 0.0 --merge words --no-special -o alignment.png
"""

import json
import math
import pathlib
import struct
import sys

# What tokens mean: pieces of one word mean the same, in both languages.
MEANINGS = {
    "the": ["▁The", "▁the", "▁L'", "▁la", "▁le", "▁Le"],
    "agreement": ["▁agreement", "▁accord"],
    "on": ["▁on", "▁sur"],
    "European": ["▁European", "▁europé", "enne"],
    "Economic": ["▁Eco", "nomic", "▁éco", "nomique"],
    "Area": ["▁Area", "▁zone"],
    "was": ["▁was", "▁a", "▁été"],
    "signed": ["▁signed", "▁signé"],
    "in": ["▁in", "▁en"],
    "August": ["▁August", "▁août"],
    "1992": ["▁1992"],
    "cat": ["▁cat", "▁chat"],
    "sat": ["▁sat", "▁dort"],
    "end": ["▁."],
}
SPECIAL = ["<pad>", "</s>", "<unk>"]
MATCH = {0: 5.0, 1: 2.5}  # by head: the score of two tokens that mean the same; others have 0


def tokenizer(pieces):
    vocabulary = [[piece, -1.0 - 0.01 * i] for i, piece in enumerate(pieces)]
    space = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    end = {"id": "</s>", "ids": [1], "tokens": ["</s>"]}
    first, second = {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}
    close = {"SpecialToken": {"id": "</s>", "type_id": 0}}
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": i, "content": name, "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": True}
            for i, name in enumerate(SPECIAL)
        ],
        "normalizer": None,
        "pre_tokenizer": space,
        "post_processor": {"type": "TemplateProcessing", "single": [first, close],
                           "pair": [first, close, second, close],
                           "special_tokens": {"</s>": end}},
        "decoder": space,
        "model": {"type": "Unigram", "unk_id": 2, "vocab": vocabulary},
    }


def write_safetensors(path, tensors):
    header, body = {}, b""
    for name, rows in tensors.items():
        shape = [len(rows)] if isinstance(rows[0], float) else [len(rows), len(rows[0])]
        numbers = rows if len(shape) == 1 else [number for row in rows for number in row]
        data = struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def diagonal(n, of_head):
    """[heads · n, n]: for each head a multiple of the identity."""
    return [[of_head(head) if row == column else 0.0 for column in range(n)] for head in MATCH for row in range(n)]


def make(folder):
    directions = ["special", *MEANINGS]
    d, n_heads = len(directions), len(MATCH)
    pieces = SPECIAL + [piece for tokens in MEANINGS.values() for piece in tokens]
    meaning = {piece: name for name, tokens in MEANINGS.items() for piece in tokens}
    one_hot = [[1.0 if meaning.get(piece, "special") == name else 0.0 for name in directions] for piece in pieces]
    nothing, wide = [[0.0] * d for _ in range(n_heads * d)], [[0.0] * (n_heads * d) for _ in range(d)]
    ones, buckets = [1.0] * d, [[0.0] * n_heads for _ in range(32)]
    tensors = {"shared.weight": one_hot}
    for stack, last in ("encoder", 1), ("decoder", 2):
        for part in range(last + 1):
            tensors[f"{stack}.block.0.layer.{part}.layer_norm.weight"] = ones
        attention = f"{stack}.block.0.layer.0.SelfAttention."
        tensors |= {attention + "q.weight": nothing, attention + "k.weight": nothing, attention + "v.weight": nothing,
                    attention + "o.weight": wide, attention + "relative_attention_bias.weight": buckets,
                    f"{stack}.block.0.layer.{last}.DenseReluDense.wi.weight": [[0.0] * d],
                    f"{stack}.block.0.layer.{last}.DenseReluDense.wo.weight": [[0.0]] * d,
                    f"{stack}.final_layer_norm.weight": ones}
    # Normed, a token's only number is √d: the product of two that mean the same is d.
    cross = "decoder.block.0.layer.1.EncDecAttention."
    side = lambda head: math.sqrt(MATCH[head] / d)
    tensors |= {cross + "q.weight": diagonal(d, side), cross + "k.weight": diagonal(d, side),
                cross + "v.weight": nothing, cross + "o.weight": wide}
    config = {"architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "is_encoder_decoder": True,
              "d_model": d, "d_kv": d, "d_ff": 1, "num_heads": n_heads, "num_layers": 1, "num_decoder_layers": 1,
              "vocab_size": len(pieces), "feed_forward_proj": "relu", "relative_attention_num_buckets": 32,
              "relative_attention_max_distance": 128, "layer_norm_epsilon": 1e-6, "tie_word_embeddings": True,
              "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(pieces), ensure_ascii=False, indent=1), encoding="utf-8")
    write_safetensors(folder / "model.safetensors", tensors)


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))
