"""Makes the folders here from larger ones of the same form: `shrink.py FROM [CASE ...]`. Needs no packages.

FROM/CASE holds config.json, model.safetensors, expected.safetensors and often CASE.gguf with tensors of F32. The
vocabulary is cut to the tokens that the text has, which changes none of the numbers that are left; matrices of a GGUF
are stored in the narrowest type that holds them exactly, and its tokenizer is left out.
"""

import json
import math
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).parent
FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
F32, F16, BF16 = 0, 1, 30
ALIGNMENT = 32


def read_safetensors(path):
    """{name: (type, shape, bytes)}."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    body = data[8 + length :]
    return {
        name: (entry["dtype"], entry["shape"], body[slice(*entry["data_offsets"])]) for name, entry in header.items()
    }


def write_safetensors(path, tensors):
    header, body = {}, b""
    for name, (kind, shape, data) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def cut_rows(shape, data, kept, n_vocab):
    """The rows `kept` of what has a row for each token; all of anything else."""
    if not shape or shape[0] != n_vocab:
        return shape, data
    row = len(data) // n_vocab
    return [len(kept), *shape[1:]], b"".join(data[i * row : (i + 1) * row] for i in kept)


def cut_columns(shape, data, kept):
    row = len(data) // shape[0]
    size = row // shape[1]
    rows = (data[i * row : (i + 1) * row] for i in range(shape[0]))
    return [shape[0], len(kept)], b"".join(one[i * size : (i + 1) * size] for one in rows for i in kept)


def narrowest(shape, data):
    """(type, bytes) of F32 numbers; vectors stay as they are."""
    if len(shape) > 1:
        numbers = struct.unpack(f"<{len(data) // 4}f", data)
        try:
            halves = struct.pack(f"<{len(numbers)}e", *numbers)
            if struct.unpack(f"<{len(numbers)}e", halves) == numbers:
                return F16, halves
        except OverflowError:
            pass
        if not any(data[i] or data[i + 1] for i in range(0, len(data), 4)):
            return BF16, b"".join(data[i + 2 : i + 4] for i in range(0, len(data), 4))
    return F32, data


class Gguf:
    def __init__(self, data):
        self.data, self.at = data, 24
        version, n_tensors, n_keys = struct.unpack_from("<IQQ", data, 4)
        self.keys = {}  # as they stand there: type and value together
        for _ in range(n_keys):
            key = self.string()
            begin = self.at
            self.skip(self.get("I"))
            self.keys[key] = data[begin : self.at]
        infos = []
        for _ in range(n_tensors):
            name = self.string()
            shape = [self.get("Q") for _ in range(self.get("I"))][::-1]
            kind, offset = self.get("I"), self.get("Q")
            assert kind == F32, name
            infos.append((name, shape, offset))
        body = self.at + -self.at % ALIGNMENT
        self.tensors = {
            name: (shape, data[body + offset : body + offset + 4 * math.prod(shape)]) for name, shape, offset in infos
        }

    def get(self, kind):
        (value,) = struct.unpack_from("<" + kind, self.data, self.at)
        self.at += struct.calcsize("<" + kind)
        return value

    def string(self):
        length = self.get("Q")
        self.at += length
        return self.data[self.at - length : self.at].decode()

    def skip(self, kind):
        if kind == STRING:
            self.string()
        elif kind == ARRAY:
            inner, length = self.get("I"), self.get("Q")
            for _ in range(length):
                self.skip(inner)
        else:
            self.get(FORMATS[kind])


def packed(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def shrink_gguf(source, target, kept, n_vocab):
    gguf = Gguf(source.read_bytes())
    keys = {key: value for key, value in gguf.keys.items() if not key.startswith("tokenizer.")}
    for key in keys:
        if key.endswith(".vocab_size"):
            keys[key] = keys[key][:4] + struct.pack("<I", len(kept))
    infos, body = b"", b""
    for name, (shape, data) in gguf.tensors.items():
        shape, data = cut_rows(shape, data, kept, n_vocab)
        kind, data = narrowest(shape, data)
        infos += packed(name) + struct.pack("<I", len(shape))
        infos += b"".join(struct.pack("<Q", size) for size in reversed(shape)) + struct.pack("<IQ", kind, len(body))
        body += data + bytes(-len(data) % ALIGNMENT)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(gguf.tensors), len(keys))
    head += b"".join(packed(key) + value for key, value in keys.items()) + infos
    target.write_bytes(head + bytes(-len(head) % ALIGNMENT) + body)


def shrink(source, target):
    target.mkdir(exist_ok=True)
    config = json.loads((source / "config.json").read_text())
    n_vocab = config.get("vocab_size", config.get("text_config", {}).get("vocab_size"))
    expected = read_safetensors(source / "expected.safetensors")
    kind, shape, data = expected["ids"]
    ids = struct.unpack(f"<{shape[0]}q", data)
    kept = sorted(set(ids))
    expected["ids"] = kind, shape, struct.pack(f"<{len(ids)}q", *(kept.index(one) for one in ids))
    if "logits" in expected:
        kind, shape, data = expected["logits"]
        expected["logits"] = kind, *cut_columns(shape, data, kept)
    write_safetensors(target / "expected.safetensors", expected)
    tensors = read_safetensors(source / "model.safetensors")
    smaller = {
        name: (kind, *cut_rows(shape, data, kept, n_vocab)) for name, (kind, shape, data) in tensors.items()
    }
    write_safetensors(target / "model.safetensors", smaller)
    for part in (config, config.get("text_config", {})):
        for key in ("vocab_size", "vocab_size_per_layer_input"):
            if key in part:
                part[key] = len(kept)
    (target / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    gguf = source / f"{source.name}.gguf"
    if gguf.exists():
        shrink_gguf(gguf, target / gguf.name, kept, n_vocab)


def shrink_dialect(source, target):
    """Ollama's file and the numbers of one case; of the vocabulary what its text has."""
    target.mkdir(parents=True, exist_ok=True)
    expected = read_safetensors(source / "expected.safetensors")
    kind, shape, data = expected["ids"]
    ids = struct.unpack(f"<{shape[0]}q", data)
    kept = sorted(set(ids))
    expected["ids"] = kind, shape, struct.pack(f"<{len(ids)}q", *(kept.index(one) for one in ids))
    write_safetensors(target / "expected.safetensors", {name: expected[name] for name in ("ids", "attention")})
    n_vocab = Gguf((source / "ollama.gguf").read_bytes()).tensors["token_embd.weight"][0][0]
    shrink_gguf(source / "ollama.gguf", target / "ollama.gguf", kept, n_vocab)


if __name__ == "__main__":
    origin = pathlib.Path(sys.argv[1])
    if origin.name == "dialects":
        for case in sys.argv[2:] or sorted(path.name for path in origin.iterdir() if path.is_dir()):
            shrink_dialect(origin / case, HERE.parent / "dialects" / case)
        sys.exit()
    names = sys.argv[2:] or sorted(path.name for path in origin.iterdir() if (path / "config.json").exists())
    for case in names:
        shrink(origin / case, HERE / case)
