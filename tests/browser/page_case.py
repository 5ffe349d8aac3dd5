"""What all tests of pages share: how they look at one, and what every page must keep to."""
import base64
import functools
import json
import math
import random
import re
import time
import unittest
import zlib

from session import browser, program

# Each token once, so that a label tells which one it is.
TEXT = "The cat sat on a mat because it was tired, and my old dog ran away."
HEAD = (2, 1)
HOSTILE = "</script><img src=x onerror=alert(1)> <b onclick=alert(2)>&amp;"
STRANGE = "\u2028 x\u202Eab \x01\x1b[31m\x7f 👩‍👩‍👧 مرحبا 日本語 \u200b\ufeff e\u0301"


def readout():
    """What the heatmap says of the cell under the pointer: from, to, number."""
    said = browser.frame('document.querySelector(".stage ~ .readout").textContent')
    found = re.fullmatch(r"“(.*)” → “(.*)”: (.*)", said, re.DOTALL)
    return found.groups() if found else (said, None, None)


def stage():
    """The upper left corner of the heatmap in the window."""
    box = browser.run("""
        const stage = document.querySelector(".stage");
        stage.scrollIntoView({block: "center"});
        const {x, y, width, height} = stage.querySelector("canvas").getBoundingClientRect();
        return [x, y, width, height];""")
    browser.point(1, 1)
    browser.frame()
    return box


def pitch(samples):
    """Cells of whole pixels, (begin, size), such that each (pixel, place) is in its cell."""
    for size in range(1, 200):
        low = max(pixel - (place + 1) * size for pixel, place in samples)
        high = min(pixel - place * size for pixel, place in samples)
        if low < high:
            return (low + high) / 2, size
    raise AssertionError("the pointer's cells are not of one size")


def press_button(text):
    browser.run("""
        document.querySelectorAll("details").forEach((one) => (one.open = true));
        [...document.querySelectorAll("button")].find(
          (one) => one.textContent === arguments[0]).click();""", text)


def rendered(name, told, *options):
    """A page of numbers that another program might have made."""
    path = program.folder / f"{name}.json"
    path.write_text(json.dumps({"schema": "attnviz.attention/1", **told}), encoding="utf-8")
    return program.page(name, "render", str(path), *options)


def with_data(page, name, **changes):
    """The same page with other data."""
    path = program.folder / f"{name}.html"
    data = json.dumps(page.data | changes).replace("<", "\\u003c")
    begin = page.html.index('id="attnviz-data">') + len('id="attnviz-data">')
    end = page.html.index("</script>", begin)
    path.write_text(page.html[:begin] + data + page.html[end:], encoding="utf-8")
    return path


def deflated(content):
    made = zlib.compressobj(wbits=-15)
    return base64.b64encode(made.compress(content) + made.flush()).decode()


def token_rows():
    """The table of the picked token: label, place, number."""
    return browser.run_later("""
        document.querySelector(".token-panel details").open = true;
        setTimeout(() => done([...document.querySelectorAll(".token-panel tbody tr")].map(
          (row) => [...row.children].map((cell) => cell.textContent))), 20);""")


@functools.cache
def heatmap_cells(labels, width, height):
    """Where the heatmap has its cells, found with the pointer: begin and size across and down."""
    left, top, *_ = stage()
    chance = random.Random(1)
    across, down = [], []
    for _ in range(60):
        x, y = chance.uniform(1, width - 1), chance.uniform(1, height - 1)
        browser.point(left + x, top + y)
        query, key, _ = readout()
        if key is not None:
            # The browser tells the page whole pixels.
            down.append((math.floor(top + y) - top, labels.index(query)))
            across.append((math.floor(left + x) - left, labels.index(key)))
    if len(down) < 15:
        raise AssertionError("the pointer finds no cells")
    return pitch(across), pitch(down)


class PageTest(unittest.TestCase):
    def setUp(self):
        browser.usual_screen()
        browser.messages()

    def tearDown(self):
        # Errors, warnings, what the policy refused: a page has nothing to say there.
        self.assertEqual(browser.messages(), [])

    def eventually(self, check):
        """Until it passes: pages draw when they have time."""
        until = time.monotonic() + 5
        while True:
            try:
                return check()
            except AssertionError:
                if time.monotonic() > until:
                    raise

    def assert_rows(self, expected):
        """The table has these numbers, by the places of the tokens."""
        def check():
            rows = token_rows()
            self.assertEqual(sorted(int(place) for _, place, _ in rows), sorted(expected))
            for _, place, number in rows:
                self.assert_number(number, expected[int(place)])
        self.eventually(check)

    def assert_number(self, shown, expected):
        if shown == "masked":
            self.assertEqual(expected, 0)
        elif expected != 0 and abs(expected) < 0.0005:
            self.assertAlmostEqual(float(shown), expected, delta=0.06 * abs(expected) + 1e-5)
        else:
            self.assertRegex(shown, r"^\d\.\d{3}$")
            self.assertAlmostEqual(float(shown), expected, delta=0.0005 + 1e-5)
