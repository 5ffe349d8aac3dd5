#!/usr/bin/env python3
"""Records what a program writes and compares such recordings, for work that must change nothing.

    tests/recording/record.py record PROGRAM FOLDER     every case of cases.txt into FOLDER
    tests/recording/record.py compare FOLDER FOLDER     what differs; exit 1 when something does
    tests/recording/record.py programs OLD NEW          both at once; OLD may be a recording
    tests/recording/record.py list                      the command lines, and how many

    --only REGEX    only cases whose command line has it somewhere
    --twice         with record: records again, and fails where the second time differs
    --keep FOLDER   with programs: leave the new recording there

Before a rebuild:  record.py record build/release/app/attnviz /tmp/before --twice
After each step:   record.py programs /tmp/before build/release/app/attnviz

A case is kept with its exit code, every byte of standard output and standard error (or of the
terminal that it ran on), and every file that it left: FOLDER/cases/NAME/. Of more than 2 MB only
the beginning, the size and the SHA-256 are kept. The command lines stand in cases.txt, the files
that they name are made by given.py, and the few numbers that no two runs share (running.py:
VARYING) are struck out of what is said on standard error. Recordings are comparable when they were
made on one machine: SIMD targets, fonts and cores have their say.
What is not recorded: the line of progress, which depends on the clock.
"""

import argparse
import collections
import concurrent.futures
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # a test leaves nothing in the source tree

import command_lines  # noqa: E402
import differences  # noqa: E402
import given  # noqa: E402
import running  # noqa: E402

# The same for every program, since paths stand in what is written.
WORK = pathlib.Path("/tmp/attnviz-recording-work")

WORKERS = 2

SHOWN_CASES = 30  # whose differences are told; the others' command lines are enough

LARGE = 2_000_000  # bytes; of more a recording keeps only what tells it from others

FONTS = f"""<?xml version="1.0"?>
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <cachedir>{WORK}/font-cache</cachedir>
</fontconfig>
"""


class Recorder:
    """The folder that cases run in; one recorder at a time has it."""

    def __init__(self):
        self.lock = os.open(f"{WORK}.lock", os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting: another recording has {WORK}", file=sys.stderr)
            fcntl.flock(self.lock, fcntl.LOCK_EX)
        remove(WORK)
        WORK.mkdir(mode=0o755)
        self.given = WORK / "given"
        self.given.mkdir()
        given.make(self.given)
        given.write(WORK / "fonts.conf", FONTS)
        self.before = state_of(self.given)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        remove(WORK)
        os.close(self.lock)

    def cases(self, only):
        every = command_lines.read_cases(self.given)
        chosen = [case for case in every if not only or re.search(only, case.name)]
        there = [case for case in chosen
                 if (self.given / "shared").exists() or not case.names("shared")]
        if len(there) < len(chosen):
            print(f"SKIPPED: {len(chosen) - len(there)} cases: no {given.SHARED}", file=sys.stderr)
        if not there:
            raise SystemExit("no case has that")
        return there

    def inputs(self):
        """Tells recordings apart that were made of other files."""
        return hashlib.sha256(json.dumps(self.before).encode()).hexdigest()

    def record(self, program, cases, folder):
        program = shutil.which(program)
        if program is None:
            raise SystemExit("no such program, or it may not be run")
        program = os.path.abspath(program)
        seconds = {}

        def run(case):
            begin = time.monotonic()
            self.run(program, case, folder / "cases" / case.folder)
            seconds[case.name] = time.monotonic() - begin

        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            collections.deque(pool.map(run, cases), maxlen=0)
        if self.before != state_of(self.given):
            raise SystemExit("the program changed files that were only for reading")
        slowest = max(seconds, key=seconds.get)
        print(f"{len(cases)} cases in {time.monotonic() - begin:.0f} s with {program}; the slowest "
              f"took {seconds[slowest]:.1f} s: {slowest}", file=sys.stderr)

    def run(self, program, case, kept):
        here = WORK / "cases" / case.number
        here.mkdir(parents=True)
        for name in given.FOLDERS:
            if (self.given / name).exists():
                (here / name).symlink_to(self.given / name)
        if case.names("own"):
            given.write_own(here / "own")
        kept.mkdir(parents=True)
        exits = []
        for number, step in enumerate(case.steps, 1):
            home = self.given / "homes" / step.switches.get("home", "empty")
            outcome = running.run(program, step, here, home,
                                  {"FONTCONFIG_FILE": str(WORK / "fonts.conf")})
            exits.append(outcome.exit)
            (kept / f"{number}.out").write_bytes(in_short(outcome.out))
            (kept / f"{number}.err").write_bytes(outcome.err)
        (kept / "case.json").write_text(json.dumps(
            {"case": case.name, "exits": exits, "files": keep_files(here, kept / "files"),
             "arguments": [[word.encode("utf-8", "backslashreplace").decode()
                            for word in step.arguments] for step in case.steps]},
            ensure_ascii=False, indent=1), encoding="utf-8")
        shutil.rmtree(here)


def remove(folder):
    if folder.is_symlink() or (folder.exists() and folder.stat().st_uid != os.getuid()):
        raise SystemExit(f"{folder} is not ours")
    shutil.rmtree(folder, ignore_errors=True)


def state_of(folder):
    """Every file's path and content, in a few characters; `shared`, a link, is left out."""
    state = []
    for root, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = pathlib.Path(root) / name
            state.append((str(path.relative_to(folder)),
                          hashlib.sha256(path.read_bytes()).hexdigest()))
    return state


def keep_files(here, kept):
    """Copies what is there but the links to what was given; returns what each is."""
    files = {}
    for root, folders, names in os.walk(here):
        folders[:] = sorted(name for name in folders
                            if not os.path.islink(os.path.join(root, name)))
        for name in sorted(names + folders):
            path = pathlib.Path(root) / name
            relative = str(path.relative_to(here))
            info = path.lstat()
            mode = f"{stat.S_IMODE(info.st_mode):o}"
            if path.is_symlink():
                files[relative] = f"link to {os.readlink(path)}"
            elif path.is_dir():
                files[relative] = f"folder {mode}"
            else:
                files[relative] = f"file {mode}"
                (kept / relative).parent.mkdir(parents=True, exist_ok=True)
                (kept / relative).write_bytes(in_short(path.read_bytes()))
    return files


def in_short(data):
    if len(data) <= LARGE:
        return data
    return data[:200] + f"\n{len(data)} bytes, {hashlib.sha256(data).hexdigest()}\n".encode()


def prepare(folder, inputs, n_cases):
    """An old recording goes; anything else stays."""
    folder = pathlib.Path(folder)
    if folder.exists() and any(folder.iterdir()):
        if not (folder / "recording.json").is_file():
            raise SystemExit(f"{folder} is no recording: not overwritten")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recording.json").write_text(json.dumps({"inputs": inputs, "cases": n_cases}))
    return folder


def load(folder, only=None):
    """{command line: {part: bytes}}, and what the recording was made of."""
    folder = pathlib.Path(folder)
    if not (folder / "recording.json").is_file():
        raise SystemExit(f"{folder} is no recording")
    cases = {}
    for path in sorted((folder / "cases").iterdir()):
        description = json.loads((path / "case.json").read_text(encoding="utf-8"))
        if only and not re.search(only, description["case"]):
            continue
        parts = {}
        for number, exit_code in enumerate(description["exits"], 1):
            step = f"step {number}, " if len(description["exits"]) > 1 else ""
            parts[f"{step}exit"] = exit_code.encode()
            parts[f"{step}standard output"] = (path / f"{number}.out").read_bytes()
            parts[f"{step}standard error"] = (path / f"{number}.err").read_bytes()
        for name, kind in description["files"].items():
            parts[f"file {name}, its kind"] = kind.encode()
            if kind.startswith("file"):
                parts[f"file {name}"] = (path / "files" / name).read_bytes()
        cases[description["case"]] = parts
    return cases, json.loads((folder / "recording.json").read_text())


def compare(old_folder, new_folder, only=None):
    """Prints what differs; whether nothing does."""
    old, old_facts = load(old_folder, only)
    new, new_facts = load(new_folder, only)
    if old_facts["inputs"] != new_facts["inputs"]:
        print("the recordings were made of other files: what differs may be due to them")
    n_different = 0
    # Of a recording of a few cases the others are not missing.
    names = set(old) | set(new) if only is None else set(old) & set(new)
    for name in sorted(names):
        if name not in old or name not in new:
            n_different += 1
            print(f"attnviz {name}\n  only in {old_folder if name in old else new_folder}")
            continue
        lines = differences.differences(old[name], new[name])
        if lines:
            n_different += 1
            print("\n  ".join([f"attnviz {name}"] + (lines if n_different <= SHOWN_CASES else [])))
    parts = [data for name in names for data in new.get(name, {}).values()]
    print(f"{len(names):,} cases, {len(parts):,} outputs, {sum(map(len, parts)):,} bytes: "
          + (f"{n_different} cases differ" if n_different else "no difference"))
    return n_different == 0


def command_record(arguments):
    with Recorder() as recorder:
        cases = recorder.cases(arguments.only)
        folder = prepare(arguments.folder, recorder.inputs(), len(cases))
        recorder.record(arguments.program, cases, folder)
        if not arguments.twice:
            return True
        with tempfile.TemporaryDirectory() as again:
            second = prepare(again, recorder.inputs(), len(cases))
            recorder.record(arguments.program, cases, second)
            return compare(folder, second)


def command_compare(arguments):
    return compare(arguments.old, arguments.new, arguments.only)


def command_programs(arguments):
    with Recorder() as recorder, tempfile.TemporaryDirectory() as scratch:
        cases = recorder.cases(arguments.only)
        folders = []
        for program, place in ((arguments.old, None), (arguments.new, arguments.keep)):
            if os.path.isdir(program):
                folders.append(program)
                continue
            place = place or os.path.join(scratch, str(len(folders)))
            folders.append(prepare(place, recorder.inputs(), len(cases)))
            recorder.record(program, cases, folders[-1])
        return compare(*folders, arguments.only)


def command_list(arguments):
    with Recorder() as recorder:
        cases = recorder.cases(arguments.only)
    for case in cases:
        print(f"attnviz {case.name}")
    print(f"{len(cases)} cases", file=sys.stderr)
    return True


def main():
    # A background job's shell has it ignored, which programs inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.umask(0o022)
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run, words in (("record", command_record, ("program", "folder")),
                             ("compare", command_compare, ("old", "new")),
                             ("programs", command_programs, ("old", "new")),
                             ("list", command_list, ())):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        for word in words:
            command.add_argument(word)
        command.add_argument("--only", metavar="REGEX")
        if name == "record":
            command.add_argument("--twice", action="store_true")
        if name == "programs":
            command.add_argument("--keep", metavar="FOLDER")
    arguments = parser.parse_args()
    sys.exit(0 if arguments.run(arguments) else 1)


if __name__ == "__main__":
    main()
