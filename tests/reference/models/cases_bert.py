"""Cases of BERT, RoBERTa and DistilBERT."""

import numpy as np

import shapes
from case import Case
from twists import CAUSAL, NO_TYPES, setting, transposed, without


def bert(family, architecture, **changes):
    return {
        "architectures": [architecture],
        "attention_probs_dropout_prob": 0.1,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": 12,
        "initializer_range": 0.02,
        "intermediate_size": 19,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": 24,
        "model_type": family,
        "num_attention_heads": 3,
        "num_hidden_layers": 2,
        "pad_token_id": 0,
        "position_embedding_type": "absolute",
        "type_vocab_size": 2,
        "vocab_size": 45,
        **changes,
    }

CASES = [
    Case(
        "bert-pair",
        "a pair with token types, every key visible, names without `bert.`, pooler, I64 buffer `position_ids`",
        bert("bert", "BertModel", layer_norm_eps=0.01),
        shapes.bert,
        15,
        (
            NO_TYPES,
            CAUSAL,
            without("position_embeddings"),
            setting("gelu by tanh", hidden_act="gelu_new", least=1e-4),
            setting("epsilon 1e-12", layer_norm_eps=1e-12, least=1e-3),
        ),
        extras=lambda c, r: {"embeddings.position_ids": ("I64", np.arange(24)[None])},
        token_types=True,
    ),
    Case(
        "bert-mlm-gamma-beta",
        "`bert.` prefix, old names `LayerNorm.gamma` and `.beta`, masked-language head, next-sentence head to ignore",
        bert("bert", "BertForMaskedLM", num_attention_heads=4, intermediate_size=17),
        lambda c: shapes.bert(c, "bert.", head="bert"),
        13,
        (NO_TYPES, CAUSAL, without("predictions.bias"), without("predictions.transform.LayerNorm")),
        rename=lambda name: name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ),
        token_types=True,
    ),
    Case(
        "roberta-mlm",
        "positions from 2 on, one token type, `lm_head` with its own norm",
        bert(
            "roberta",
            "RobertaForMaskedLM",
            bos_token_id=0,
            eos_token_id=2,
            layer_norm_eps=1e-05,
            hidden_size=16,
            max_position_embeddings=19,
            num_attention_heads=4,
            pad_token_id=1,
            type_vocab_size=1,
        ),
        lambda c: shapes.bert(c, "roberta.", head="roberta"),
        17,
        (
            setting("positions from 0", pad_token_id=-1),
            setting("positions from 1", pad_token_id=0),
            without("token_type_embeddings"),
            CAUSAL,
        ),
        dtype="F16",
    ),
    Case(
        "distilbert-mlm",
        "its own names, no token types, `vocab_transform` and `vocab_projector`",
        {
            "activation": "gelu",
            "architectures": ["DistilBertForMaskedLM"],
            "attention_dropout": 0.1,
            "dim": 12,
            "dropout": 0.1,
            "hidden_dim": 19,
            "initializer_range": 0.02,
            "max_position_embeddings": 24,
            "model_type": "distilbert",
            "n_heads": 3,
            "n_layers": 2,
            "pad_token_id": 0,
            "qa_dropout": 0.1,
            "seq_classif_dropout": 0.2,
            "sinusoidal_pos_embds": False,
            "tie_weights_": True,
            "transformers_version": "4.10.0.dev0",
            "vocab_size": 43,
        },
        shapes.distilbert,
        14,
        (
            CAUSAL,
            without("position_embeddings"),
            transposed("q_lin.weight", "k_lin.weight"),
            setting("gelu by tanh", activation="gelu_new", least=1e-4),
        ),
    ),
]
