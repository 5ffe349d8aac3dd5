"""Reads and writes the safetensors format: an 8-byte length, a JSON header, then the numbers.

Only what these scripts need. BF16 has no NumPy type: its values are held as the upper half of a float32.
"""

import json
import pathlib
import struct

import numpy as np

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "U8": "u1", "BOOL": "?"}


def to_bf16(values):
    """The upper 16 bits of float32 values, rounded to the nearest, ties to even."""
    bits = np.asarray(values, "<f4").view("<u4")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def from_bf16(bits):
    return (bits.astype("<u4") << 16).view("<f4")


def write(path, tensors):
    """tensors: {name: (type, array)}, in the order in which the numbers are to lie."""
    header, chunks, offset = {"__metadata__": {"format": "pt"}}, [], 0
    for name, (kind, array) in tensors.items():
        array = np.asarray(array)
        data = to_bf16(array) if kind == "BF16" else array.astype(TYPES[kind])
        chunks.append(np.ascontiguousarray(data).tobytes())
        end = offset + len(chunks[-1])
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(chunks))


def read(path):
    """{name: array}; BF16 as float32."""
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        array = np.frombuffer(data[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"]).copy()
        tensors[name] = from_bf16(array) if entry["dtype"] == "BF16" else array
    return tensors


def read_folder(folder):
    """(config, tensors) of a model folder, sharded or not."""
    folder = pathlib.Path(folder)
    config = json.loads((folder / "config.json").read_text())
    index = folder / "model.safetensors.index.json"
    if not index.exists():
        return config, read(folder / "model.safetensors")
    places = json.loads(index.read_text())["weight_map"]
    shards = {shard: read(folder / shard) for shard in set(places.values())}
    return config, {name: shards[shard][name] for name, shard in places.items()}
