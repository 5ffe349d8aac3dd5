#!/usr/bin/python3
"""Trains the demo model on a CPU: two single-threaded data-parallel processes, faster than one of two threads.

    train.py --corpus corpus.txt --tokenizer TOKENIZER_FOLDER --out RUN_FOLDER --steps STEPS --seed 1

RUN_FOLDER gets the model folder in model/, training.log, and checkpoint.pt, from which the same command goes on if
it was interrupted. A step's batch depends on the seed and the step alone, and the checkpoint holds all state, so
that an interrupted run ends with the same weights as one that was not (on one machine with one PyTorch).
"""
import argparse
import os
import pathlib
import shutil
import sys


def prepare_environment():
    """Starts the program anew with variables that are read before main(): one thread, memory that is kept.

    Debian's OpenBLAS takes slow kernels on processors that it does not know, so they are named here. Tensors from
    the heap rather than from fresh pages make softmax and matrix products up to three times as fast.
    """
    wanted = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo",
              "MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "8000000000", "MALLOC_TOP_PAD_": "268435456"}
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    flags = cpuinfo.read_text().split() if cpuinfo.exists() else []
    core = "SkylakeX" if "avx512f" in flags else "Haswell" if "avx2" in flags else None
    if core and "OPENBLAS_CORETYPE" not in os.environ:
        wanted["OPENBLAS_CORETYPE"] = core
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.execve(sys.executable, [sys.executable] + sys.argv, {**os.environ, **wanted})


if __name__ == "__main__":
    prepare_environment()

import numpy as np
import torch
import torch.distributed

from model import Config, LanguageModel, save_folder
from tokenizer import Tokenizer

WARM_UP_STEPS = 200
CONSTANT_SHARE = .5  # of the steps; then the learning rate falls in a line to LEAST_RATE of its peak
LEAST_RATE = .01
LARGEST_GRADIENT = 1.0
HEAD_ROWS = 256  # tokens whose logits are held at once
NO_LOSS = -1


def encoded_corpus(tokenizer, path):
    """(ids uint16 [tokens], first token of each document int64 [documents])"""
    ids, starts = [], []
    with open(path, encoding="ascii") as file:
        for line in file:
            starts.append(len(ids))
            ids += tokenizer.encode(line.rstrip("\n"), bos=False)
    return np.array(ids, "u2"), np.array(starts, "i8")


class Batches:
    """Rows of BOS + consecutive documents, all of one length, mostly short; a share of the rows is BOS + a random
    string of tokens repeated, without loss on the unpredictable first copy, which is what makes induction heads
    appear early."""

    LENGTHS = (32, 64, 128, 256)
    SHARES = (.30, .35, .25, .10)  # of the tokens

    def __init__(self, ids, starts, vocabulary, arguments, rank):
        self.ids, self.starts, self.vocabulary, self.rank = ids, starts, vocabulary, rank
        self.seed, self.n_tokens, self.repeat_share = arguments.seed, arguments.tokens, arguments.repeat

    def batch(self, step):
        """(input ids, target ids or NO_LOSS), int64 [rows, length]"""
        length = self.LENGTHS[np.random.default_rng([self.seed, step]).choice(len(self.LENGTHS), p=self.SHARES)]
        random = np.random.default_rng([self.seed, step, self.rank + 1])
        n_rows = self.n_tokens // length
        first = np.minimum(random.choice(self.starts, n_rows), len(self.ids) - length)
        rows = np.zeros((n_rows, length + 1), "i8")
        rows[:, 1:] = self.ids[first[:, None] + np.arange(length)]
        targets = rows[:, 1:].copy()
        for i in range(max(1, round(n_rows * self.repeat_share))):
            period = int(random.integers(min(8, length // 4), length // 2 + 1))
            rows[i, 1:] = np.resize(random.integers(1, self.vocabulary, period), length)
            targets[i] = rows[i, 1:]
            targets[i, :period] = NO_LOSS
        return torch.from_numpy(rows[:, :length]), torch.from_numpy(targets)


class HeadLoss(torch.autograd.Function):
    """Mean cross entropy of softmax(hidden @ embedding.T) in natural logarithms, over the targets that count.

    hidden [tokens, d_model], embedding [vocabulary, d_model], targets [tokens]. The gradients are computed with the
    loss, HEAD_ROWS tokens at a time, so that the logits stay in the cache.
    """

    @staticmethod
    def forward(context, hidden, embedding, targets):
        n_counted = int((targets != NO_LOSS).sum())
        hidden_gradient, embedding_gradient = torch.empty_like(hidden), torch.zeros_like(embedding)
        total = 0.0
        for begin in range(0, len(hidden), HEAD_ROWS):
            x, y = hidden[begin:begin + HEAD_ROWS], targets[begin:begin + HEAD_ROWS]
            weight = (y != NO_LOSS).float() / n_counted
            row, y = torch.arange(len(y)), y.clamp(min=0)
            logits = x @ embedding.t()
            largest = logits.amax(1, keepdim=True)
            target_logits = logits[row, y] - largest[:, 0]
            sums = logits.sub_(largest).exp_().sum(1)
            total += float(((sums.log() - target_logits) * weight).sum())
            logits.mul_((weight / sums)[:, None])
            logits[row, y] -= weight
            torch.mm(logits, embedding, out=hidden_gradient[begin:begin + HEAD_ROWS])
            embedding_gradient.addmm_(logits.t(), x)
        context.save_for_backward(hidden_gradient, embedding_gradient)
        return hidden.new_tensor(total)

    @staticmethod
    def backward(context, scale):
        hidden_gradient, embedding_gradient = context.saved_tensors
        return hidden_gradient * scale, embedding_gradient * scale, None


class Muon:
    """Momentum whose update matrix is made orthogonal by Newton-Schulz steps (Jordan et al. 2024); the parts of a
    fused matrix (q, k, v; gate, up) are treated one by one."""

    MOMENTUM = .95
    COEFFICIENTS = (3.4445, -4.7750, 2.0315)

    def __init__(self, parameters, weight_decay):
        """parameters: [(parameter, number of its parts)]"""
        self.parameters, self.weight_decay = parameters, weight_decay
        self.buffers = [torch.zeros_like(parameter) for parameter, _ in parameters]

    @torch.no_grad()
    def step(self, rate):
        a, b, c = self.COEFFICIENTS
        for (parameter, n_parts), buffer in zip(self.parameters, self.buffers):
            buffer.lerp_(parameter.grad, 1 - self.MOMENTUM)
            x = parameter.grad.lerp(buffer, self.MOMENTUM).view(n_parts, -1, parameter.shape[1])
            is_wide = x.shape[1] > x.shape[2]
            x = x.transpose(1, 2) if is_wide else x
            x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
            for _ in range(5):
                square = x @ x.transpose(1, 2)
                x = a * x + (b * square + c * square @ square) @ x
            x = x.transpose(1, 2) if is_wide else x
            scale = max(1, x.shape[1] / x.shape[2]) ** .5
            parameter.mul_(1 - rate * self.weight_decay).add_(x.reshape(parameter.shape), alpha=-rate * scale)


def rate_factor(step, n_steps):
    """The learning rate of a step as a share of its peak."""
    falling = min(1.0, (1 - step / n_steps) / (1 - CONSTANT_SHARE))
    return max(falling * min(1.0, (step + 1) / WARM_UP_STEPS), LEAST_RATE)


class Trainer:
    """One process's model, optimizers and log; all processes hold the same state."""

    def __init__(self, rank, arguments, tokenizer, corpus):
        torch.manual_seed(arguments.seed)
        self.rank, self.arguments = rank, arguments
        self.model = LanguageModel(Config(len(tokenizer)))
        self.batches = Batches(*corpus, len(tokenizer), arguments, rank)
        named = list(self.model.named_parameters())
        # All gradients live in one buffer, which one call adds up over the processes.
        self.gradients = torch.zeros(sum(parameter.numel() for _, parameter in named))
        begin = 0
        for _, parameter in named:
            parameter.grad = self.gradients[begin:begin + parameter.numel()].view_as(parameter)
            begin += parameter.numel()
        matrices = [(name, p) for name, p in named if p.dim() == 2 and not name.startswith("embedding")]
        n_parts = {"qkv": 3, "gate_up": 2}
        self.muon = Muon([(p, n_parts.get(name.split(".")[-2], 1)) for name, p in matrices], arguments.weight_decay)
        others = [p for name, p in named if p.dim() == 1 or name.startswith("embedding")]
        self.adam = torch.optim.AdamW(others, lr=arguments.rate, betas=(.9, .98), eps=1e-9, weight_decay=0.0)
        self.next_step, self.mean_loss = 0, None
        self.log = [f"{len(self.gradients)} parameters, {len(corpus[0])} tokens of text"]
        self.checkpoint = arguments.out / "checkpoint.pt"
        if self.checkpoint.exists():
            self.restore()

    def train_step(self, step):
        self.gradients.zero_()
        ids, targets = self.batches.batch(step)
        hidden = self.model.hidden(ids).view(-1, self.model.config.d_model)
        loss = HeadLoss.apply(hidden, self.model.embedding.weight, targets.view(-1))
        loss.backward()
        if self.arguments.processes > 1:
            torch.distributed.all_reduce(self.gradients)
            self.gradients /= self.arguments.processes
        self.gradients *= min(1.0, LARGEST_GRADIENT / (self.gradients.norm().item() + 1e-6))
        factor = rate_factor(step, self.arguments.steps)
        for group in self.adam.param_groups:
            group["lr"] = self.arguments.rate * factor
        self.adam.step()
        self.muon.step(self.arguments.muon_rate * factor)
        value = loss.item()
        self.mean_loss = value if self.mean_loss is None else .98 * self.mean_loss + .02 * value
        self.next_step = step + 1

    def run(self):
        n_steps = self.arguments.steps
        for step in range(self.next_step, n_steps):
            self.train_step(step)
            done = step + 1
            if done % 100 == 0 or done == n_steps:
                tokens = done * self.arguments.tokens * self.arguments.processes
                rate = self.arguments.rate * rate_factor(step, n_steps)
                self.log.append(f"step {done}  tokens {tokens / 1e6:.1f}M  rate {rate:.5f}  loss {self.mean_loss:.4f}")
            if done % self.arguments.save_every == 0 or done == n_steps:
                self.save()

    def save(self):
        """The processes' states are equal but for the mean loss, of which process 0's is kept."""
        if self.rank != 0:
            return
        (self.arguments.out / "training.log").write_text("\n".join(self.log) + "\n")
        save_folder(self.model, self.arguments.out / "model")
        unfinished = self.checkpoint.with_suffix(".unfinished")
        torch.save({"model": self.model.state_dict(), "muon": self.muon.buffers, "adam": self.adam.state_dict(),
                    "next_step": self.next_step, "mean_loss": self.mean_loss, "log": self.log}, unfinished)
        os.replace(unfinished, self.checkpoint)

    def restore(self):
        state = torch.load(self.checkpoint)
        self.model.load_state_dict(state["model"])
        self.adam.load_state_dict(state["adam"])
        self.muon.buffers = state["muon"]
        self.next_step, self.mean_loss, self.log = state["next_step"], state["mean_loss"], state["log"]


def run_process(rank, arguments, tokenizer, corpus):
    torch.set_num_threads(1)
    if arguments.processes > 1:
        torch.distributed.init_process_group("gloo", f"file://{arguments.out.resolve()}/meeting_point", rank=rank,
                                             world_size=arguments.processes)
    trainer = Trainer(rank, arguments, tokenizer, corpus)
    if arguments.processes > 1:
        torch.distributed.barrier()  # nobody writes a checkpoint before all have read it
    trainer.run()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=pathlib.Path, default="corpus.txt")
    parser.add_argument("--tokenizer", type=pathlib.Path, default="tokenizer")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2, help="the result depends on their number")
    parser.add_argument("--tokens", type=int, default=4096, help="a step and process")
    parser.add_argument("--rate", type=float, default=2.5e-3, help="AdamW's, of the embedding and the norms")
    parser.add_argument("--muon-rate", type=float, default=.016, help="of the matrices")
    parser.add_argument("--weight-decay", type=float, default=.1)
    parser.add_argument("--repeat", type=float, default=.12, help="share of the rows that repeat random tokens")
    parser.add_argument("--save-every", type=int, default=200, help="steps")
    arguments = parser.parse_args()
    (arguments.out / "model").mkdir(parents=True, exist_ok=True)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(arguments.tokenizer / name, arguments.out / "model")
    (arguments.out / "meeting_point").unlink(missing_ok=True)
    tokenizer = Tokenizer(arguments.tokenizer / "tokenizer.json")
    corpus = encoded_corpus(tokenizer, arguments.corpus)
    if arguments.processes == 1:
        run_process(0, arguments, tokenizer, corpus)
    else:
        torch.multiprocessing.spawn(run_process, (arguments, tokenizer, corpus), nprocs=arguments.processes)


if __name__ == "__main__":
    main()
