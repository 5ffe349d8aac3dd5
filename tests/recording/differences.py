"""What differs between two recordings of one case, in a few short lines."""

import itertools
import struct
import zlib

MOST_LINES = 4
AROUND = 36  # bytes on each side of what differs


def differences(old, new):
    """Lines that say it; none when nothing differs. Both are {part: bytes}."""
    lines = []
    for part in sorted(set(old) | set(new), key=lambda part: (part.startswith("file "), part)):
        if part not in new:
            lines.append(f"{part}: is missing")
        elif part not in old:
            lines.append(f"{part}: is new, {describe(new[part])}")
        elif old[part] != new[part]:
            lines += [f"{part}: {line}" if i == 0 else f"  {line}"
                      for i, line in enumerate(compare(old[part], new[part]))]
    return lines


def describe(data):
    return f"{len(data):,} bytes: {shown(data[:2 * AROUND])}" if data else "empty"


def compare(old, new):
    if old.startswith(b"\x89PNG") and new.startswith(b"\x89PNG"):
        return compare_pictures(old, new)
    if old.startswith(b"\x93NUMPY") and new.startswith(b"\x93NUMPY"):
        return compare_arrays(old, new)
    return compare_lines(old, new)


def compare_lines(old, new):
    pairs = itertools.zip_longest(old.split(b"\n"), new.split(b"\n"))
    different = [(number, a, b) for number, (a, b) in enumerate(pairs, 1) if a != b]
    lines = [f"{len(different)} lines differ" if len(different) > 1 else "one line differs"]
    for number, a, b in different[:MOST_LINES]:
        at = first_difference(a or b"", b or b"")
        lines.append(f"line {number}, byte {at}")
        lines += [f"  - {around(a, at)}", f"  + {around(b, at)}"]
    if len(different) > MOST_LINES:
        lines.append("...")
    return lines


def compare_pictures(old, new):
    lines = [f"PNG of {len(old):,} and {len(new):,} bytes"]
    try:
        before, after = chunks(old), chunks(new)
    except (struct.error, zlib.error):
        return lines + compare_lines(old, new)
    for kind in sorted(set(before) | set(after)):
        a, b = before.get(kind, b""), after.get(kind, b"")
        if a == b:
            continue
        if kind == "IHDR":
            sizes = struct.unpack(">II", a[:8]) + struct.unpack(">II", b[:8])
            lines.append("size: {} x {}, now {} x {}".format(*sizes))
        elif kind == "PLTE":
            lines.append("palette: of other colours, or in another order")
        elif kind == "pixels":
            count = sum(x != y for x, y in itertools.zip_longest(a, b))
            lines.append(f"pixels: {count:,} bytes of {len(a):,} differ, the first at "
                         f"{first_difference(a, b):,}")
        else:
            lines += [f"{kind}: {line}" for line in compare_lines(a, b)[1:4]]
    return lines


def chunks(png):
    """Those of a kind together, IDAT inflated."""
    found = {}
    at = 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        name = kind.decode("latin-1")
        found[name] = found.get(name, b"") + png[at + 8:at + 8 + size]
        at += 12 + size
    if "IDAT" in found:
        found["pixels"] = zlib.decompress(found.pop("IDAT"))
    return found


def compare_arrays(old, new):
    headers = [data[:data.find(b"\n") + 1] for data in (old, new)]
    lines = [f"NumPy arrays of {len(old):,} and {len(new):,} bytes"]
    if headers[0] != headers[1]:
        return lines + [f"- {shown(headers[0][10:])}", f"+ {shown(headers[1][10:])}"]
    a, b = (data[len(headers[0]):] for data in (old, new))
    if len(a) != len(b) or len(a) % 4 != 0:
        return lines + compare_lines(a, b)
    numbers = range(0, len(a), 4)
    different = [at for at in numbers if a[at:at + 4] != b[at:at + 4]]
    at = different[0]
    lines.append(f"{len(different):,} of {len(numbers):,} numbers differ, the first: number "
                 f"{at // 4}, {struct.unpack_from('<f', a, at)[0]:.9g}, now "
                 f"{struct.unpack_from('<f', b, at)[0]:.9g}")
    return lines


def first_difference(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def around(line, at):
    if line is None:
        return "(no such line)"
    begin = max(0, at - AROUND)
    text = shown(line[begin:at + AROUND])
    return ("..." if begin else "") + text + ("..." if at + AROUND < len(line) else "")


def shown(data):
    """Without what would change the colours of the screen that it is read on."""
    text = data.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
