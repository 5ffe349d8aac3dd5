#!/usr/bin/python3
"""Times causal attention in PyTorch beside attnviz, on one thread, patterns kept.

    tests/bench/torch_attention.py build/release/tests/bench/attnviz_bench

PyTorch computes it as textbooks write it, softmax(mask(Q K^T / sqrt(d))) V, and with all results in
memory that was taken before. Both programs run in turns; the ratios are those of the medians. Needs
Debian's python3-torch.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

SHAPES = [(12, 64, 64), (12, 256, 64), (12, 1024, 64), (12, 4096, 64), (32, 1024, 128)]
ROUNDS = 5


def fair_environment():
    """PyTorch's matrix products read it when they are loaded."""
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        environment.pop(name, None)
    chosen = subprocess.run(
        [sys.executable, "-c", "import torch"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=dict(environment, OPENBLAS_VERBOSE="2"), text=True, check=True).stdout
    with open("/proc/cpuinfo", encoding="ascii") as file:
        flags = file.read()
    # OpenBLAS takes a CPU that it does not know for one without vector instructions.
    if any(f"Core: {old}" in chosen for old in ("Prescott", "Core2", "Nehalem")):
        if "avx512vl" in flags:
            environment["OPENBLAS_CORETYPE"] = "SKYLAKEX"
        elif "avx2" in flags:
            environment["OPENBLAS_CORETYPE"] = "HASWELL"
    return environment


def textbook(torch, query, key, value, hidden, _):
    scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    weights = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=2)
    return weights, weights @ value


def preallocated(torch, query, key, value, hidden, memory):
    scores, weights, context = memory
    torch.bmm(query, key.transpose(1, 2), out=scores)
    scores.mul_(1 / math.sqrt(query.shape[2])).masked_fill_(hidden, float("-inf"))
    torch.softmax(scores, dim=2, out=weights)
    torch.bmm(weights, value, out=context)
    return weights, context


def time_torch(shape):
    """The milliseconds that each way takes."""
    import torch

    torch.set_num_threads(1)
    heads, n, d_head = shape
    generator = torch.Generator().manual_seed(1)
    query, key, value = (torch.rand(heads, n, d_head, generator=generator) for _ in range(3))
    hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
    memory = (torch.empty(heads, n, n), torch.empty(heads, n, n), torch.empty(heads, n, d_head))
    times = {}
    with torch.inference_mode():
        for way in (textbook, preallocated):
            way(torch, query, key, value, hidden, memory)
            repeats = max(3, min(50, int(2e9 / (heads * n * n * d_head))))
            runs = []
            for _ in range(repeats):
                begin = time.perf_counter()
                way(torch, query, key, value, hidden, memory)
                runs.append(time.perf_counter() - begin)
            times[way.__name__] = statistics.median(runs) * 1e3
    return times


def time_attnviz(bench, shape):
    name = "core/attnviz/{}x{}x{}".format(*shape)
    with tempfile.NamedTemporaryFile("r", suffix=".json") as report:
        subprocess.run(
            [bench, f"--benchmark_filter=^{name}/", "--benchmark_repetitions=3",
             "--benchmark_out_format=json", f"--benchmark_out={report.name}"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for entry in json.load(report)["benchmarks"]:
            if entry.get("aggregate_name") == "median":
                return entry["real_time"]
    raise SystemExit(f"{bench} has no benchmark {name}")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--torch":
        print(json.dumps(time_torch(tuple(json.loads(sys.argv[2])))))
        return
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    environment = fair_environment()
    print(f"{'shape':<16}{'attnviz ms':>12}{'textbook':>12}{'preallocated':>14}")
    for shape in SHAPES:
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(time_attnviz(sys.argv[1], shape))
            run = subprocess.run([sys.executable, __file__, "--torch", json.dumps(shape)],
                                 check=True, stdout=subprocess.PIPE,
                                 env=environment)
            theirs.append(json.loads(run.stdout))
        own = statistics.median(ours)
        ratios = [statistics.median(times[way] for times in theirs) / own
                  for way in ("textbook", "preallocated")]
        print("{:<16}{:>12.3f}{:>11.1f}x{:>13.1f}x".format("x".join(map(str, shape)), own, *ratios),
              flush=True)


if __name__ == "__main__":
    main()
