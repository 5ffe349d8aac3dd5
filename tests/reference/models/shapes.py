"""The tensors of each family: for a config, [(name, shape, kind)] in the order in which checkpoints have them.

kind says how random_tensor fills it: so that attention is far from uniform and logits are of the order of 1 to 10.
"""

import numpy as np

GAIN = {"matrix": 1.0, "sharp": 1.5, "sharper": 1.8}


def random_tensor(random, shape, kind):
    noise = random.standard_normal(shape)
    if kind in GAIN:  # [out, in]
        return GAIN[kind] * noise / np.sqrt(shape[-1])
    if kind in ("conv", "sharp conv"):  # [in, out]
        return GAIN["sharp" if kind == "sharp conv" else "matrix"] * noise / np.sqrt(shape[0])
    return {
        "embedding": 0.75 * noise,
        "small embedding": 0.45 * noise,
        "norm": 1 + 0.25 * noise,
        "norm from 0": 0.25 * noise,
        "sharp norm": 1.6 + 0.3 * noise,
        "sharp norm from 0": 0.3 + 0.3 * noise,
        "bias": 0.3 * noise,
    }[kind]


def biased(name, shape, kind="matrix", biases=True):
    n_out = shape[1] if "conv" in kind else shape[0]
    return [(name + ".weight", shape, kind)] + ([(name + ".bias", (n_out,), "bias")] if biases else [])


def layer_norm(name, d):
    return [(name + ".weight", (d,), "norm"), (name + ".bias", (d,), "bias")]


def gpt2(c, base="", head=False):
    d, d_ff = c["n_embd"], c["n_inner"] or 4 * c["n_embd"]
    yield base + "wte.weight", (c["vocab_size"], d), "embedding"
    yield base + "wpe.weight", (c["n_positions"], d), "embedding"
    for layer in range(c["n_layer"]):
        at = f"{base}h.{layer}."
        yield from layer_norm(at + "ln_1", d)
        yield from biased(at + "attn.c_attn", (d, 3 * d), "sharp conv")
        yield from biased(at + "attn.c_proj", (d, d), "conv")
        yield from layer_norm(at + "ln_2", d)
        yield from biased(at + "mlp.c_fc", (d, d_ff), "conv")
        yield from biased(at + "mlp.c_proj", (d_ff, d), "conv")
    yield from layer_norm(base + "ln_f", d)
    if head:
        yield "lm_head.weight", (c["vocab_size"], d), "embedding"


def gpt_neox(c):
    d, d_ff = c["hidden_size"], c["intermediate_size"]
    yield "gpt_neox.embed_in.weight", (c["vocab_size"], d), "embedding"
    for layer in range(c["num_hidden_layers"]):
        at = f"gpt_neox.layers.{layer}."
        yield from layer_norm(at + "input_layernorm", d)
        yield from layer_norm(at + "post_attention_layernorm", d)
        yield from biased(at + "attention.query_key_value", (3 * d, d), "sharp")
        yield from biased(at + "attention.dense", (d, d))
        yield from biased(at + "mlp.dense_h_to_4h", (d_ff, d))
        yield from biased(at + "mlp.dense_4h_to_h", (d, d_ff))
    yield from layer_norm("gpt_neox.final_layer_norm", d)
    yield "embed_out.weight", (c["vocab_size"], d), "embedding"


def decoder(c, base="model.", head=True):
    """Llama, Mistral, Qwen, Gemma, Phi-3."""
    c = c.get("text_config", c)
    family = c["model_type"]
    gemma, phi3 = family.startswith("gemma"), family == "phi3"
    d, d_ff = c["hidden_size"], c["intermediate_size"]
    n_heads = c["num_attention_heads"]
    n_kv_heads = c.get("num_key_value_heads", n_heads)
    d_head = c.get("head_dim") or d // n_heads
    attention_bias, mlp_bias = c.get("attention_bias", False), c.get("mlp_bias", False)
    norm = "norm from 0" if gemma else "norm"
    norms = ["input_layernorm", "post_attention_layernorm"]
    if family in ("gemma2", "gemma3_text"):
        norms += ["pre_feedforward_layernorm", "post_feedforward_layernorm"]
    yield base + "embed_tokens.weight", (c["vocab_size"], d), "small embedding" if gemma else "embedding"
    for layer in range(c["num_hidden_layers"]):
        at = f"{base}layers.{layer}."
        for name in norms:
            yield at + name + ".weight", (d,), norm
        if phi3:
            yield at + "self_attn.qkv_proj.weight", ((n_heads + 2 * n_kv_heads) * d_head, d), "sharp"
        else:
            for name, n in (("q", n_heads), ("k", n_kv_heads), ("v", n_kv_heads)):
                kind, biases = "matrix" if name == "v" else "sharp", attention_bias or family == "qwen2"
                yield from biased(f"{at}self_attn.{name}_proj", (n * d_head, d), kind, biases)
        yield from biased(at + "self_attn.o_proj", (d, n_heads * d_head), "matrix", attention_bias)
        if family in ("qwen3", "gemma3_text"):
            for name in "qk":
                yield f"{at}self_attn.{name}_norm.weight", (d_head,), "sharp " + norm
        if phi3:
            yield at + "mlp.gate_up_proj.weight", (2 * d_ff, d), "matrix"
        else:
            yield from biased(at + "mlp.gate_proj", (d_ff, d), "matrix", mlp_bias)
            yield from biased(at + "mlp.up_proj", (d_ff, d), "matrix", mlp_bias)
        yield from biased(at + "mlp.down_proj", (d, d_ff), "matrix", mlp_bias)
    yield base + "norm.weight", (d,), norm
    if head:
        yield "lm_head.weight", (c["vocab_size"], d), "embedding"


def bert(c, base="", head=None):
    """head: None, "bert" or "roberta". Both end with the pooler or a head that reads the hidden state."""
    d, d_ff, n_vocab = c["hidden_size"], c["intermediate_size"], c["vocab_size"]
    yield base + "embeddings.word_embeddings.weight", (n_vocab, d), "embedding"
    yield base + "embeddings.position_embeddings.weight", (c["max_position_embeddings"], d), "embedding"
    yield base + "embeddings.token_type_embeddings.weight", (c["type_vocab_size"], d), "embedding"
    yield from layer_norm(base + "embeddings.LayerNorm", d)
    for layer in range(c["num_hidden_layers"]):
        at = f"{base}encoder.layer.{layer}."
        for name in ("query", "key", "value"):
            yield from biased(at + "attention.self." + name, (d, d), "matrix" if name == "value" else "sharper")
        yield from biased(at + "attention.output.dense", (d, d))
        yield from layer_norm(at + "attention.output.LayerNorm", d)
        yield from biased(at + "intermediate.dense", (d_ff, d))
        yield from biased(at + "output.dense", (d, d_ff))
        yield from layer_norm(at + "output.LayerNorm", d)
    if head != "roberta":
        yield from biased(base + "pooler.dense", (d, d))
    if head == "bert":
        yield "cls.predictions.bias", (n_vocab,), "bias"
        yield from biased("cls.predictions.transform.dense", (d, d))
        yield from layer_norm("cls.predictions.transform.LayerNorm", d)
        yield from biased("cls.seq_relationship", (2, d))
    if head == "roberta":
        yield "lm_head.bias", (n_vocab,), "bias"
        yield from biased("lm_head.dense", (d, d))
        yield from layer_norm("lm_head.layer_norm", d)


def distilbert(c):
    d, d_ff, n_vocab = c["dim"], c["hidden_dim"], c["vocab_size"]
    base = "distilbert."
    yield base + "embeddings.word_embeddings.weight", (n_vocab, d), "embedding"
    yield base + "embeddings.position_embeddings.weight", (c["max_position_embeddings"], d), "embedding"
    yield from layer_norm(base + "embeddings.LayerNorm", d)
    for layer in range(c["n_layers"]):
        at = f"{base}transformer.layer.{layer}."
        for name in ("q_lin", "k_lin", "v_lin", "out_lin"):
            yield from biased(at + "attention." + name, (d, d), "sharper" if name[0] in "qk" else "matrix")
        yield from layer_norm(at + "sa_layer_norm", d)
        yield from biased(at + "ffn.lin1", (d_ff, d))
        yield from biased(at + "ffn.lin2", (d, d_ff))
        yield from layer_norm(at + "output_layer_norm", d)
    yield from biased("vocab_transform", (d, d))
    yield from layer_norm("vocab_layer_norm", d)
    yield "vocab_projector.bias", (n_vocab,), "bias"
