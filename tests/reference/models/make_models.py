#!/usr/bin/env python3
"""Writes the tiny random models of cases.py with the numbers that families.py computes for them in float64.

Usage: make_models.py [OUT [CASE ...]]   OUT: where the folders go, this folder by default

Each case becomes a folder: config.json, model.safetensors (or shards with an index), expected.safetensors.
The numbers are computed from the files as written, hence from rounded weights. Then every twist of the
case is run: if a wrong reading of the model gives the same numbers, the script fails. So it does when
rounding to float32 would change them.

Needs PyTorch and NumPy (Debian: apt-get install python3-torch); the numbers were made with 1.13 and 1.24.
"""

import json
import pathlib
import sys
import zlib

import numpy as np

import cases
import families
import safetensors_file
import shapes


# Attention is to agree within 1e-5 with programs that compute in float32.
MOST_SENSITIVE = 2e-6


def write_model(case, folder, random):
    config = case.config
    tensors = dict(case.extras(config, random)) if case.extras else {}
    for name, shape, kind in case.shapes(config):
        tensors[case.rename(name)] = (case.dtype, shapes.random_tensor(random, shape, kind))
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    if case.shards == 1:
        safetensors_file.write(folder / "model.safetensors", tensors)
        return
    names = list(tensors)
    places, total = {}, 0
    for shard in range(case.shards):
        file = f"model-{shard + 1:05}-of-{case.shards:05}.safetensors"
        mine = names[shard * len(names) // case.shards : (shard + 1) * len(names) // case.shards]
        safetensors_file.write(folder / file, {name: tensors[name] for name in mine})
        places.update(dict.fromkeys(mine, file))
        total += sum(tensors[name][1].size * int(case.dtype[-2:]) // 8 for name in mine)
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(places.items()))}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


def output(answer):
    return answer["logits"] if "logits" in answer else answer["hidden"]


def change(answer, twisted):
    """Largest difference in attention and in the output."""
    attention = (answer["attention"] - twisted["attention"]).abs().max()
    return float(attention), float((output(answer) - output(twisted)).abs().max())


def largest_weights(attention):
    """Quartiles of each row's largest weight, over rows that see at least four keys."""
    rows = attention[:, :, 4:].amax(-1).flatten().numpy()
    return np.quantile(rows, [0.25, 0.5, 0.75])


def sensitivity(answer, config, tensors, ids, types):
    """How much attention changes when every weight is off by about half a unit in a float32's last place."""
    random = np.random.default_rng(1)
    floats = {name: array.astype("f8") for name, array in tensors.items() if array.dtype.kind == "f"}
    near = {name: array * (1 + 6e-8 * random.standard_normal(array.shape)) for name, array in floats.items()}
    return change(answer, families.run(config, near, ids, types))[0]


def make(case, out):
    random = np.random.default_rng(zlib.crc32(case.name.encode()))
    folder = out / case.name
    folder.mkdir(parents=True, exist_ok=True)
    write_model(case, folder, random)
    config, tensors = safetensors_file.read_folder(folder)
    # Ids 0 to 2 have special meanings in some families; a few tokens occur more than once.
    n_vocab = config.get("text_config", config)["vocab_size"]
    ids = random.integers(3, n_vocab, case.n)
    ids[case.n // 2] = ids[1]
    types = (np.arange(case.n) >= case.n // 2 + 1).astype("i8") if case.token_types else None
    answer = families.run(config, tensors, ids, types)
    expected = {"ids": ("I64", ids)}
    if case.token_types:
        expected["token_types"] = ("I64", types)
    for key in ("attention", "logits", "hidden"):
        encoder = "bert" in case.name
        if key in answer and (key != "hidden" or encoder):
            expected[key] = ("F32", answer[key].numpy())
    safetensors_file.write(folder / "expected.safetensors", expected)

    quartiles = " ".join(f"{x:.2f}" for x in largest_weights(answer["attention"]))
    rounding = sensitivity(answer, config, tensors, ids, types)
    print(
        f"{case.name}: largest weights {quartiles}, output up to {float(output(answer).abs().max()):.1f}, "
        f"float32 weights {rounding:.0e}"
    )
    good = rounding < MOST_SENSITIVE
    if not good:
        print("    TOO SENSITIVE: a float32 program could not meet these numbers")
    for twist in case.twists:
        attention, out_change = change(answer, twist.run(config, tensors, ids, types))
        seen = max(attention, out_change) > twist.least
        good &= seen
        print(f"    {twist.name:<34} {attention:9.2e} {out_change:9.2e}{'' if seen else '  NOT SEEN'}")
    return good


arguments = sys.argv[1:]
if arguments and arguments[0].startswith("-"):
    sys.exit(__doc__)
destination = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent)
wanted = [case for case in cases.CASES if not arguments[1:] or case.name in arguments[1:]]
print(f"{'':<38} {'attention':>9} {'output':>9}  largest change by a wrong reading")
seen = [make(case, destination) for case in wanted]
sys.exit(0 if all(seen) else "A case is too sensitive, or a wrong reading of it gives the same numbers.")
