#!/usr/bin/python3
"""Draws the same grid of attention heads with attnviz and with matplotlib, and compares the times.

    tests/bench/matplotlib_grid.py build/release/app/attnviz [FOLDER]

Both pictures, attnviz.png and matplotlib.png, come from the same numbers (attnviz --json) and have
the same parts: titles, token labels on both axes, one colour scale, masked cells in grey. Each time
is that of a whole process, from its start to the file: the median of as many runs of each, in
turns, after one that is not counted. Without FOLDER the pictures go into a temporary folder. Needs
Debian's python3-matplotlib.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

TEXT = (
    "The cat sat on the mat because it was tired and the dog ran home over the hill "
    "before the rain began to fall on the small house where the old man and his son "
    "had lived for years without a care in the world until the river rose one night "
    "and took the bridge away from them"
)
HEADS = 12
RUNS = 5


def draw_with_matplotlib(source, target):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    with open(source, encoding="utf-8") as file:
        document = json.load(file)
    tokens = document["tokens"]
    heads = np.array(document["attention"][0])
    masked = np.triu(np.ones(heads.shape[1:], dtype=bool), 1)
    figure, axes = plt.subplots(3, 4, figsize=(17, 13), sharex=True, sharey=True,
                                layout="constrained")
    colors = plt.get_cmap("viridis").copy()
    colors.set_bad("#e4e4e4")
    places = range(0, len(tokens), 2)
    for index, (axis, head) in enumerate(zip(axes.flat, heads)):
        image = axis.imshow(np.ma.array(head, mask=masked), vmin=0, vmax=1, cmap=colors,
                            interpolation="nearest")
        axis.set_title(f"L0H{index}")
        axis.set_xticks(places, tokens[::2], rotation=45, ha="right", fontsize=6)
        axis.set_yticks(places, tokens[::2], fontsize=6)
    figure.colorbar(image, ax=axes, label="attention weight", shrink=0.5)
    figure.suptitle("attention: random weights (seed 42)")
    figure.supxlabel("key (attended to)")
    figure.supylabel("query (attending)")
    figure.savefig(target, dpi=100)


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--draw":
        draw_with_matplotlib(sys.argv[2], sys.argv[3])
        return
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    folder = sys.argv[2] if len(sys.argv) == 3 else tempfile.mkdtemp(prefix="attnviz-grid-")
    os.makedirs(folder, exist_ok=True)
    data, ours, theirs = (os.path.join(folder, name)
                          for name in ("attention.json", "attnviz.png", "matplotlib.png"))
    model = [program, TEXT, "--heads", str(HEADS), "-q", "-o"]
    subprocess.run(model + [data], check=True)
    draw_ours = model + [ours]
    draw_theirs = ["/usr/bin/python3", os.path.abspath(__file__), "--draw", data, theirs]
    our_times, their_times = [], []
    for _ in range(1 + RUNS):
        our_times.append(seconds(draw_ours))
        their_times.append(seconds(draw_theirs))
    our_time, their_time = (statistics.median(times[1:]) for times in (our_times, their_times))
    print(f"attnviz     {our_time * 1e3:8.1f} ms, the model's attention included   {ours}")
    print(f"matplotlib  {their_time * 1e3:8.1f} ms, from JSON                       {theirs}")
    print(f"ratio       {their_time / our_time:8.1f}")


if __name__ == "__main__":
    main()
