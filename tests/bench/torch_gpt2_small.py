#!/usr/bin/env python3
"""A whole model of GPT-2 small's shape (124 M random weights): attnviz beside plain PyTorch.

Usage: torch_gpt2_small.py make FOLDER            writes config.json and model.safetensors (498 MB, float32)
       torch_gpt2_small.py compare FOLDER PROGRAM [TOKENS ...]  in turns, at 64 and 1024 tokens, 1 and 2 threads

attnviz is timed as a whole process: it starts, reads the model, and writes a PNG with all 144 patterns
pooled to thumbnails. PyTorch is timed in a process that has loaded everything: one forward pass, as
transformers runs it with output_attentions=True (whole score matrices, a mask, softmax, all patterns kept),
up to the last norm, with neither logits nor a picture. "wall" is what a clock says, "processor" what it
costs whoever else is on the machine; medians, and the ratio PyTorch / attnviz. Needs Debian's python3-torch.
"""

import json
import math
import mmap
import os
import pathlib
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import torch

import torch_attention

N_VOCAB, N_POSITIONS, D, N_HEADS, N_LAYERS = 50257, 1024, 768, 12, 12
ROUNDS = 5

CONFIG = {
    "activation_function": "gelu_new",
    "architectures": ["GPT2LMHeadModel"],
    "bos_token_id": 50256,
    "eos_token_id": 50256,
    "layer_norm_epsilon": 1e-05,
    "model_type": "gpt2",
    "n_ctx": N_POSITIONS,
    "n_embd": D,
    "n_head": N_HEADS,
    "n_layer": N_LAYERS,
    "n_positions": N_POSITIONS,
    "vocab_size": N_VOCAB,
}


def shapes():
    yield "wte.weight", (N_VOCAB, D)
    yield "wpe.weight", (N_POSITIONS, D)
    for layer in range(N_LAYERS):
        for name, shape in (
            ("ln_1.weight", (D,)),
            ("ln_1.bias", (D,)),
            ("attn.c_attn.weight", (D, 3 * D)),
            ("attn.c_attn.bias", (3 * D,)),
            ("attn.c_proj.weight", (D, D)),
            ("attn.c_proj.bias", (D,)),
            ("ln_2.weight", (D,)),
            ("ln_2.bias", (D,)),
            ("mlp.c_fc.weight", (D, 4 * D)),
            ("mlp.c_fc.bias", (4 * D,)),
            ("mlp.c_proj.weight", (4 * D, D)),
            ("mlp.c_proj.bias", (D,)),
        ):
            yield f"h.{layer}.{name}", shape
    yield "ln_f.weight", (D,)
    yield "ln_f.bias", (D,)


def make(folder):
    """As GPT-2 is initialised (deviation 0.02), but with queries and keys 4 times larger, for uneven attention."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in shapes():
        end = offset + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    random = torch.Generator().manual_seed(124)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in shapes():
            values = 0.02 * torch.randn(shape, generator=random)
            if "ln_" in name and name.endswith("weight"):
                values += 1
            if name.endswith("c_attn.weight"):
                values[:, : 2 * D] *= 4
            file.write(values.numpy().tobytes())
    print(f"{offset // 4:,} parameters in {folder}")


def load(folder):
    with open(folder / "model.safetensors", "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    return {
        name: torch.frombuffer(
            data, dtype=torch.float32, count=math.prod(entry["shape"]), offset=8 + length + entry["data_offsets"][0]
        ).view(entry["shape"])
        for name, entry in header.items()
    }


def split(x):
    return x.view(len(x), N_HEADS, D // N_HEADS).transpose(0, 1)


def blocks(w, ids):
    """(last_hidden_state [n, d], attentions: a list of [h, n, n])."""
    n = len(ids)
    x = w["wte.weight"][ids] + w["wpe.weight"][:n]
    hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
    lowest = torch.finfo(torch.float32).min
    attentions = []
    for layer in range(N_LAYERS):

        def parameters(name):
            return w[f"h.{layer}.{name}.weight"], w[f"h.{layer}.{name}.bias"]

        def conv1d(y, name):
            weight, bias = parameters(name)
            return torch.addmm(bias, y, weight)

        y = torch.nn.functional.layer_norm(x, (D,), *parameters("ln_1"), 1e-5)
        q, k, v = (split(part) for part in conv1d(y, "attn.c_attn").split(D, dim=1))
        scores = torch.matmul(q, k.transpose(1, 2)) / math.sqrt(D // N_HEADS)
        weights = torch.softmax(scores.masked_fill(hidden, lowest), dim=-1)
        attentions.append(weights)
        mixed = torch.matmul(weights, v).transpose(0, 1).reshape(n, D)
        x = x + conv1d(mixed, "attn.c_proj")
        y = torch.nn.functional.layer_norm(x, (D,), *parameters("ln_2"), 1e-5)
        y = torch.nn.functional.gelu(conv1d(y, "mlp.c_fc"), approximate="tanh")
        x = x + conv1d(y, "mlp.c_proj")
    return torch.nn.functional.layer_norm(x, (D,), w["ln_f.weight"], w["ln_f.bias"], 1e-5), attentions


def torch_pass(w, ids):
    """Seconds by the clock and of the processor."""
    begin, used = time.perf_counter(), time.process_time()
    blocks(w, ids)
    return time.perf_counter() - begin, time.process_time() - used


def attnviz_process(command):
    """The same of a program from its start to its end."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(folder, program, threads, lengths):
    w = load(folder)
    torch.set_num_threads(threads)
    for n in lengths:
        ids = torch.arange(n) * 7919 % N_VOCAB
        with tempfile.TemporaryDirectory() as scratch:
            command = [program, "-q", "-m", str(folder), "--threads", str(threads)]
            command += ["--ids", ",".join(map(str, ids.tolist())), "-o", f"{scratch}/heads.png"]
            theirs, ours = [torch_pass(w, ids)], [attnviz_process(command)]  # the first does not count
            for _ in range(ROUNDS):
                theirs.append(torch_pass(w, ids))
                ours.append(attnviz_process(command))
        line = f"{n:>5} tokens, {threads} thread{'s' if threads > 1 else ''}:"
        for i, clock in enumerate(("wall", "processor")):
            other, own = (statistics.median(one[i] for one in times[1:]) for times in (theirs, ours))
            line += f"   {clock} {1000 * other:7.0f} / {1000 * own:6.0f} ms = {other / own:.2f} x"
        print(line, flush=True)


def compare(folder, program, lengths):
    """One process for each number of threads: OpenBLAS reads it at its start, set_num_threads does not reach it."""
    # The allocator keeps what a pass gives back, so that the next one does not pay for fresh pages.
    environment = torch_attention.fair_environment()
    environment.update(MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_=str(1 << 36), OMP_WAIT_POLICY="passive")
    print(f"PyTorch {torch.__version__}, OpenBLAS's kernels: {environment.get('OPENBLAS_CORETYPE', 'its choice')}")
    for threads in ("1", "2"):
        environment.update(OPENBLAS_NUM_THREADS=threads, OMP_NUM_THREADS=threads)
        subprocess.run(
            [sys.executable, __file__, "measure", folder, program, threads, *lengths], env=environment, check=True
        )


arguments = sys.argv[1:]
if len(arguments) < 2 or arguments[0] not in ("make", "compare", "measure"):
    sys.exit(__doc__)
with torch.inference_mode():
    model = pathlib.Path(arguments[1])
    if arguments[0] == "make":
        make(model)
    elif arguments[0] == "compare":
        compare(model, arguments[2], arguments[3:] or ["64", "1024"])
    else:
        measure(model, arguments[2], int(arguments[3]), [int(n) for n in arguments[4:]])
