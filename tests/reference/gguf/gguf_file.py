"""Reads and writes the GGUF format: a header, metadata, descriptions of tensors, then their bytes.

Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Only what these scripts need.

metadata   {key: (kind, value)}; kind is "u8", "string", … or that of an array's elements in brackets: "[string]",
           "[[i32]]"
tensors    {name: (type, shape, data)}; type is a name of quants.py, the shape is outermost first as in NumPy (the file
           has it the other way round), data is little-endian bytes
"""

import math
import pathlib
import struct

import quants

FORMATS = {
    "u8": "B",
    "i8": "b",
    "u16": "H",
    "i16": "h",
    "u32": "I",
    "i32": "i",
    "f32": "f",
    "bool": "?",
    "string": None,
    "array": None,
    "u64": "Q",
    "i64": "q",
    "f64": "d",
}
KINDS = list(FORMATS)  # a kind's place is its number in the file


class Writer:
    def __init__(self, big_endian):
        self.order, self.bytes = "><"[not big_endian], bytearray()

    def put(self, kind, value):
        self.bytes += struct.pack(self.order + FORMATS[kind], value)

    def string(self, text):
        text = text.encode() if isinstance(text, str) else text
        self.put("u64", len(text))
        self.bytes += text

    def value(self, kind, value):
        if kind == "string":
            self.string(value)
        elif kind.startswith("["):
            inner = kind[1:-1]
            self.put("u32", number(inner))
            self.put("u64", len(value))
            for element in value:
                self.value(inner, element)
        else:
            self.put(kind, value)

    def pad(self, alignment):
        self.bytes += bytes(-len(self.bytes) % alignment)


def number(kind):
    return KINDS.index("array" if kind.startswith("[") else kind)


def n_bytes(kind, shape):
    return math.prod(shape) // quants.TYPES[kind].block * quants.TYPES[kind].bytes


def alignment_of(metadata):
    return metadata.get("general.alignment", (None, 32))[1]


def header(metadata, shapes, version=3, big_endian=False):
    """All bytes in front of the tensors' own. shapes: {name: (type, shape)}, in the order in which they follow."""
    alignment = alignment_of(metadata)
    out = Writer(big_endian)
    out.bytes += b"GGUF"
    out.put("u32", version)
    out.put("u64", len(shapes))
    out.put("u64", len(metadata))
    for key, (kind, value) in metadata.items():
        out.string(key)
        out.put("u32", number(kind))
        out.value(kind, value)
    offset = 0
    for name, (kind, shape) in shapes.items():
        assert shape[-1] % quants.TYPES[kind].block == 0, name
        out.string(name)
        out.put("u32", len(shape))
        for size in reversed(shape):
            out.put("u64", size)
        out.put("u32", quants.TYPES[kind].number)
        out.put("u64", offset)
        offset += n_bytes(kind, shape)
        offset += -offset % alignment
    out.pad(alignment)
    return bytes(out.bytes)


def write(path, metadata, tensors, version=3, big_endian=False):
    """The numbers lie in the order of `tensors`; metadata's general.alignment is obeyed."""
    out = Writer(big_endian)
    out.bytes += header(metadata, {name: tensor[:2] for name, tensor in tensors.items()}, version, big_endian)
    for name, (kind, shape, raw) in tensors.items():
        assert len(raw) == n_bytes(kind, shape), name
        out.bytes += quants.swapped(kind, raw) if big_endian else raw
        out.pad(alignment_of(metadata))
    pathlib.Path(path).write_bytes(out.bytes)


def write_split(stem, n, metadata, tensors, **options):
    """stem-00001-of-0000N.gguf and so on; the metadata is in the first alone."""
    names = list(tensors)
    for i in range(n):
        mine = names[i * len(names) // n : (i + 1) * len(names) // n]
        split = {
            "split.no": ("u16", i),
            "split.count": ("u16", n),
            "split.tensors.count": ("i32", len(names)),
        }
        own = {**metadata, **split} if i == 0 else split
        path = f"{stem}-{i + 1:05}-of-{n:05}.gguf"
        write(path, own, {name: tensors[name] for name in mine}, **options)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 8
        # The version is a small number in the file's byte order.
        self.big_endian = data[4:8] != struct.pack("<I", data[4])
        self.order = "<>"[self.big_endian]
        self.version = struct.unpack_from(self.order + "I", data, 4)[0]
        assert data[:4] == b"GGUF" and self.version in (2, 3)

    def get(self, kind):
        value = struct.unpack_from(self.order + FORMATS[kind], self.data, self.at)[0]
        self.at += struct.calcsize("<" + FORMATS[kind])
        return value

    def string(self):
        length = self.get("u64")
        self.at += length
        return self.data[self.at - length : self.at]

    def value(self, kind):
        """(kind in full, value)."""
        if kind == "string":
            text = self.string()
            return kind, text.decode(errors="surrogateescape")
        if kind != "array":
            return kind, self.get(kind)
        inner = KINDS[self.get("u32")]
        elements = [self.value(inner) for _ in range(self.get("u64"))]
        return f"[{elements[0][0] if elements else inner}]", [value for _, value in elements]


def read_one(path):
    file = Reader(pathlib.Path(path).read_bytes())
    n_tensors, n_keys = file.get("u64"), file.get("u64")
    metadata = {}
    for _ in range(n_keys):
        key = file.string().decode()
        metadata[key] = file.value(KINDS[file.get("u32")])
    entries = []
    for _ in range(n_tensors):
        name = file.string().decode()
        shape = [file.get("u64") for _ in range(file.get("u32"))][::-1]
        entries.append((name, tuple(shape), quants.NAMES[file.get("u32")], file.get("u64")))
    alignment = alignment_of(metadata)
    start = file.at + -file.at % alignment
    tensors = {}
    for name, shape, kind, offset in entries:
        size = n_bytes(kind, shape)
        raw = file.data[start + offset : start + offset + size]
        assert len(raw) == size, name
        tensors[name] = (kind, shape, quants.swapped(kind, raw) if file.big_endian else raw)
    return metadata, tensors


def read(path):
    """(metadata, tensors), of all shards if `path` is the first one."""
    metadata, tensors = read_one(path)
    for i in range(1, metadata.get("split.count", (None, 1))[1]):
        shard = str(path).replace("-00001-of-", f"-{i + 1:05}-of-")
        tensors.update(read_one(shard)[1])
    return metadata, tensors
