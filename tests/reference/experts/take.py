"""Makes the folders here from arrays of NumPy: `take.py FROM [CASE ...]`. Needs no packages.

FROM has models/NAME, gguf/*.gguf and refs/CASE with meta.json and arrays of float64 and int32.
"""

import ast
import json
import pathlib
import shutil
import struct
import sys

HERE = pathlib.Path(__file__).parent
NAMES = {"attn": "attention", "encoder.attn": "encoder", "decoder.attn": "decoder", "cross.attn": "cross"}


def read_array(path):
    """(shape, numbers) of a NumPy file in C order."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10 : 10 + length].decode())
    assert not header["fortran_order"], path
    kind = {"<f8": "d", "<f4": "f", "<i4": "i", "<i8": "q"}[header["descr"]]
    body = data[10 + length :]
    return list(header["shape"]), struct.unpack(f"<{len(body) // struct.calcsize(kind)}{kind}", body)


def write_safetensors(path, tensors, real="F32"):
    """BF16 only of numbers that it holds."""
    header, body = {}, b""
    for name, (shape, numbers) in tensors.items():
        is_real = isinstance(numbers[0], float)
        data = struct.pack(f"<{len(numbers)}{'f' if is_real else 'q'}", *numbers)
        kind = real if is_real else "I64"
        if kind == "BF16":
            data = b"".join(data[at + 2 : at + 4] for at in range(0, len(data), 4))
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def take(source, name):
    target = HERE / name
    target.mkdir(exist_ok=True)
    meta = json.loads((source / "refs" / name / "meta.json").read_text())
    tensors = {"ids": ([len(meta["ids"])], meta["ids"])}
    if "decoder_ids" in meta:
        tensors["decoder_ids"] = [len(meta["decoder_ids"])], meta["decoder_ids"]
    for file in sorted((source / "refs" / name).glob("*.npy")):
        tensors[NAMES.get(file.stem, file.stem)] = read_array(file)
    write_safetensors(target / "expected.safetensors", tensors)
    files = [source / file for file in meta.get("gguf") or []]
    if meta.get("model"):
        files += sorted((source / meta["model"]).iterdir())
    for file in files:
        shutil.copyfile(file, target / file.name)


if __name__ == "__main__":
    place = pathlib.Path(sys.argv[1])
    for case in sys.argv[2:] or sorted(folder.name for folder in (place / "refs").iterdir()):
        take(place, case)
