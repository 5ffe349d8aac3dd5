"""One run of a program: on pipes or on a terminal, with an environment of its own."""

import dataclasses
import fcntl
import os
import pty
import re
import selectors
import signal
import struct
import subprocess
import termios
import time

SECONDS = 120  # more is recorded as a run without an end

# What two runs of one program say differently. Only of what is said to a person; nothing that is
# written to a file or as a result is touched.
VARYING = (
    (re.compile(rb"took \d+\.\d{3} ms"), b"took # ms"),
    (re.compile(rb"and \d+(\.\d+)?(e\+\d+)? GB are free"), b"and # GB are free"),
)

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}

KEYS = {"↵": b"\n", "^D": b"\x04"}


@dataclasses.dataclass
class Outcome:
    exit: str
    out: bytes
    err: bytes


def run(program, step, here, home, environment):
    """Runs in the folder `here`. Without a `tty` switch the streams are pipes, and standard input
    is /dev/null."""
    terminal = step.switches.get("ttys") or step.switches.get("tty")
    everywhere = "ttys" in step.switches
    master = slave = None
    opened = []
    if terminal is not None:
        master, slave = open_terminal(int(terminal))
    stdin = source_of(step, here, slave if everywhere else None, opened)
    stdout = slave if slave is not None else subprocess.PIPE
    if step.stdout:
        stdout = opened_file(step.stdout, os.O_WRONLY, opened)
    process = subprocess.Popen(
        closing(step, [program]) + step.arguments, cwd=here, stdin=stdin, stdout=stdout,
        stderr=slave if everywhere else subprocess.PIPE, start_new_session=True,
        env=ENVIRONMENT | environment | {"HOME": str(home)} | step.environment)
    for descriptor in opened + ([slave] if slave is not None else []):
        os.close(descriptor)
    try:
        outcome = follow(process, step, here, master)
    finally:
        if master is not None:
            os.close(master)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()
    outcome.err = without_varying(outcome.err)
    if everywhere:
        outcome.out = without_varying(outcome.out)
    return outcome


def open_terminal(columns):
    """Without echo and without carriage returns of its own: what comes out is what was written."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    modes = termios.tcgetattr(slave)
    modes[1] &= ~termios.OPOST
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    return master, slave


def opened_file(name, how, opened):
    opened.append(os.open(name, how))
    return opened[-1]


def source_of(step, here, terminal, opened):
    if terminal is not None:
        return terminal
    if step.stdin:
        return opened_file(os.path.join(here, step.stdin), os.O_RDONLY, opened)
    return subprocess.PIPE if "pipe" in step.switches else subprocess.DEVNULL


def closing(step, command):
    """`closed:0,2` takes standard input and standard error away."""
    if "closed" not in step.switches:
        return command
    redirections = " ".join(f"{number}>&-" for number in step.switches["closed"].split(","))
    return ["/bin/sh", "-c", f'exec "$@" {redirections}', "sh"] + command


def without_varying(text):
    for pattern, replacement in VARYING:
        text = pattern.sub(replacement, text)
    return text


def follow(process, step, here, master):
    """Feeds and reads until the program has ended."""
    out, err = bytearray(), bytearray()
    keys = [key for key in step.switches.get("keys", "").split(",") if key]
    most = int(step.switches["reads"]) if "reads" in step.switches else None
    to_send = step.switches.get("signal")
    waits = process.stdin is not None and to_send  # an open input keeps the program there
    fed = memoryview(read(os.path.join(here, step.switches["pipe"]))) if process.stdin else b""
    with selectors.DefaultSelector() as selector:
        readers = {}
        for target, stream in ((out, process.stdout), (err, process.stderr)):
            if stream:
                readers[stream.fileno()] = target
        if master is not None:
            readers[master] = out
        for descriptor in readers:
            selector.register(descriptor, selectors.EVENT_READ)
        if process.stdin:
            os.set_blocking(process.stdin.fileno(), False)
            selector.register(process.stdin.fileno(), selectors.EVENT_WRITE)
        end = time.monotonic() + SECONDS
        while readers and time.monotonic() < end:
            for key, _ in selector.select(timeout=1.0):
                descriptor = key.fd
                if descriptor not in readers:
                    fed = feed(process, selector, fed, waits)
                    continue
                data = read_some(descriptor)
                target = readers[descriptor]
                target += data
                if target is out and most is not None and len(out) >= most:
                    del out[most:]
                    data = b""
                if not data:
                    selector.unregister(descriptor)
                    del readers[descriptor]
                    if target is out and process.stdout:
                        process.stdout.close()
                if target is out and to_send and b"\n" in out:
                    process.send_signal(getattr(signal, "SIG" + to_send))
                    to_send = None
                if keys and data and out.endswith(b"] "):  # the tour's question
                    os.write(master, answer(keys.pop(0)))
    try:
        status = process.wait(timeout=max(1.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return Outcome(f"none after {SECONDS} s", bytes(out), bytes(err))
    return Outcome(str(status) if status >= 0 else f"signal {-status}", bytes(out), bytes(err))


def feed(process, selector, data, waits):
    try:
        data = data[os.write(process.stdin.fileno(), data[:65536]):]
    except BrokenPipeError:
        data = b""
        waits = False
    if not data:
        selector.unregister(process.stdin.fileno())
        if not waits:
            process.stdin.close()
    return data


def read_some(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:  # a terminal whose program has gone
        return b""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def answer(key):
    for sign, byte in KEYS.items():
        key = key.replace(sign, byte.decode())
    return key.encode()
