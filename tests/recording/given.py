"""The files that the command lines of cases.txt name: copies from the source tree, and made ones.

Copies, so that a program that writes where it must not spoils no source tree. `shared`, which may
be missing, is a link.
"""

import json
import os
import pathlib
import re
import shutil
import struct

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SHARED = SOURCE.parent / "shared" / "reference"

FOLDERS = ("samples", "models", "gguf", "bad", "made", "texts", "arrays", "documents", "weights",
           "tokenizers", "fonts", "homes", "shared")


def make(folder):
    """Writes all of it into `folder`, which is empty."""
    copy_references(folder)
    write_bad_ggufs(folder)
    write_texts(folder / "texts")
    write_arrays(folder / "arrays")
    write_documents(folder / "documents")
    write_weights(folder / "weights")
    write_tokenizers(folder / "tokenizers")
    write_fonts(folder / "fonts")
    write_models(folder)
    write_homes(folder)
    if SHARED.is_dir():
        (folder / "shared").symlink_to(SHARED)


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def write_json(path, value):
    write(path, json.dumps(value, ensure_ascii=False))


def copy_references(folder):
    tests = SOURCE / "tests" / "reference"
    for path in sorted((SOURCE / "samples").glob("*.json")):
        write(folder / "samples" / path.name, path.read_bytes())
    for path in sorted((tests / "models").glob("*/*")):
        if path.parent.name != "__pycache__" and not path.name.startswith("expected"):
            write(folder / "models" / path.parent.name / path.name, path.read_bytes())
    for path in sorted((tests / "gguf" / "models").glob("*.gguf")):
        write(folder / "gguf" / path.name, path.read_bytes())
    write(folder / "weights" / "torch-mha.json", (tests / "torch_mha.json").read_bytes())


def slug(words):
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def write_bad_ggufs(folder):
    index = SOURCE / "tests" / "reference" / "gguf" / "bad" / "index.json"
    for number, fault in enumerate(json.loads(index.read_text(encoding="utf-8"))):
        base = (folder / "gguf" / fault["base"]).read_bytes()
        parts, at = [], 0
        for offset, count, hexadecimal in fault["edits"]:
            parts += [base[at:offset], bytes.fromhex(hexadecimal)]
            at = offset + count
        name = f"{number:02}-{slug(fault['what'])[:40].strip('-')}.gguf"
        write(folder / "bad" / name, b"".join(parts) + base[at:])
    base = (folder / "gguf" / "llama-q8-q5.gguf").read_bytes()
    for name, data in {"empty": b"", "magic": base[:4], "header": base[:24],
                       "half": base[:len(base) // 2], "all-but-one": base[:-1],
                       "version-99": base[:4] + b"\x63" + base[5:]}.items():
        write(folder / "bad" / f"cut-{name}.gguf", data)


SENTENCES = ("The cat sat on the mat because it was tired.", "The dog chased the cat.",
             "Harry Potter is a wizard.", "The boy saw the dog and it ran away.")


def numbered_words(count):
    return " ".join(f"word{i % 97}" for i in range(count))


def write_texts(folder):
    controls = b"a \x1b[31mred\x07 \xe2\x80\xae \xff b"
    texts = {
        "lines": "The cat sat\nThe dog chased the cat\n",
        "lines-blank": "The cat\n\n  \nsat\r\non the mat",
        "lines-long": "The cat\n\n" + "the cat " * 300 + "\nsat\n",
        "lines-none": "\n  \n\n",
        "lines-cat": "a cat\na dog\n",
        "lines-many": "The cat sat on the mat\n" * 20000,
        "one": "The cat sat on the mat",
        "story": " ".join(SENTENCES * 2),
        "demo-long": " ".join(SENTENCES[i % 4] for i in range(24)),
        "too-long": " ".join(SENTENCES[i % 4] for i in range(60)),
        "words-40": numbered_words(40),
        "words-300": numbered_words(300),
        "words-1300": numbered_words(1300),
        "words-2000": numbered_words(2000),
        "words-200000": numbered_words(200000),
        "paragraphs": "The cat sat.\n\n\tThe dog ran.\nIt was tired.\n",
        "empty": "",
        "blank": " \t\r\n\v\f \n",
        "mark": b"\xef\xbb\xbfThe cat sat\n",
        "returns": "The cat\r\nsat\r\n",
        "controls": controls,
        "nul": b"The\0cat sat",
        "json-lines": '"The cat sat"\n{"text": "The dog ran", "label": 1}\n{"ids": [5, 17, 3]}\n',
        "json-lines-pair": '{"text": "the cat", "pair": "sat"}\n"the mat"\n',
    }
    for name, text in texts.items():
        write(folder / f"{name}.txt", text)
    faults = ['{"text": ', "5", "{}", '{"text": 5}', '{"text": "a", "ids": [1]}', '{"ids": []}',
              '{"ids": {"a": 1}}', '{"ids": [1, -2]}', '{"ids": [4294967296]}', '{"ids": [99999]}',
              '{"text": "a", "pair": "b"}', '{"text": "a", "pair": 5}',
              '{"ids": [1], "pair": "b"}', '"\xff"']
    for number, line in enumerate(faults):
        write(folder / "json-lines-bad" / f"{number:02}.txt",
              b'"fine"\n' + line.encode("latin-1"))


def npy(kind, shape, numbers, order=False, version=1, header=None):
    """`numbers`: of struct's letter behind the byte order in `kind`."""
    names = {"f": "f4", "d": "f8", "e": "f2", "i": "i4", "B": "u1"}
    text = header or (f"{{'descr': '{kind[0]}{names[kind[1]]}', 'fortran_order': {order}, "
                      f"'shape': ({', '.join(map(str, shape))},), }}")
    text = text.replace("(,)", "()") + "\n"
    size = struct.pack("<H" if version == 1 else "<I", len(text))
    data = struct.pack(kind[0] + str(len(numbers)) + kind[1], *numbers)
    return b"\x93NUMPY" + bytes([version, 0]) + size + text.encode() + data


def attention(heads, queries, keys, causal=True):
    """Rows that sum to 1; what else they say does not matter."""
    numbers = []
    for head in range(heads):
        for query in range(queries):
            row = [0 if causal and key > query else 1 + (3 * key + 5 * query + 7 * head) % 8
                   for key in range(keys)]
            numbers += [weight / sum(row) for weight in row]
    return numbers


def nested(numbers, shape):
    if len(shape) == 1:
        return numbers
    size = len(numbers) // shape[0]
    return [nested(numbers[i * size:(i + 1) * size], shape[1:]) for i in range(shape[0])]


def write_arrays(folder):
    square = attention(1, 4, 4)
    good = {
        "q-k": npy("<f", (4, 4), square),
        "head-q-k": npy("<d", (3, 4, 4), attention(3, 4, 4)),
        "layer-head-q-k": npy("<f", (2, 3, 5, 5), attention(6, 5, 5)),
        "overview": npy("<f", (3, 6, 6, 6), attention(18, 6, 6)),
        "cross": npy("<f", (3, 5), attention(1, 3, 5, causal=False)),
        "long": npy("<f", (150, 150), attention(1, 150, 150)),
        "half": npy("<e", (4, 4), square),
        "big-endian": npy(">f", (4, 4), square),
        "fortran": npy("<f", (4, 4), square, order=True),
        "version-2": npy("<f", (4, 4), square, version=2),
        "one": npy("<f", (1, 1), [1.0]),
        "sums": npy("<f", (2, 2), [0.5, 0.25, 0.5, 0.5]),
        "scores": npy("<f", (3, 3), [-3, 1, 0, 2, 0, -1, 0.5, 4, 8]),
        "nan": npy("<f", (1, 2), [float("nan"), 1.0]),
        "infinity": npy("<f", (1, 2), [float("inf"), 1.0]),
        "zeros": npy("<f", (2, 2), [0.0] * 4),
        "integers": npy("<i", (2, 2), [1, 0, 0, 1]),
        "bytes": npy("<B", (2, 2), [1, 0, 0, 1]),
    }
    bad = {
        "vector": npy("<f", (4,), [0.25] * 4),
        "five-axes": npy("<f", (1, 1, 1, 2, 2), [1, 0, 0.5, 0.5]),
        "no-tokens": npy("<f", (0, 0), []),
        "cut": npy("<f", (4, 4), square)[:-7],
        "too-much": npy("<f", (4, 4), square) + b"....",
        "header-cut": npy("<f", (4, 4), square)[:30],
        "begin": b"\x93NUMPY\x01",
        "version-9": b"\x93NUMPY\x09\x00" + npy("<f", (4, 4), square)[8:],
        "object": npy("<f", (), [], header="{'descr': '|O', 'fortran_order': False, "
                                           "'shape': (2, 2), }"),
        "complex": npy("<f", (), [1] * 8, header="{'descr': '<c8', 'fortran_order': False, "
                                                 "'shape': (2, 2), }"),
        "huge-shape": npy("<f", (), [1], header="{'descr': '<f4', 'fortran_order': False, "
                                                "'shape': (4294967296, 4294967296), }"),
        "other-key": npy("<f", (), [1], header="{'descr': '<f4', 'order': False, "
                                               "'shape': (1, 1), }"),
        "no-shape": npy("<f", (), [1], header="{'descr': '<f4', 'fortran_order': False, }"),
        "archive": b"PK\x03\x04" + bytes(30),
    }
    for name, data in good.items():
        write(folder / "good" / f"{name}.npy", data)
    for name, data in bad.items():
        write(folder / "bad" / f"{name}.npy", data)


def write_documents(folder):
    """Nested lists and attnviz.attention/1, for `render`."""
    good = {
        "list-2": nested(attention(1, 3, 3), (3, 3)),
        "list-3": nested(attention(2, 3, 3), (2, 3, 3)),
        "list-4": nested(attention(6, 3, 3), (2, 3, 3, 3)),
        "cross": [[0.5, 0.25, 0.25], [0.1, 0.8, 0.1]],
        "scores": [[-3, 1], [2, 0]],
        "sums": [[0.5, 0.25], [0.5, 0.5]],
    }
    one = [[[[1, 0], [0.5, 0.5]]]]
    document = {"schema": "attnviz.attention/1", "tokens": ["le", "chat"], "attention": one}
    good |= {
        "small": document,
        "keys": document | {"key_tokens": ["the", "cat"], "mask": "none"},
        "selected": {"tokens": ["a", "b"],
                     "selected": [{"layer": 0, "head": 1, "attention": one[0][0]},
                                  {"layer": 2, "head": 0, "attention": one[0][0]}]},
        "noted": document | {"notes": ["a note of another tool"], "model": {"name": "mine"},
                             "mask": "window:1", "temperature": 2.0, "layers": [3], "heads": [7]},
    }
    bad = {
        "no-rows": [], "no-numbers": [[]], "null": None, "word": "attention", "object": {},
        "ragged": [[1, 2], [3]], "words": [["a", "b"]], "five": [one],
        "different-heads": [[[1]], [[1, 0], [0, 1]]], "no-layers": {"attention": []},
        "heads-missing": [[[[1]]], [[[1]], [[1]]]],
        "range": document | {"drawing": {"range": [1]}},
        "notes": document | {"notes": "one"},
        "schema": document | {"schema": "attnviz.attention/2"},
        "weights": document | {"schema": "attnviz.weights/1"},
        "tokens": document | {"tokens": ["one"]},
        "token-types": document | {"tokens": [1, 2]},
        "ids": document | {"token_ids": [1]},
        "heads": document | {"heads": [1, 1]},
        "layers": document | {"layers": [0, 1]},
        "mask": document | {"mask": "casual"},
        "temperature": document | {"temperature": "hot"},
        "average": document | {"average": "heads"},
        "merged": document | {"merged": "sentences"},
        "marks": document | {"marks": {"special": [9]}},
        "drawing": document | {"drawing": {"scale": "cubic"}},
        "selected-none": {"tokens": ["a"], "selected": []},
        "selected-twice": {"tokens": ["a"],
                           "selected": [{"layer": 0, "head": 0, "attention": [[1]]}] * 2},
    }
    for name, value in good.items():
        write_json(folder / "good" / f"{name}.json", value)
    for name, value in bad.items():
        write_json(folder / "bad" / f"{name}.json", value)
    write(folder / "bad" / "not-json.json", "[[1, 0], [0, 1]")
    write(folder / "bad" / "nan.json", "[[NaN, 0], [0, 1]]")
    write(folder / "bad" / "empty.json", "")
    lines = json.dumps(document) + "\n"
    write(folder / "good" / "lines.json", lines + lines)
    write(folder / "bad" / "second-line.json", lines + '{"tokens": []}\n')


VALID_WEIGHTS = """{
  "schema": "attnviz.weights/1",
  "d_model": 2,
  "mask": "causal",
  "embeddings": {"cat": [1, 0], "sat": [0, 1]},
  "layers": [
    {
      "heads": [
        {"W_Q": [[1, 2], [3, 4]], "W_K": [[5, 6], [7, 8]], "W_V": [[9], [10]]},
        {"W_Q": [[1, 0], [3, 1]], "W_K": [[5, 6], [7, 8]], "W_V": [[9, 1], [1, 2]]}
      ],
      "W_O": [[1, 0], [0, 1], [1, 1]]
    },
    {
      "heads": [{"W_Q": [[1], [2]], "W_K": [[3], [4]], "W_V": [[5], [6]]}]
    }
  ]
}
"""


def write_weights(folder):
    def edited(old, new):
        assert old in VALID_WEIGHTS
        return VALID_WEIGHTS.replace(old, new, 1)

    wide = '"d_model": 2,'
    good = {
        "small": VALID_WEIGHTS,
        "random": edited(wide, wide + ' "random": true,'),
        "chars": edited(wide, wide + ' "tokenizer": "chars",'),
        "refuses-unknown": edited(wide, wide + ' "unknown": "error",'),
        "no-residual": edited(wide, wide + ' "residual": false,'),
        "residual": edited(wide, wide + ' "residual": true, "positions": "rope",'),
        "alibi": edited(wide, wide + ' "positions": "alibi", "residual": true,').replace(
            "causal", "strided:2"),
        "sinusoidal": edited(wide, wide + ' "positions": "sinusoidal",').replace(
            "causal", "block:2"),
        "one-number": """{"d_model": 1, "embeddings": {"cat": [1], "sat": [-1]}, "residual": true,
            "layers": [{"heads": [{"W_Q": [[1]], "W_K": [[1]], "W_V": [[1]], "W_O": [[1]]}]}]}""",
        "equal": """{"d_model": 1, "embeddings": {"cat": [1], "sat": [1]},
            "layers": [{"heads": [{"W_Q": [[1, 1]], "W_K": [[1, 1]], "W_V": [[0]]},
                                  {"W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}]}]}""",
        "inputs": edited('"embeddings": {"cat": [1, 0], "sat": [0, 1]}',
                         '"inputs": [[1, 0], [0, 1], [1, 1]]'),
        "no-embeddings": edited('"embeddings": {"cat": [1, 0], "sat": [0, 1]},', ""),
        # q·k is 2, 4, 2 for "sat": weights of 1, e and 1 over their sum.
        "by-hand": """{"schema": "attnviz.weights/1", "d_model": 3,
            "inputs": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
            "layers": [{"heads": [{"W_Q": [[0, 0, 0, 0], [0, 0, 0, 0], [2, 0, 0, 2]],
                                   "W_K": [[1, 0, 0, 0], [1, 0, 0, 1], [0, 0, 0, 1]],
                                   "W_V": [[1, 0], [0, 2], [4, 0]],
                                   "W_O": [[1, 0, 0], [0, 0.5, 0]]}]}]}""",
    }
    bad = {
        "empty": "", "zip": b"PK\x03\x04 zip", "list": "[]", "null": "null", "object": "{}",
        "cut": VALID_WEIGHTS[:200], "garbage": VALID_WEIGHTS + "garbage",
        "deep": "[" * 100000,
        "nan": edited("[1, 2]", "[1, NaN]"),
        "too-large": edited("[1, 2]", "[1, 1e999]"),
        "comma": edited("[1, 2]", "[1, 2,]"),
        "quotes": edited('"causal"', "'causal'"),
        "utf-8": VALID_WEIGHTS.encode().replace(b"causal", b"ca\xffusal"),
        "utf-16": VALID_WEIGHTS.encode("utf-16"),
        "key": edited('"mask"', '"maks"'),
        "head-key": edited('"W_Q"', '"W_q"'),
        "key-twice": edited(wide, wide + wide),
        "no-key": edited('"W_K": [[5, 6], [7, 8]], ', ""),
        "schema": edited("weights/1", "weights/2"),
        "document": '{"schema": "attnviz.attention/1", "tokens": []}',
        "mask": edited("causal", "casual"),
        "positions": edited(wide, wide + ' "positions": "sinusoid",'),
        "tokenizer": edited(wide, wide + ' "tokenizer": "word",'),
        "width": edited(wide, '"d_model": 0,'),
        "ragged": edited("[7, 8]", "[7]"),
        "rows": edited("[[1, 2], [3, 4]]", "[[1, 2]]"),
        "output": edited("[[1, 0], [0, 1], [1, 1]]", "[[1, 0], [0, 1]]"),
        "no-output": edited(',\n      "W_O": [[1, 0], [0, 1], [1, 1]]', ""),
        "no-layers": '{"layers": []}',
        "overflow": edited("[[1, 2], [3, 4]]", "[[3e38, 3e38], [3e38, 3e38]]"),
        "both-inputs": edited(wide, wide + ' "inputs": [[1, 0]],'),
        "embedding": edited('"sat": [0, 1]', '"the cat": [0]'),
        "control": edited('"sat"', '"\\u001b[31m"').replace("[0, 1]}", "[0]}"),
    }
    for name, text in good.items():
        write(folder / "good" / f"{name}.json", text)
    for name, text in bad.items():
        write(folder / "bad" / f"{name}.json", text)


def tokenizer(begins_and_ends):
    """As Hugging Face writes it: ids in the order of these words."""
    words = ("[CLS]", "[SEP]", "[UNK]", "[MASK]", "the", "cat", "sat", "on", "a", "mat", "dog",
             "ran", "The", ".")

    def special(name, segment=0):
        return {"SpecialToken": {"id": name, "type_id": segment}}

    def sequence(name, segment):
        return {"Sequence": {"id": name, "type_id": segment}}

    ends = {"type": "TemplateProcessing",
            "single": [special("[CLS]"), sequence("A", 0), special("[SEP]")],
            "pair": [special("[CLS]"), sequence("A", 0), special("[SEP]"), sequence("B", 1),
                     special("[SEP]", 1)],
            "special_tokens": {name: {"id": name, "ids": [i], "tokens": [name]}
                               for i, name in enumerate(words[:2])}}
    added = [{"id": i, "content": name, "single_word": False, "lstrip": False, "rstrip": False,
              "special": True, "normalized": False} for i, name in enumerate(words[:4])]
    return {"version": "1.0", "added_tokens": added, "normalizer": None,
            "pre_tokenizer": {"type": "Whitespace"},
            "post_processor": ends if begins_and_ends else None, "decoder": None,
            "model": {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(words)},
                      "unk_token": "[UNK]"}}


def write_tokenizers(folder):
    write_json(folder / "bert.json", tokenizer(True))
    write_json(folder / "plain.json", tokenizer(False))
    write(folder / "broken.json", '{"version": ')
    write(folder / "empty.json", "{}")
    write_json(folder / "unknown.json", tokenizer(False) | {"model": {"type": "Telepathy"}})
    write(folder / "broken.model", b"\x0a\x05\x00")


def write_fonts(folder):
    write(folder / "text.ttf", "this is no font")
    write(folder / "empty.ttf", "")
    write(folder / "cut.ttf", b"\0\1\0\0\0\x10")
    write(folder / "packed.woff2", b"wOF2" + bytes(60))
    write(folder / "collection.ttc", b"ttcf" + bytes(4))


def write_models(folder):
    """Folders as Hugging Face's tools write them, whole and broken, and folders of GGUF files."""
    models, made = folder / "models", folder / "made"
    for name, base, begins_and_ends in (("bert", "bert-pair", True),
                                        ("masked", "bert-mlm-gamma-beta", True),
                                        ("gpt2", "gpt2-tied", False),
                                        ("qwen3", "qwen3-qk-norm", False),
                                        ("gemma2", "gemma2-softcap-window", False)):
        shutil.copytree(models / base, made / name)
        write_json(made / name / "tokenizer.json", tokenizer(begins_and_ends))

    gpt2 = models / "gpt2-tied"
    config = json.loads((gpt2 / "config.json").read_text(encoding="utf-8"))
    changes = {"bad-family": {"model_type": "mamba"}, "bad-heads": {"n_head": 0},
               "bad-width": {"n_embd": 13}, "bad-kind": {"n_layer": "two"},
               "bad-layers": {"n_layer": 3}, "bad-epsilon": {"layer_norm_epsilon": -1},
               "bad-activation": {"activation_function": "gelu_newer"},
               "bad-quantised": {"quantization_config": {"quant_method": "gptq"}}}
    for name, change in changes.items():
        shutil.copytree(gpt2, made / name)
        write_json(made / name / "config.json", config | change)
    weights = (gpt2 / "model.safetensors").read_bytes()
    broken = {"no-config": {"model.safetensors": weights},
              "no-weights": {"config.json": json.dumps(config)},
              "bad-config": {"config.json": "{", "model.safetensors": weights},
              "bad-weights": {"config.json": json.dumps(config),
                              "model.safetensors": weights[:3000]},
              "bad-tokenizer": {"config.json": json.dumps(config), "model.safetensors": weights,
                                "tokenizer.json": "{"},
              "no-shard": {"config.json": json.dumps(config), "model.safetensors.index.json":
                           '{"weight_map": {"wte.weight": "model-00001-of-00002.safetensors"}}'}}
    for name, files in broken.items():
        for file, content in files.items():
            write(made / name / file, content)
    header = '{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}'
    for name, data in {"short": b"abc", "huge": struct.pack("<Q", 1 << 60) + b"{}",
                       "list": struct.pack("<Q", 2) + b"[]",
                       "cut": struct.pack("<Q", len(header)) + header.encode()}.items():
        write(made / f"bad-tensors-{name}" / "config.json", json.dumps(config))
        write(made / f"bad-tensors-{name}" / "model.safetensors", data)
    (made / "no-files").mkdir()

    gguf = {name: (folder / "gguf" / f"{name}.gguf").read_bytes()
            for name in ("llama-q8-q5", "llama-q4_k_m", "qwen2-bias")}
    write(made / "one-gguf" / "m.gguf", gguf["qwen2-bias"])
    for name in ("m.Q5_0.gguf", "m.f16.gguf"):
        write(made / "two-ggufs" / name, gguf["llama-q8-q5"])
        write(made / "three-ggufs" / name, gguf["llama-q8-q5"])
    write(made / "three-ggufs" / "m.Q4_K_M.gguf", gguf["llama-q4_k_m"])


def write_homes(folder):
    """Home folders with what other programs have downloaded."""
    homes = folder / "homes"
    for name in ("empty", "broken", "several"):
        (homes / name).mkdir(parents=True)
    gguf = {name: (folder / "gguf" / f"{name}.gguf").read_bytes()
            for name in ("llama-q8-q5", "llama-q4_k_m", "qwen2-bias", "gpt2-tied")}

    def layer(digest, kind="model"):
        return {"mediaType": f"application/vnd.ollama.image.{kind}", "digest": digest}

    def manifest(home, name, *layers, config=None):
        value = {"schemaVersion": 2, "layers": layers} | ({"config": config} if config else {})
        write_json(home / ".ollama/models/manifests" / name, value)

    def digest(digit):
        return "sha256:" + digit * 64

    home = homes / "several"
    for digit, model in zip("1234", gguf.values()):
        write(home / f".ollama/models/blobs/sha256-{digit * 64}", model)
    library = "registry.ollama.ai/library"
    manifest(home, f"{library}/tiny/latest", layer(digest("a"), "license"), layer(digest("1")))
    manifest(home, f"{library}/tiny/1b", layer(digest("2")))
    manifest(home, "registry.ollama.ai/user/tiny/latest", layer(digest("3")))
    manifest(home, "hf.co/user/repo/Q8_0", layer(digest("4")))
    lm_studio = home / ".lmstudio/models"
    write(lm_studio / "pub/repo-GGUF/repo-Q8_0.gguf", gguf["llama-q8-q5"])
    write(lm_studio / "pub/repo-GGUF/repo-Q4_K_M.gguf", gguf["llama-q4_k_m"])
    write(lm_studio / "pub/repo-GGUF/mmproj-repo-f16.gguf", "no model")
    write(lm_studio / "publisher-of-models/a-model-with-a-rather-long-name-GGUF"
          "/a-model-with-a-rather-long-name-Q4_K_M.gguf", gguf["qwen2-bias"])
    for i in "12":
        name = f"llama-q8-q5-split-0000{i}-of-00002.gguf"
        write(lm_studio / f"pub/big/big-Q6_K-0000{i}-of-00002.gguf",
              (folder / "gguf" / name).read_bytes())
    llama_cpp = home / ".cache/llama.cpp"
    write(llama_cpp / "own_small-GGUF_small-IQ2_XS.gguf", gguf["gpt2-tied"])
    write(llama_cpp / "manifest=own=small-GGUF=latest.json", "{}")
    write(llama_cpp / "alone.gguf", gguf["qwen2-bias"])
    hub = home / ".cache/huggingface/hub"
    write(hub / "models--own--several/snapshots/abc/m.Q5_0.gguf", gguf["llama-q8-q5"])
    write(hub / "models--own--several/snapshots/abc/m.f16.gguf", gguf["llama-q8-q5"])
    shutil.copytree(folder / "made/gpt2", hub / "models--gpt2/snapshots/old")
    shutil.copytree(folder / "made/bert", hub / "models--gpt2/snapshots/new")
    write(hub / "models--gpt2/refs/main", "old\n")
    for name, base, seconds in (("first", "gpt2", 2_000_000_000),
                                ("second", "bert", 1_000_000_000)):
        snapshot = hub / "models--own--newest/snapshots" / name
        shutil.copytree(folder / "made" / base, snapshot)
        os.utime(snapshot, (seconds, seconds))  # of two without a name the newer one counts
    shutil.copytree(folder / "models/gemma3-multimodal", hub / "models--own--seeing/snapshots/abc")
    write(home / "elsewhere/own_other-GGUF_other.gguf", gguf["gpt2-tied"])
    write(home / "elsewhere/manifest=own=other-GGUF=latest.json", "{}")

    home = homes / "broken"
    manifests = home / ".ollama/models/manifests" / library
    write(manifests / "list/latest", "[1, 2]")
    write(manifests / "cut/latest", '{"layers": [')
    manifest(home, f"{library}/missing/latest", layer(digest("a")))
    manifest(home, f"{library}/short/latest", layer("sha256:abc"))
    manifest(home, f"{library}/outside/latest", layer("sha256:../../../" + "a" * 55))
    manifest(home, f"{library}/tensors/latest", layer(digest("a"), "tensor"))
    manifest(home, f"{library}/license/latest", layer(digest("a"), "license"))
    write_json(home / f".ollama/models/blobs/sha256-{'c' * 64}",
               {"remote_host": "https://example.org"})
    manifest(home, f"{library}/cloud/latest", config={"digest": digest("c")})
    write(home / ".lmstudio/models/pub/broken/broken.gguf", "GGUF")
    hub = home / ".cache/huggingface/hub"
    write_json(hub / "models--own--folder/snapshots/abc/config.json",
               {"model_type": "gpt2", "n_layer": 12, "n_head": 6, "torch_dtype": "float32"})
    write(hub / "models--own--folder/snapshots/abc/model.safetensors", b" " * 1000)
    write_json(hub / "models--own--config/snapshots/abc/config.json", {"model_type": "gpt2"})


def write_own(folder):
    """Files that a case may overwrite: each has its own."""
    write(folder / "old.json", "old")
    (folder / "old.json").chmod(0o640)
    (folder / "link.json").symlink_to("old.json")
    (folder / "dangling.json").symlink_to("later.json")
    (folder / "loop.json").symlink_to("loop.json")
    (folder / "folder.json").mkdir()
    write(folder / "The cat", "The cat sat\n")
    write(folder / "in.json", "The cat")
    write(folder / "-", "The file whose name is a dash\n")
