#!/usr/bin/env python3
"""browser_test.py PROGRAM SOURCE FOLDER [TEST…]: attnviz' pages in headless Chromium.

What pages show is compared with what the program says of the same text. Exit code 77 says that
all of it was skipped, as there is no Chromium or no selenium.
"""
import array
import base64
import functools
import json
import math
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import live_texts
from browser import Browser, Program

# Each token once, so that a label tells which one it is.
TEXT = "The cat sat on a mat because it was tired, and my old dog ran away."
HEAD = (2, 1)
HOSTILE = "</script><img src=x onerror=alert(1)> <b onclick=alert(2)>&amp;"
STRANGE = "\u2028 x\u202Eab \x01\x1b[31m\x7f 👩‍👩‍👧 مرحبا 日本語 \u200b\ufeff e\u0301"
AXE = "axe-core@4.14.1"

program = browser = None  # made by main()


def setting(name):
    return browser.run("return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))").get(name)


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
        if expected != 0 and abs(expected) < 0.0005:
            self.assertAlmostEqual(float(shown) / expected, 1, delta=0.06)
        else:
            self.assertRegex(shown, r"^\d\.\d{3}$")
            self.assertAlmostEqual(float(shown), expected, delta=0.0005 + 1e-5)


class Heatmaps(PageTest):
    @classmethod
    def setUpClass(cls):
        cls.page = program.page("demo", TEXT)
        cls.told = program.json(TEXT)
        tokens = cls.page.data["queries"]
        cls.labels = tuple("*" * (place in tokens["special"]) + label
                           for place, label in enumerate(tokens["label"]))
        assert len(set(cls.labels)) == len(cls.labels), "tokens that look alike"

    def setUp(self):
        super().setUp()
        browser.open(self.page.path, f"#head={HEAD[0]}.{HEAD[1]}&colormap=viridis&scale=linear")

    def weight(self, query, key, head=HEAD):
        return self.told["attention"][head[0]][head[1]][query][key]

    def picture_colors(self, *options):
        """The colours of the cells in the program's picture of the same head, [query][key]."""
        path = program.folder / "picture.svg"
        program.run(TEXT, "--head", "{}.{}".format(*HEAD), "-q", "-o", str(path), *options)
        squares = {}
        for fill, data in re.findall(r'<path fill="#([0-9a-f]{6})" d="([^"]*)"', path.read_text(encoding="utf-8")):
            for x, y, width, height in re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-\d+z", data):
                if width == height:
                    squares.setdefault(width, {})[int(y), int(x)] = list(bytes.fromhex(fill))
        n = len(self.labels)
        cells = next(found for found in squares.values() if len(found) >= n * (n + 1) // 2)
        rows, columns = (sorted({place[axis] for place in cells}) for axis in (0, 1))
        self.assertEqual((len(rows), len(columns)), (n, n))
        return [[cells.get((y, x)) for x in columns] for y in rows]

    def pixels(self, points):
        """Colours of the heatmap that is drawn."""
        return browser.run("""
            const canvas = document.querySelector(".stage canvas");
            // Read from a copy: Chromium would complain of the page's own.
            const context = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", {willReadFrequently: true});
            context.drawImage(canvas, 0, 0);
            return arguments[0].map(([x, y]) => [...context.getImageData(x, y, 1, 1).data].slice(0, 3));
            """, [[round(x), round(y)] for x, y in points])

    def test_the_pointer_tells_number_and_colour_of_200_cells(self):
        left, top, *size = stage()
        (x0, across), (y0, down) = heatmap_cells(self.labels, *size)
        picture = self.picture_colors()
        chance = random.Random(2)
        n = len(self.labels)
        corners, colors = [], []
        for _ in range(200):
            query, key = chance.randrange(n), chance.randrange(n)
            x, y = x0 + (key + 0.5) * across, y0 + (query + 0.5) * down
            browser.point(left + x, top + y)
            with self.subTest(query=query, key=key):
                from_label, to_label, number = readout()
                self.assertEqual((from_label, to_label), (self.labels[query], self.labels[key]))
                if key > query:
                    self.assertEqual(number, "masked, may not be seen")
                else:
                    self.assert_number(number, self.weight(query, key))
                    corners.append((x, y - 0.3 * down))  # beside the number in the cell
                    colors.append(picture[query][key])
        self.assertEqual(self.pixels(corners), colors)

    def test_a_saved_png_has_the_cells_of_the_view(self):
        _, _, *size = stage()
        (x0, across), (y0, down) = heatmap_cells(self.labels, *size)
        browser.point(1, 1)
        browser.frame()
        cells = [(query, key) for query in range(len(self.labels)) for key in range(query + 1)]
        # Two opposite corners of each, without what is written in it.
        points = [(x0 + (key + part) * across, y0 + (query + part) * down)
                  for query, key in cells for part in (0.12, 0.88)]
        picture = self.picture_colors()
        colors = [picture[query][key] for query, key in cells for _ in range(2)]
        self.assertEqual(self.pixels(points), colors)
        png = browser.downloaded("*.png", lambda: self.save("Save PNG"))
        self.assertTrue(png.startswith(b"\x89PNG\r\n\x1a\n"))
        # Twice as many pixels, behind a title and beside a margin.
        found = browser.run_later("""
            const [base64, points, colors] = arguments;
            const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
            createImageBitmap(new Blob([bytes], {type: "image/png"})).then((image) => {
              const canvas = new OffscreenCanvas(image.width, image.height);
              const context = canvas.getContext("2d");
              context.drawImage(image, 0, 0);
              const {data} = context.getImageData(0, 0, image.width, image.height);
              const fits = (dx, dy) => points.every(([x, y], i) => {
                const at = 4 * (Math.round(2 * (y + dy)) * image.width + Math.round(2 * (x + dx)));
                return colors[i].every((value, part) => data[at + part] === value);
              });
              for (let dy = 0; dy < 200; dy++) {
                for (let dx = 0; dx < 200; dx++) {
                  if (fits(dx, dy)) {
                    done([dx, dy]);
                    return;
                  }
                }
              }
              done(null);
            });""", base64.b64encode(png).decode(), points, colors)
        self.assertIsNotNone(found, "no part of the picture has the heatmap's colours")

    def test_colours_are_those_of_the_programs_pictures(self):
        _, _, *size = stage()
        (x0, across), (y0, down) = heatmap_cells(self.labels, *size)
        cells = [(query, key) for query in range(len(self.labels)) for key in range(query + 1)]
        points = [(x0 + (key + 0.5) * across, y0 + (query + 0.2) * down) for query, key in cells]
        for fragment, options in (("scale=sqrt&colormap=magma_r", ["--scale", "sqrt", "--colormap", "magma_r"]),
                                  ("scale=log", ["--scale", "log"]), ("scale=row-max", ["--scale", "row-max"]),
                                  ("range=auto", ["--range", "auto"])):
            with self.subTest(fragment=fragment):
                browser.open(self.page.path, f"#head={HEAD[0]}.{HEAD[1]}&{fragment}")
                picture = self.picture_colors(*options)
                self.assertEqual(self.pixels(points), [picture[query][key] for query, key in cells])

    def save(self, button):
        browser.run("""
            document.querySelectorAll("details").forEach((one) => (one.open = true));
            [...document.querySelectorAll("button")].find((one) => one.textContent === arguments[0]).click();
            """, button)

    def test_a_saved_svg_is_a_picture_with_text_and_nothing_that_runs(self):
        svg = browser.downloaded("*.svg", lambda: self.save("Save SVG"))
        root = ElementTree.fromstring(svg)
        self.assertTrue(root.tag.endswith("}svg"))
        texts = {"".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")}
        self.assertLessEqual(set(self.labels), texts)
        for one in root.iter():
            self.assertNotRegex(one.tag, r"script|foreignObject|\}a$")
            for name, value in one.attrib.items():
                self.assertFalse(name.lower().startswith("on"), name)
                if name.endswith("href"):
                    self.assertRegex(value, "^(data:image/png|#)")

    def test_arrow_keys_move_in_the_heatmap(self):
        browser.run('document.querySelector(".stage").focus()')
        browser.press("ArrowDown")
        query, key, _ = readout()
        n = len(self.labels)
        for press, (down, right) in {"ArrowUp": (-1, 0), "ArrowDown": (1, 0), "ArrowRight": (0, 1),
                                     "ArrowLeft": (0, -1), "End": (0, n), "Home": (0, -n)}.items():
            browser.press(press)
            place = [min(max(self.labels.index(label) + step, 0), n - 1)
                     for label, step in ((query, down), (key, right))]
            query, key, number = readout()
            self.assertEqual([query, key], [self.labels[at] for at in place], press)
            if place[1] <= place[0]:
                self.assert_number(number, self.weight(*place))

    def test_brackets_go_from_head_to_head(self):
        title = 'document.querySelector(".heatmap h3").textContent'
        for key, name in (("]", "L2H2"), ("]", "L2H3"), ("]", "L3H0"), ("[", "L2H3")):
            browser.press(key)
            self.assertTrue(browser.wait_for(f"{title}.includes(given[0])", name), name)
        self.assertTrue(browser.wait_for('location.hash.includes("head=2.3")'))

    def test_a_slash_searches_and_escape_leaves(self):
        browser.press("/")
        self.assertEqual(browser.run("return document.activeElement.type"), "search")
        browser.command("Input.insertText", text="dog")
        at = self.labels.index("␣dog")
        self.assertTrue(browser.wait_for("location.hash.includes(`token=${given[0]}`)", at))
        browser.press("Escape")
        self.assertNotEqual(browser.run("return document.activeElement.type"), "search")

    def test_a_question_mark_opens_the_help_and_escape_closes_it(self):
        is_open = 'return document.querySelector("dialog").open'
        self.assertFalse(browser.run(is_open))
        browser.press("?")
        self.assertTrue(browser.run(is_open))
        self.assertIn("Escape", browser.run('return document.querySelector("dialog").textContent'))
        browser.press("Escape")
        self.assertTrue(browser.wait_for('!document.querySelector("dialog").open'))

    def test_a_click_picks_a_row_and_the_table_has_its_numbers(self):
        left, top, *size = stage()
        (x0, across), (y0, down) = heatmap_cells(self.labels, *size)
        query = 9
        browser.point(left + x0 + across / 2, top + y0 + (query + 0.5) * down)
        browser.click(left + x0 + across / 2, top + y0 + (query + 0.5) * down)
        self.assertTrue(browser.wait_for("location.hash.includes(`token=${given[0]}`)", query))
        self.assert_rows({key: self.weight(query, key) for key in range(len(self.labels))})
        browser.press("d")
        self.assert_rows({other: self.weight(other, query) for other in range(len(self.labels))})

    def test_the_view_stands_in_the_address_and_survives_a_reload(self):
        browser.open(self.page.path)
        for key in ("]", "d", "/"):
            browser.press(key)
        browser.command("Input.insertText", text="mat")
        browser.run("""
            const select = [...document.querySelectorAll(".controls select")].find(
              (one) => [...one.options].some((option) => option.value === "magma"));
            select.value = "magma";
            select.dispatchEvent(new Event("change", {bubbles: true}));""")
        view = """[location.hash, document.querySelector(".heatmap h3").textContent,
            document.querySelector(".stage canvas").toDataURL(),
            document.querySelector(".paragraph [aria-selected=true]").textContent]"""
        browser.wait_for('location.hash.includes("magma")')
        browser.run_later("setTimeout(done, 250)")
        before = browser.run(f"return {view}")
        self.assertIn("colormap=magma", before[0])
        self.assertIn("as-key=on", before[0])
        self.assertIn(f"token={self.labels.index('␣mat')}", before[0])
        browser.driver.refresh()
        browser.settle()
        browser.run_later("setTimeout(done, 100)")
        self.assertEqual(browser.run(f"return {view}"), before)

    def test_an_address_of_nonsense_opens_the_usual_view(self):
        browser.open(self.page.path)
        usual = browser.run('return document.querySelector(".stage canvas").toDataURL()')
        browser.open(self.page.path, "#head=99.99&token=9999,-1,x&colormap=<b>&scale=%&fold=7-2&heads=,")
        self.assertEqual(browser.run('return document.querySelector("[role=alert]")'), None)
        self.assertEqual(browser.run('return document.querySelector(".stage canvas").toDataURL()'), usual)


class WhatIsMadeOfWeights(PageTest):
    """Means, words, columns: the page computes them itself, as the program does."""
    TEXT = ("Anna gave the book to Tom, because Tom had lost his own. Later that evening, Tom told Anna "
            "that it was wonderful.")

    @classmethod
    def setUpClass(cls):
        cls.page = program.page("story", cls.TEXT)
        cls.told = program.json(cls.TEXT)
        cls.n = len(cls.told["tokens"])

    def check(self, fragment, expected, page=None):
        browser.open((page or self.page).path, fragment)
        self.assert_rows(expected if isinstance(expected, dict) else dict(enumerate(expected)))

    def row(self, *options, query=9):
        return program.json(self.TEXT, *options)["attention"][0][0][query]

    def test_means_of_heads(self):
        for fragment, options in (
                ("head=1.3&average=heads", ["--layer", "1", "--average", "heads"]),
                ("head=1.3&average=layers", ["--head", "*.3", "--average", "layers"]),
                ("head=1.3&average=all", ["--average", "all"]),
                ("head=1.3&average=chosen&heads=0.1,2.2", ["--head", "0.1,2.2", "--average", "all"])):
            with self.subTest(fragment=fragment):
                self.check(f"#token=9&{fragment}", self.row(*options))

    def test_columns_and_several_tokens(self):
        rows = self.told["attention"][1][3]
        self.check("#head=1.3&token=5&as-key=on", [row[5] for row in rows])
        self.check("#head=1.3&token=3,9", [a + b for a, b in zip(rows[3], rows[9])])

    def test_without_the_first_token_the_rest_sums_to_1(self):
        row = self.told["attention"][2][1][9][1:]
        self.check("#head=2.1&token=9&drop-sink=on",
                   {place: weight / sum(row) for place, weight in enumerate(row, start=1)})

    def test_words(self):
        words = program.json(self.TEXT, "--head", "2.1", "--merge", "words")
        self.assertLess(len(words["tokens"]), self.n)
        groups = self.page.data["queries"]["word"]
        begins = [groups.index(word) for word in range(len(words["tokens"]))]
        for token in (4, self.n - 1):
            self.check(f"#head=2.1&merge=words&token={token}",
                       dict(zip(begins, words["attention"][0][0][groups[token]], strict=True)))

    def test_the_command_of_a_view_draws_it(self):
        program.page("inspect", "inspect", self.TEXT, "--head", "2.1")
        for page, fragment in (
                ("story", "#head=2.2&token=4"), ("story", "#head=1.3&token=5&as-key=on&scale=log"),
                ("story", "#average=chosen&heads=0.1,2.2&colormap=magma_r&token="),
                ("story", "#head=2.1&merge=words&token=9&range=auto"), ("story", "#drop-sink=on"),
                ("inspect", "")):
            with self.subTest(page=page, fragment=fragment):
                browser.open(program.folder / f"{page}.html", fragment)
                line = browser.run("""
                    document.querySelectorAll("details").forEach((one) => (one.open = true));
                    [...document.querySelectorAll("button")].find((one) => one.textContent === "Copy the command").click();
                    return document.querySelector("code").textContent;""")
                self.assertRegex(line, "^attnviz ")
                done = subprocess.run(["bash", "-c", line.replace("attnviz", f"'{program.path}'", 1)],
                                      capture_output=True, text=True, check=False, timeout=20)
                self.assertEqual((done.returncode, done.stderr), (0, ""), line)

    def test_coded_weights_are_within_what_the_page_says(self):
        chance = random.Random(5)
        text = " ".join(chance.choice(["red", "cat", "sat", "tree", "bird", "stone"]) for _ in range(200))
        options = ["--random", "--layers", "4", "--heads", "4", "--seed", "3"]
        page = program.page("coded", *options, text=text)
        self.assertEqual(page.data["documents"][0]["heads"][5]["weights"]["code"], "u16")
        told = program.json(*options, text=text)["attention"][1][1]
        self.check("#head=1.1&token=150", told[150], page)
        browser.run('document.querySelector(".stage").focus()')
        browser.press("ArrowDown")
        self.assertRegex(browser.frame('document.querySelector(".stage ~ .readout").textContent'), " ± ")


class HostileTokens(PageTest):
    """Tokens are text, whatever they hold."""

    def check(self, page, tokens):
        browser.open(page.path)
        said = browser.run("""
            document.querySelectorAll("details").forEach((one) => (one.open = true));
            return [document.querySelector("main").textContent, document.querySelectorAll(
              "img, iframe, object, embed, script:not(body > script), main b, [onclick], [onerror]").length,
              document.querySelector("[role=alert]")?.textContent ?? ""];""")
        self.assertEqual(said[1:], [0, ""])
        for key in ("ArrowDown", "ArrowRight", "]", "d"):
            browser.run('document.querySelector(".stage").focus()')
            browser.press(key)
        self.assertEqual(browser.run("return document.querySelectorAll('body > script').length"), 2)
        self.assertEqual(page.data["queries"]["text"], tokens)
        svg = browser.downloaded("*.svg", lambda: browser.run("""
            [...document.querySelectorAll("button")].find((one) => one.textContent === "Save SVG").click();"""))
        self.assertFalse([one.tag for one in ElementTree.fromstring(svg).iter() if "script" in one.tag])
        return said[0]

    def test_markup_in_a_text_stays_text(self):
        page = program.page("hostile", HOSTILE, "--title", "</title><script>alert(3)</script>")
        text = self.check(page, program.json(HOSTILE)["tokens"])
        self.assertIn("<script>alert(3)</script>", text)
        self.assertIn("onerror", text.replace("\u2060", ""))

    def test_signs_of_all_kinds(self):
        self.check(program.page("strange", STRANGE), program.json(STRANGE)["tokens"])

    def test_tokens_of_another_program(self):
        tokens = ["</script><img src=x onerror=alert(1)>", "<!--<script>", "\u2028", "\x01\x1b[0m",
                  "👩‍👩‍👧", "\u202Eمرحبا", "日本語", "", "__proto__", "${1}", " "]
        told = program.json(" ".join("abcdefghijk"), "--random")
        self.assertEqual(len(told["tokens"]), len(tokens))
        told["tokens"] = tokens
        told.pop("text", None)
        path = program.folder / "tokens.json"
        path.write_text(json.dumps(told), encoding="utf-8")
        text = self.check(program.page("tokens", "render", str(path)), tokens)
        self.assertIn("onerror=alert(1)>", text)

    def test_a_hostile_address_makes_nothing(self):
        page = program.page("plain", "The cat sat")
        browser.open(page.path, "#head=<img src=x onerror=alert(1)>&token=<b>&merge=javascript:alert(1)")
        self.assertEqual(browser.run("return document.querySelectorAll('img, b').length"), 0)


class OtherPages(PageTest):
    """All kinds of pages open without a complaint."""

    def test_pages_of_all_kinds(self):
        inspected = program.page("inspect", "inspect", TEXT, "--head", "2.1,3.0")
        saved = program.folder / "saved.json"
        saved.write_text(program.run(TEXT, "--json"), encoding="utf-8")
        pages = {
            "inspect": inspected,
            "render": program.page("render", "render", str(saved)),
            "mean": program.page("mean", TEXT, "--average", "heads"),
            "rollout": program.page("rollout", "rollout", TEXT),
            "sides": program.page("sides", TEXT, "--side-by-side", "causal,none", "--layer", "2"),
            "words": program.page("words", TEXT, "--merge", "words"),
            "one token": program.page("one", "--random", "cat"),
            "generated": program.page("generated", "The cat sat", "--generate", "5"),
            "hidden": program.page("hidden", TEXT, "--hide", "cat>The"),
            "log": program.page("log", TEXT, "--scale", "log", "--temperature", "0.5"),
        }
        for name, page in pages.items():
            with self.subTest(page=name):
                browser.open(page.path)
                browser.run_later("setTimeout(done, 60)")
                self.assertEqual(browser.run("""
                    const stages = [...document.querySelectorAll(".stage")];
                    return [document.querySelector("[role=alert]")?.textContent ?? "",
                      stages.length >= 1 && stages.every((one) => one.clientHeight > 10)];"""), ["", True])
                self.assertEqual(browser.run("""
                    return performance.getEntriesByType("resource").map((one) => one.name).filter(
                      (name) => !/^(data|blob):/.test(name));"""), [])
                self.assertEqual(browser.messages(), [])

    def test_steps_lead_to_the_weights(self):
        page = program.page("inspect", "inspect", TEXT, "--head", "2.1")
        weights = program.json(TEXT)["attention"][2][1]
        steps = page.data["steps"]["heads"][0]
        q, k, d = page.floats(steps["q"]), page.floats(steps["k"]), steps["d_head"]
        for query, row in enumerate(weights):
            scores = [steps["scale"] * sum(a * b for a, b in zip(q[query * d:][:d], k[key * d:][:d]))
                      for key in range(query + 1)]
            total = sum(map(math.exp, scores))
            for key, score in enumerate(scores):
                self.assertAlmostEqual(math.exp(score) / total, row[key], delta=1e-5)


    def test_a_page_of_two_texts(self):
        told = {"schema": "attnviz.attention/1", "tokens": ["Le", "chat", "dort"],
                "key_tokens": ["The", "cat", "is", "asleep"],
                "attention": [[[[0.5, 0.25, 0.125, 0.125], [0.1, 0.2, 0.3, 0.4], [1, 0, 0, 0]]]]}
        path = program.folder / "cross.json"
        path.write_text(json.dumps(told), encoding="utf-8")
        page = program.page("cross", "render", str(path))
        self.assertEqual(page.data["shape"], [3, 4])
        for fragment, expected in (("#token=1", [0.1, 0.2, 0.3, 0.4]),
                                   ("#token=3&as-key=on", [0.125, 0.4, 0])):
            browser.open(page.path, fragment)
            self.assert_rows(dict(enumerate(expected)))

    def test_each_step_has_the_programs_numbers(self):
        text, query = "The cat sat on a mat", 5
        told = program.json("inspect", text, "--head", "2.1")["heads"][0]
        # Of this head alone: earlier layers stay as they are.
        warm = [math.exp(score / 2) for score in told["scaled"][query][:query + 1]] + [0.0]
        warm = [weight / sum(warm) for weight in warm]
        browser.open(program.page("steps", "inspect", text, "--head", "2.1").path, f"#token={query}")
        for title, numbers in (("Dot product", told["scores"][query]), ("Scale", told["scaled"][query]),
                               ("Softmax", told["weights"][query])):
            with self.subTest(step=title):
                self.check_step(title, numbers)
        browser.run("""
            const slider = document.querySelector(".steps-panel input[aria-label=temperature]");
            slider.value = "2";
            slider.dispatchEvent(new Event("input", {bubbles: true}));""")
        browser.frame()
        self.check_step("Softmax", warm)

    def check_step(self, title, numbers):
        browser.run("""
            [...document.querySelectorAll(".steps-panel button")].find(
              (one) => one.textContent === arguments[0]).click();""", title)
        said = browser.frame('document.querySelector(".steps-panel canvas").getAttribute("aria-label")')
        self.assertTrue(said.startswith(f"{title}: "), said)
        shown = re.findall(r"\S+ (-?[\d.e-]+)[,.](?: |$)", said.split(": ", 1)[1])
        self.assertEqual(len(shown), len(numbers), said)
        for one, other in zip(shown, numbers):
            self.assertAlmostEqual(float(one), other, delta=0.0006 + 1e-6 * abs(other))


class LiveModel(PageTest):
    """The model in the page computes what the program does."""

    @classmethod
    def setUpClass(cls):
        cls.page = program.page("live", TEXT, "--live")

    def start(self):
        """The page's own script in a page without data, where nothing starts, with its names let out."""
        browser.driver.get("about:blank")
        script, end = self.page.script.rsplit("})();", 1)
        self.assertEqual(end.strip(), "")
        browser.run(script + "\nwindow.createLiveOfPage = createLive;\n})();")
        live = self.page.data["live"]
        blobs = {str(live[part]): self.page.data["blobs"][live[part]] for part in live}
        self.assertEqual(browser.run_later("""
            const [live, blobs] = arguments;
            const inflated = async (number) => {
              const bytes = Uint8Array.from(atob(blobs[number]), (sign) => sign.charCodeAt(0));
              return new Response(new Blob([bytes]).stream().pipeThrough(
                new DecompressionStream("deflate-raw"))).arrayBuffer();
            };
            createLiveOfPage(live, inflated).then((made) => {
              window.live = made;
              done("");
            }, (error) => done(String(error)));""", live, blobs), "")

    def run_live(self, text, without=()):
        result = browser.run("""
            const result = live.run(arguments[0], {without: arguments[1]});
            const n = result.tokens.id.length;
            const bytes = new Uint8Array(4 * 16 * n * n);
            for (let head = 0; head < 16; head++) {
              const weights = result.weights(head >> 2, head & 3).slice();
              bytes.set(new Uint8Array(weights.buffer), 4 * head * n * n);
            }
            const parts = [];
            for (let at = 0; at < bytes.length; at += 8192) {
              parts.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
            }
            const {id, text, begin, end, special} = result.tokens;
            return {id, text, begin, end, special, prediction: result.prediction, weights: btoa(parts.join(""))};
            """, text, list(without))
        result["weights"] = array.array("f", base64.b64decode(result["weights"]))
        return result

    def test_tokens_weights_and_predictions_are_the_programs(self):
        self.start()
        texts = live_texts.SENTENCES + live_texts.HARD + live_texts.random_texts(100, seed=7)
        cut = program.lines("tokenize", texts=texts)
        for without, some in (([], texts), ([[2, 1]], live_texts.SENTENCES),
                              ([[0, 0], [1, 3], [3, 2]], live_texts.SENTENCES)):
            ablated = ["--ablate", ",".join(f"{l}.{h}" for l, h in without)] if without else []
            answers = program.lines("show", "--predict", "5", *ablated, texts=some)
            self.assertEqual(len(answers), len(some))
            for text, ranges, told in zip(some, cut, answers):
                with self.subTest(text=text, without=without):
                    self.compare(self.run_live(text, without), told, ranges)

    def compare(self, ours, told, cut):
        self.assertEqual(ours["text"], told["tokens"])
        self.assertEqual(ours["id"], told["token_ids"])
        self.assertEqual(ours["special"], told["marks"]["special"])
        self.assertEqual([list(pair) for pair in zip(ours["begin"], ours["end"])], cut["ranges"])
        flat = [weight for layer in told["attention"] for head in layer for row in head for weight in row]
        self.assertEqual(len(ours["weights"]), len(flat))
        worst = max(map(abs, map(float.__sub__, ours["weights"], map(float, flat))))
        self.assertLessEqual(worst, 1e-4)
        for one, other in zip(ours["prediction"], told["predictions"]["top"], strict=True):
            self.assertEqual(one["id"], other["id"])
            self.assertLessEqual(abs(one["probability"] - other["probability"]), 1e-4)

    def test_queries_keys_and_values_are_the_programs(self):
        self.start()
        for layer, head in ((0, 0), (1, 3), (2, 1)):
            told = program.json("inspect", TEXT, "--head", f"{layer}.{head}")["heads"][0]
            for name in "qkv":
                ours = browser.run("return [...live.run(arguments[0])[arguments[1]](arguments[2], arguments[3])]",
                                   TEXT, name, layer, head)
                expected = [value for row in told[name] for value in row]
                self.assertEqual(len(ours), len(expected))
                self.assertLessEqual(max(abs(a - b) for a, b in zip(ours, expected)), 1e-4)

    def test_what_the_program_refuses_is_refused(self):
        self.start()
        for text in live_texts.REFUSED:
            with self.subTest(text=text[:9]):
                said = browser.run("""
                    try { live.run(arguments[0]); return ""; } catch (error) { return error.message; }""", text)
                self.assertRegex(said, "empty or blank|context ends at 256|more than 256")
                with self.assertRaises(AssertionError):
                    program.run("--json", text=text)

    def type(self, text):
        browser.run("""
            const box = document.querySelector("#live-text");
            box.value = arguments[0];
            box.dispatchEvent(new Event("input", {bubbles: true}));""", text)

    def test_what_is_typed_is_shown(self):
        browser.open(self.page.path, "#head=2.1")
        for text in ("Tom gave Anna a book. Later, Tom gave Anna a", HOSTILE, STRANGE):
            with self.subTest(text=text):
                told = program.json(text, "--predict", "5")
                n = len(told["tokens"])
                self.type(text)
                self.assertTrue(browser.wait_for(
                    'document.querySelector(".live [role=status]").textContent.startsWith(`${given[0]} of`)', n))
                self.assert_rows(dict(enumerate(told["attention"][2][1][n - 1])))
                self.assertEqual(browser.run("""return document.querySelectorAll("img, main b, main script").length"""), 0)
        self.type("   ")
        self.assertTrue(browser.wait_for(
            'document.querySelector(".live [role=status]").textContent.includes("empty or blank")'))
        self.type("The cat sat")
        self.assertTrue(browser.wait_for(
            'document.querySelector(".live [role=status]").textContent.startsWith("4 of 256")'))


class EveryScreen(PageTest):
    @classmethod
    def setUpClass(cls):
        saved = program.folder / "wide.json"
        told = program.json("a b c", "--random")
        told["tokens"] = ["a" * 90, "<b>" * 20, "\u0636" * 60]
        told.pop("text", None)
        saved.write_text(json.dumps(told), encoding="utf-8")
        cls.pages = {
            "show": program.page("demo", TEXT),
            "live": program.page("live", TEXT, "--live"),
            "inspect": program.page("inspect", "inspect", TEXT, "--head", "2.1"),
            "sides": program.page("sides", TEXT, "--side-by-side", "causal,none"),
            "long tokens": program.page("wide", "render", str(saved)),
        }

    def test_a_phone_scrolls_in_one_direction(self):
        browser.screen(360, 740, ratio=2, mobile=True)
        for name, page in self.pages.items():
            with self.subTest(page=name):
                browser.open(page.path)
                browser.run_later("""
                    document.querySelectorAll("details").forEach((one) => (one.open = true));
                    setTimeout(done, 100);""")
                self.assertEqual(browser.run("return [innerWidth, document.documentElement.scrollWidth]"), [360, 360])

    def test_nothing_moves_for_those_who_do_not_want_it(self):
        browser.prefer(reduced_motion="reduce")
        for name in ("show", "live"):
            browser.open(self.pages[name].path)
            browser.press("]")
            self.assertEqual(browser.run("""
                return [...document.querySelectorAll("*")].filter((one) => {
                  const style = getComputedStyle(one);
                  return parseFloat(style.transitionDuration) > 0.01 || style.animationName !== "none" ||
                    style.scrollBehavior === "smooth";
                }).map((one) => one.outerHTML.slice(0, 80)).concat(document.getAnimations().map(String));"""), [])

    def test_dark_pages_are_dark(self):
        def background():
            browser.open(self.pages["show"].path)
            style = browser.run("return getComputedStyle(document.body).backgroundColor + getComputedStyle(document.documentElement).backgroundColor")
            return [int(part) for part in re.findall(r"rgb\((\d+), (\d+), (\d+)\)", style)[0]]
        browser.prefer(color_scheme="dark")
        self.assertLess(max(background()), 80)
        browser.prefer(color_scheme="light")
        self.assertGreater(min(background()), 200)


class Accessibility(PageTest):
    axe = None

    @classmethod
    def setUpClass(cls):
        if cls.axe is None:
            raise unittest.SkipTest("no axe-core")

    def check(self):
        browser.run(self.axe)
        found = browser.run_later("""
            axe.run({resultTypes: ["violations"], runOnly:
              ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(
              ({violations}) => done(violations.map(({id, help, nodes}) =>
                `${id}: ${help}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" ")}`)),
              (error) => done([String(error)]));""")
        self.assertEqual(found, [])

    def test_axe_finds_nothing(self):
        for name, page, scheme, width in (
                ("live", program.page("live", TEXT, "--live"), "light", 1440),
                ("inspect", program.page("inspect", "inspect", TEXT, "--head", "2.1"), "dark", 1440),
                ("phone", program.page("demo", TEXT), "light", 360)):
            with self.subTest(page=name):
                browser.screen(width, 900)
                browser.prefer(color_scheme=scheme)
                browser.open(page.path)
                browser.run_later("""
                    document.querySelectorAll("details").forEach((one) => (one.open = true));
                    setTimeout(done, 150);""")
                self.check()
        with self.subTest(page="help"):
            browser.press("?")
            self.check()


class TimedResult(unittest.TextTestResult):
    def startTest(self, test):
        self.begin = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        self.stream.writeln(f"    {time.monotonic() - self.begin:.1f} s")
        super().stopTest(test)


def main(path, source, build, *names):
    global program, browser  # pylint: disable=global-statement
    folder = Path(tempfile.mkdtemp(prefix="attnviz-browser-"))
    try:
        program = Program(path, folder)
        browser = Browser(folder)
        npm = Path(build) / "npm"
        fetched = subprocess.run([Path(source) / "tests/browser/npm_package.sh", AXE, npm],
                                 capture_output=True, text=True, check=False)
        if fetched.returncode == 0:
            Accessibility.axe = (npm / "axe-core/node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
        else:
            print(fetched.stdout.strip() or f"SKIPPED: no axe-core: {fetched.stderr.strip()}")
        unittest.main(argv=["browser_test.py", "-v", *names], testRunner=unittest.TextTestRunner(
            stream=sys.stdout, verbosity=2, resultclass=TimedResult))
    finally:
        if browser is not None:
            browser.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
