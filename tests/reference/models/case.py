"""What a case is, and the config that most decoders share."""

import dataclasses

import shapes
from twists import REMOVED, setting


@dataclasses.dataclass
class Case:
    name: str
    covers: str
    config: dict
    shapes: object  # config to [(name, shape, kind)]
    n: int  # tokens
    twists: tuple
    dtype: str = "F32"
    shards: int = 1
    extras: object = None  # (config, random) to {name: (type, array)}: tensors to be ignored
    rename: object = str  # name in the file
    token_types: bool = False


def decoder(family, architecture, **changes):
    config = {
        "architectures": [architecture],
        "attention_dropout": 0.0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "hidden_act": "silu",
        "hidden_size": 10,
        "initializer_range": 0.02,
        "intermediate_size": 13,
        "max_position_embeddings": 64,
        "model_type": family,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "num_key_value_heads": 2,
        "rms_norm_eps": 1e-05,
        "rope_theta": 10000.0,
        "tie_word_embeddings": True,
        "torch_dtype": "float32",
        "use_cache": True,
        "vocab_size": 41,
        **changes,
    }
    return {key: value for key, value in config.items() if value is not REMOVED}


def headless(config):
    return shapes.decoder(config, head=False)


NO_SCALING = setting("no RoPE scaling", rope_scaling=None)
