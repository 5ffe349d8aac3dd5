"""The tiny models that make_gguf.py writes."""

import from_gguf  # noqa: F401, I001  it finds the folder of the other models
import vocabularies

import case
import shapes

TEXTS = ["the cat sat", "the other mat", "then they met at the tree"]
WORDS = ["The CAT, sat!", "here, not there", "cats at  the mat.", "tést", "catalogue", ""]
ALL_BYTES = ["", " ", "The cat", "  two  spaces\n\nlines", "naïve café 🐱", "it's 12345 cats!", "<s>the"]


def spm(n):
    return vocabularies.SentencePiece(n)


def spm_with_bytes(n):
    return vocabularies.SentencePiece(n, byte_tokens=True)


def gemma_spm(n):
    return vocabularies.SentencePiece(n, gemma=True)


def bpe(pre, **options):
    return lambda n: vocabularies.BytePairs(n, pre, **options)


# (case of ../models, type of matrices, vocabulary, what it covers beside what the case does)
CONVERTED = [
    ("llama-mha-untied", "F32", spm, "rows of q and k paired as neighbours, output.weight"),
    ("llama-gqa-bias", "F32", None, "biases, those of q and k in the order of their rows; key_length"),
    ("llama-rope-linear", "F32", None, "rope.scaling.type linear"),
    ("llama-rope-llama3", "F32", bpe("llama-bpe"), "rope_freqs.weight: divisors of the frequencies"),
    ("llama-rope-yarn", "F32", None, "rope.scaling.type yarn"),
    ("llama-sharded-bf16", "BF16", spm, "BF16 matrices, float32 norms"),
    ("mistral-no-window", "BF16", spm, "Mistral is architecture llama"),
    ("qwen2-bias", "BF16", bpe("qwen2"), "halves paired: rows as they were; tied"),
    ("qwen3-qk-norm", "F32", bpe("qwen2"), "attn_q_norm, attn_k_norm"),
    ("gemma-mqa", "F32", gemma_spm, "norms with the 1 added"),
    ("phi3-window", "F32", spm, "attn_qkv, gate and up in ffn_up, a window in all layers"),
    ("phi3-longrope-short", "F32", None, "rope_factors_short.weight, attn_factor, a text within the original length"),
    ("phi3-longrope-long", "F32", None, "rope_factors_long.weight: the text is longer than the original length"),
    ("gpt2-tied", "F32", bpe("gpt-2"), "matrices transposed to [out, in], no output.weight"),
    ("gpt-neox-parallel", "F16", bpe("gpt-2"), "attn_qkv regrouped to all q, all k, all v; exact gelu"),
    ("gpt-neox-sequential", "F32", None, "use_parallel_residual false"),
    (
        "bert-pair",
        "F32",
        vocabularies.WordPiece,
        "attention.causal false, token types, exact gelu, norms after the sums",
    ),
    (
        "roberta-mlm",
        "F16",
        vocabularies.Unigram,
        "RoBERTa is architecture bert, positions from 0; no head; a vocabulary of XLM-R's kind",
    ),
]

GEMMA = {
    "hidden_act": case.REMOVED,
    "hidden_activation": "gelu_pytorch_tanh",
    "rms_norm_eps": 1e-06,
    "tie_word_embeddings": True,
}
GPT2 = {
    "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-05,
    "model_type": "gpt2",
    "n_embd": 12,
    "n_head": 3,
    "n_inner": None,
    "n_layer": 2,
    "n_positions": 40,
    "tie_word_embeddings": False,
    "vocab_size": 290,
}

# (name, config, shapes, tokens of the text, type, vocabulary, what it covers)
OWN = [
    (
        "gemma2-window",
        case.decoder(
            "gemma2",
            "Gemma2ForCausalLM",
            **GEMMA,
            attn_logit_softcapping=1.75,
            final_logit_softcapping=4.5,
            head_dim=6,
            num_hidden_layers=3,
            query_pre_attn_scalar=6,
            sliding_window=5,
        ),
        case.headless,
        13,
        "F16",
        gemma_spm,
        "the window is in layers 0 and 2, the soft caps are in the metadata, scores are scaled by key_length",
    ),
    (
        "gemma3-sixth-global",
        case.decoder(
            "gemma3_text",
            "Gemma3ForCausalLM",
            **GEMMA,
            head_dim=8,
            num_hidden_layers=7,
            num_key_value_heads=1,
            query_pre_attn_scalar=8,
            rope_scaling={"factor": 8.0, "rope_type": "linear"},
            rope_theta=1000000.0,
            sliding_window=5,
        ),
        case.headless,
        14,
        "F16",
        gemma_spm,
        "layer 5 is global with freq_base and its scaling, the others are local with base 10000 and none",
    ),
    (
        "gpt2-all-bytes",
        GPT2,
        lambda config: shapes.gpt2(config, head=True),
        12,
        "F16",
        bpe("gpt-2", all_bytes=True),
        "own output.weight, a vocabulary with all letters of bytes",
    ),
]

SMALL = {
    "token_embd": "Q8_0",
    "attn_q": "Q8_0",
    "attn_k": "Q5_0",
    "attn_v": "F16",
    "attn_output": "Q4_0",
    "ffn_gate": "Q5_0",
    "ffn_up": "Q8_0",
    "ffn_down": "F32",
}
# As llama.cpp mixes them: what has no rows of 256 falls back to types with blocks of 32.
K_MIX = {
    "token_embd": "Q6_K",
    "attn_q": "Q4_K",
    "attn_k": "Q4_K",
    "attn_v": "Q6_K",
    "attn_output": "Q5_0",
    "ffn_gate": "Q4_K",
    "ffn_up": "Q4_K",
    "ffn_down": "Q8_0",
}
# Every other type once; no file of llama.cpp mixes them like this.
REST = [
    ("one-of-each-k", ("Q2_K", "Q3_K", "Q5_K", "Q5_1", "Q4_K", "Q6_K", "Q4_1"), "Q3_K"),
    ("one-of-each-iq", ("IQ4_XS", "IQ3_S", "IQ2_S", "IQ4_NL", "IQ2_XS", "IQ3_XXS", "MXFP4"), "IQ2_XXS"),
    ("one-of-each-low", ("IQ1_M", "TQ2_0", "TQ1_0", "Q4_0", "IQ1_S", "TQ1_0", "BF16"), "IQ1_S"),
]
MATRICES = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")

# (name, (d, d_ff, heads, key/value heads, features of a head, tokens), types, file's type, vocabulary, what it covers)
QUANTISED = [
    (
        "llama-q8-q5",
        (32, 32, 4, 2, 8, 290),
        SMALL,
        "Q8_0",
        spm_with_bytes,
        "Q8_0, Q5_0, Q4_0, F16, F32; all byte tokens",
    ),
    (
        "llama-q4_k_m",
        (256, 32, 4, 2, 32, 276),
        K_MIX,
        "Q4_K",
        bpe("llama-bpe", all_bytes=True, special="<|begin_of_text|>"),
        "the mix of llama.cpp's Q4_K_M; Llama 3's vocabulary: whole words need no merges, BOS by default",
    ),
    *(
        (
            f"llama-{name}",
            (256, 32, 2, 1, 32, 40),
            {"token_embd": embedding, **dict(zip(MATRICES, kinds))},
            "IQ3_S",
            spm,
            "a type for each matrix: " + ", ".join((embedding, *kinds)),
        )
        for name, kinds, embedding in REST
    ),
]

SIZE = {"head_dim": 8, "hidden_size": 32, "intermediate_size": 64, "rope_scaling": None}
BERT = {
    "hidden_act": "gelu",
    "hidden_size": 32,
    "intermediate_size": 64,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 24,
    "model_type": "bert",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "type_vocab_size": 2,
    "vocab_size": 41,
}
NEOX = {
    "hidden_act": "gelu",
    "hidden_size": 32,
    "intermediate_size": 64,
    "layer_norm_eps": 1e-05,
    "max_position_embeddings": 24,
    "model_type": "gpt_neox",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "rotary_emb_base": 10000,
    "rotary_pct": 0.5,
    "use_parallel_residual": True,
    "vocab_size": 41,
}

# The other architectures with quantised matrices, whose rows a reader has to take apart or to put in order.
# (name, config, shapes, types by the tensor's name, the other matrices' type, what it covers)
QUANTISED_TOO = [
    (
        "phi3-quantised",
        case.decoder(
            "phi3",
            "Phi3ForCausalLM",
            **SIZE,
            original_max_position_embeddings=64,
            sliding_window=None,
            tie_word_embeddings=False,
        ),
        shapes.decoder,
        {"attn_qkv": "Q5_1", "ffn_up": "Q4_1", "output": "Q5_0"},
        "Q8_0",
        "attn_qkv of 4, 2 and 2 heads and ffn_up to be taken apart by rows of blocks",
    ),
    (
        "gpt2-quantised",
        {**GPT2, "n_embd": 32, "n_head": 4, "tie_word_embeddings": True, "vocab_size": 41},
        shapes.gpt2,
        {"attn_qkv": "Q5_0", "ffn_down": "IQ4_NL"},
        "Q8_0",
        "attn_qkv to be taken apart, biases",
    ),
    (
        "gptneox-quantised",
        NEOX,
        shapes.gpt_neox,
        {"attn_qkv": "Q4_1"},
        "Q8_0",
        "attn_qkv to be taken apart, RoPE on half of each head",
    ),
    (
        "qwen2-quantised",
        case.decoder("qwen2", "Qwen2ForCausalLM", **SIZE, tie_word_embeddings=False),
        shapes.decoder,
        {"attn_q": "Q4_0", "attn_k": "MXFP4"},
        "Q5_1",
        "rows of q and k as they were, biases, untied",
    ),
    (
        "gemma-quantised",
        case.decoder("gemma", "GemmaForCausalLM", **{**GEMMA, **SIZE}),
        case.headless,
        {"token_embd": "Q8_0"},
        "Q5_0",
        "embedding times the root of its length, and as the output without",
    ),
    (
        "bert-quantised",
        BERT,
        shapes.bert,
        {"attn_q": "Q5_0"},
        "Q8_0",
        "every key visible, positions and token types in float32",
    ),
]

EVERY_KIND = {
    "test.u8": ("u8", 255),
    "test.i8": ("i8", -128),
    "test.u16": ("u16", 65535),
    "test.i16": ("i16", -32768),
    "test.u32": ("u32", 2**32 - 1),
    "test.i32": ("i32", -(2**31)),
    "test.f32": ("f32", 1.5),
    "test.bool": ("bool", True),
    "test.string": ("string", 'naïve "cat"\n\0 🐱'),
    "test.u64": ("u64", 2**64 - 1),
    "test.i64": ("i64", -(2**63)),
    "test.f64": ("f64", 1e300),
    "test.string.empty": ("string", ""),
    "test.array.empty": ("[u32]", []),
    "test.array.u8": ("[u8]", [0, 127, 255]),
    "test.array.i16": ("[i16]", [-32768, -1, 32767]),
    "test.array.i64": ("[i64]", [-(2**63), 2**63 - 1]),
    "test.array.bool": ("[bool]", [True, False, True]),
    "test.array.f64": ("[f64]", [0.1, -0.0, 1e-300]),
    "test.array.string": ("[string]", ["a", "", "ç"]),
    "test.array.nested": ("[[i32]]", [[1, -2], [3], []]),
    "test.array.deep": ("[[[string]]]", [[["a", "b"], ["c"]], [["d"]]]),
}
