"""Reads cases.txt: a notation like a shell's, told at the top of that file."""

import ast
import dataclasses
import glob
import hashlib
import itertools
import os
import pathlib
import re
import shlex

FILE = pathlib.Path(__file__).with_name("cases.txt")

SWITCHES = ("tty", "ttys", "keys", "home", "pipe", "closed", "signal", "reads")


@dataclasses.dataclass
class Step:
    """One run of the program."""

    arguments: list = dataclasses.field(default_factory=list)
    environment: dict = dataclasses.field(default_factory=dict)
    switches: dict = dataclasses.field(default_factory=dict)
    stdin: str = None  # a file's name
    stdout: str = None


@dataclasses.dataclass
class Case:
    name: str  # the command line as cases.txt has it
    steps: list

    @property
    def folder(self):
        """The same however many cases stand before it, so that recordings of two lists meet."""
        words = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")
        return f"{words[:48].rstrip('-')}-{self.number}"

    @property
    def number(self):
        return hashlib.sha256(os.fsencode(self.name)).hexdigest()[:8]

    def names(self, folder):
        """Whether a word names something in it."""
        words = []
        for step in self.steps:
            words += step.arguments + list(step.environment.values()) + [step.stdin or ""]
        return any(word.startswith(folder + "/") for word in words)


def read_cases(given):
    """The cases of cases.txt; {@PATTERN} is looked up in the folder `given`."""
    values = {}
    cases = {}
    for number, line in logical_lines(FILE.read_text(encoding="utf-8")):
        variable = re.fullmatch(r"([a-z_]+) = (.+)", line)
        try:
            if variable:
                values[variable[1]] = ast.literal_eval(variable[2])
                continue
            for text in alternatives(line, given):
                cases[text] = Case(text, parse(text, values))
        except (ValueError, SyntaxError, KeyError) as error:
            raise SystemExit(f"{FILE.name}:{number}: {error}") from error
    return list(cases.values())


def logical_lines(text):
    """Numbered lines without comments; an indented one goes on with the line before it."""
    begun = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] == " " and begun:
            begun = (begun[0], begun[1] + " " + line.strip())
            continue
        if begun:
            yield begun
        begun = (number, line.strip())
    if begun:
        yield begun


def alternatives(line, given):
    """{a|b} gives two lines, with others in it or beside it all combinations."""
    found = re.search(r"\{([^{}]*)\}", line)
    if not found:
        yield " ".join(line.split())
        return
    choices = itertools.chain.from_iterable(
        looked_up(choice.strip(), given) for choice in found[1].split("|"))
    for choice in choices:
        yield from alternatives(line[:found.start()] + choice + line[found.end():], given)


def looked_up(choice, given):
    if not choice.startswith("@"):
        return [choice]
    names = sorted(glob.glob(choice[1:], root_dir=given))
    if not names and not (given / choice[1:].split("/")[0]).exists():
        return [choice[1:]]  # which is skipped, and told
    if not names:
        raise ValueError(f"{choice}: no such files")
    return [shlex.quote(name) for name in names]


def parse(text, values):
    steps = [Step()]
    words = iter(shlex.split(text))
    for word in words:
        step = steps[-1]
        switch, colon, value = word.partition(":")
        if word == ";":
            steps.append(Step())
        elif word == "<":
            step.stdin = next(words)
        elif word == ">":
            step.stdout = next(words)
        elif not step.arguments and colon and switch in SWITCHES:
            step.switches[switch] = value
        elif not step.arguments and re.match(r"[A-Z_]+=", word):
            name, _, value = word.partition("=")
            step.environment[name] = value
        elif word.startswith("$"):
            step.arguments.append(value_of(values[word[1:]]))
        elif word != "attnviz":
            step.arguments.append(word)
    return steps


def value_of(value):
    return os.fsdecode(value) if isinstance(value, bytes) else value
