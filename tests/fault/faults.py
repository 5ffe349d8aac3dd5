"""What the program does when a call to the system fails: faults.py --program attnviz --module faults.so

Runs about twenty commands. Counts the calls of each kind that a command makes, then makes each of
them fail, once and from then on, and raises signals there. Afterwards the results are those of the
undisturbed command, byte for byte, or the program says why not and ends with an error: never another
result, never a part of one, never a temporary file, never a signal.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = SOURCE / "tests/reference"
FOLDER_MODEL = str(REFERENCE / "models/gpt2-tied")
GGUF_MODEL = str(REFERENCE / "gguf/models/gpt2-all-bytes.gguf")
SMALL = ["--random", "--layers", "1", "--heads", "1"]
IDS = ["--ids", "1,2,3"]
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
KINDS = ["memory", "map", "open", "read", "write", "close", "rename", "stat", "thread"]
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 130, signal.SIGHUP: 130, signal.SIGPIPE: 0}
SECONDS = 20  # of a run that takes milliseconds

# Arguments, standard input and, where a command reads files, how they are made.
COMMANDS = {
    "png": ["a b", *SMALL, "-o", "out.png"],
    "png of another font": ["שלום ab", *SMALL, "--font", FONT, "-o", "out.png"],
    "svg": ["a b", *SMALL, "-o", "out.svg"],
    "html": ["a b", *SMALL, "-q", "-o", "out.html"],
    "json": ["a b", *SMALL, "--json"],
    "npy and text": ["a b", *SMALL, "-q", "-o", "out.npy", "-o", "out.txt"],
    "demo": ["the cat", "--head", "0.0"],
    "inspect": ["inspect", "a b", *SMALL],
    "tokenize": ["tokenize", "the cat", "--json"],
    "info": ["info", "-m", GGUF_MODEL],
    "heads": ["heads", *IDS, "-m", FOLDER_MODEL],
    "why": ["why", *IDS, "-m", FOLDER_MODEL, "--json"],
    "rollout": ["rollout", "a b", *SMALL, "-o", "out.png"],
    "diff": ["diff", "a b", "a c", *SMALL],
    "cite": ["cite", "--doc", "in.txt", "why?", "--print-prompt"],
    "tour": ["tour", "-m", "weights.json", "a b"],
    "softmax": ["softmax", "1", "2"],
    "weights": ["weights", "--heads", "1", "--d-model", "2", "-o", "out.json"],
    "render": ["render", "attention.json", "-o", "out.svg"],
    "models": ["models"],
    "merge": ["merge", "part.json", "part2.json"],
    "lines": ["--json-lines", "--json", *SMALL, "-f", "lines.txt"],
    "folder": [*IDS, "-m", FOLDER_MODEL, "--head", "0.0", "--json"],
    "gguf": [*IDS, "-m", GGUF_MODEL, "--head", "0.0", "-o", "out.svg"],
    "standard input": ["--tokenizer", "chars", *SMALL, "--json"],
}
INPUT = b"ab\n"
# As (kind, what is found, command): where a folder or a sample cannot be opened, the list of models
# says so and goes on.
KNOWN = {(kind, "another result, and no error", "models") for kind in ("open", "stat")}

Result = collections.namedtuple("Result", "code out err files")
Fault = collections.namedtuple("Fault", "command kind at goes_on signal")


class Runner:
    def __init__(self, program, module):
        self.program = program
        self.module = module
        self.root = tempfile.TemporaryDirectory(prefix="attnviz-faults-")
        self.inputs = pathlib.Path(self.root.name, "inputs")
        self.home = pathlib.Path(self.root.name, "home")
        self.inputs.mkdir()
        self.home.mkdir()
        self.make_inputs()

    def make_inputs(self):
        (self.inputs / "in.txt").write_text("The cat sat. It slept.\n")
        (self.inputs / "lines.txt").write_text('"a b"\n{"text": "c d"}\n')
        (self.inputs / "ids.txt").write_text('{"ids": [1, 2, 3]}\n{"ids": [3, 2, 3]}\n')
        (self.inputs / "ids2.txt").write_text('{"ids": [4, 2, 3]}\n')
        corpus = ["heads", "--json-lines", "-q", "-m", FOLDER_MODEL, "-o", "scores.csv"]
        for arguments in (
            ["weights", "--heads", "1", "--d-model", "2", "-q", "-o", "weights.json"],
            ["a b", *SMALL, "-q", "-o", "attention.json"],
            [*corpus, "-f", "ids.txt", "--partial", "part.json"],
            [*corpus, "-f", "ids2.txt", "--partial", "part2.json"],
        ):
            subprocess.run([self.program, *arguments], cwd=self.inputs, check=True,
                           capture_output=True, stdin=subprocess.DEVNULL)

    def run(self, command, faults):
        with tempfile.TemporaryDirectory(dir=self.root.name) as folder:
            for file in self.inputs.iterdir():
                os.symlink(file, pathlib.Path(folder, file.name))
            environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TZ": "UTC",
                           "LD_PRELOAD": self.module, **faults}
            try:
                done = subprocess.run([self.program, *COMMANDS[command]], cwd=folder,
                                      env=environment, input=INPUT, capture_output=True,
                                      timeout=SECONDS, check=False)
            except subprocess.TimeoutExpired:
                return Result(None, b"", b"", {})
            files = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()
                     if not path.is_symlink()}
            return Result(done.returncode, done.stdout, done.stderr, files)

    def counts(self, command):
        name = os.path.join(self.root.name, "counts")
        self.run(command, {"ATTNVIZ_FAULT_COUNTS": name})
        with open(name, encoding="ascii") as file:
            return {kind: int(count) for kind, count in map(str.split, file)}

    def run_fault(self, fault):
        faults = {"ATTNVIZ_FAULT_KIND": fault.kind, "ATTNVIZ_FAULT_AT": str(fault.at)}
        if fault.goes_on:
            faults["ATTNVIZ_FAULT_ON"] = "1"
        if fault.signal:
            faults["ATTNVIZ_FAULT_SIGNAL"] = str(int(fault.signal))
        return self.run(fault.command, faults)


def finding(fault, result, undisturbed):
    """What is wrong, or None."""
    strays = [name for name in result.files if name not in undisturbed.files]
    if strays:
        return f"left {strays}"
    if any(result.files[name] != undisturbed.files[name] for name in result.files):
        return "a file with another result"
    if result.code is None:
        return f"not ended within {SECONDS} s"
    if fault.signal and result.code == -fault.signal and not result.files and not result.out:
        return None  # before the program began
    if result.code < 0:
        return f"ended by signal {-result.code}"
    if result.code == undisturbed.code:
        same = result.files == undisturbed.files and result.out == undisturbed.out
        return None if same else "another result, and no error"
    if fault.signal:
        return None if result.code == SIGNALS[fault.signal] else f"exit code {result.code}"
    if result.code != 1:
        return f"exit code {result.code}: {result.err[-200:]!r}"
    if fault.kind != "write" and not result.err.strip():
        return "not a word"
    if b"unexpected error" in result.err:
        return repr(result.err[-200:])
    if fault.kind == "memory" and b"out of memory" not in result.err:
        return f"not why: {result.err[-200:]!r}"
    return None


def places(count, most):
    """At most so many of 1, 2 … count, evenly."""
    if most == 0 or count <= most:
        return range(1, count + 1)
    return sorted({1 + (2 * i + 1) * count // (2 * most) for i in range(most)})


def faults_of(command, counts, most):
    for kind in KINDS:
        most_of_kind = most * 4 if kind == "memory" else most
        for at, goes_on in itertools.product(places(counts[kind], most_of_kind), (False, True)):
            yield Fault(command, kind, at, goes_on, 0)
        for number, at in zip(itertools.cycle(SIGNALS), places(counts[kind], most_of_kind)):
            yield Fault(command, kind, at, False, number)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--module", required=True)
    parser.add_argument("--runs", type=int, default=0, help="at most so many calls of a kind, of memory four times; 0: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", help="this command")
    options = parser.parse_args()
    runner = Runner(options.program, options.module)
    commands = [options.only] if options.only else list(COMMANDS)
    if not os.path.exists(FONT):
        print(f"SKIPPED: needs the font {FONT}")
        commands = [command for command in commands if FONT not in COMMANDS[command]]
    undisturbed = {command: runner.run(command, {}) for command in commands}
    broken = {command: result.err for command, result in undisturbed.items() if result.code}
    if broken:
        sys.exit(f"not run without faults: {broken}")
    faults = [fault for command in commands
              for fault in faults_of(command, runner.counts(command), options.runs)]
    found = collections.defaultdict(list)
    n_known = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for fault, result in zip(faults, pool.map(runner.run_fault, faults)):
            what = finding(fault, result, undisturbed[fault.command])
            if (fault.kind, what, fault.command) in KNOWN:
                n_known += 1
            elif what:
                found[fault.command, fault.kind, what].append(fault)
    for (command, kind, what), these in sorted(found.items()):
        first = these[0]
        print(f"{command}: {kind} {first.at}{' and on' if first.goes_on else ''}"
              f"{f', signal {int(first.signal)}' if first.signal else ''}: {what} ({len(these)} times)")
    n_findings = sum(len(these) for these in found.values())
    by_kind = collections.Counter(fault.kind for fault in faults)
    print(f"{len(faults)} runs of {len(commands)} commands, {n_findings} findings, {n_known} known ones; "
          + ", ".join(f"{kind} {count}" for kind, count in by_kind.items()))
    return 1 if n_findings else 0


if __name__ == "__main__":
    sys.exit(main())
