"""What a page says of what it shows: sentences, commands, how exact its numbers are."""
import json
import math
import random
import re
import struct
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from page_case import PageTest, TEXT, deflated, press_button, rendered, token_rows, with_data
from session import browser, program


def said_of_cell(*keys):
    browser.run('document.querySelector(".stage").focus()')
    for key in keys:
        browser.press(key)
    return browser.frame('document.querySelector(".stage ~ .readout").textContent')


def sentence():
    return browser.frame('document.querySelector(".token-panel .readout").textContent')


def copied():
    press_button("Copy the command")
    return browser.wait_for("""(() => {
        const [line, note] = document.querySelector(".command").children;
        return note.textContent && [line.textContent, note.textContent]; })()""")


class WhatAPageSays(PageTest):
    def test_a_mean_hides_only_what_all_of_its_heads_hide(self):
        page = program.page("partly", TEXT, "--hide", "cat>The@1.0")
        browser.open(page.path, "#average=heads&head=1.0&token=2")
        mean = program.json(TEXT, "--hide", "cat>The@1.0", "--layer", "1", "--average", "heads")
        # The first key is the beginning of the text.
        said = said_of_cell("ArrowRight", "ArrowRight")
        self.assertRegex(said, "cat.*The.*: 0")
        self.assertAlmostEqual(float(said.split()[-1]), mean["attention"][0][0][2][1], delta=0.0006)

    def test_means_of_a_few_heads_are_copied_as_what_they_are(self):
        page = program.page("few", TEXT, "--head", "2.1,2.3,3.1")
        for average, listed in (("all", "2.1,2.3,3.1"), ("heads", "2.1,2.3"),
                                ("layers", "2.1,3.1")):
            with self.subTest(average=average):
                browser.open(page.path, f"#average={average}&head=2.1&token=5")
                line, _ = copied()
                self.assertIn(f"--head {listed} --average all", line)
                line = line.replace("attnviz", f"'{program.path}'", 1)
                told = json.loads(subprocess.run(
                    ["bash", "-c", f"{line} --json"], stdin=subprocess.DEVNULL,
                    capture_output=True, text=True, check=True).stdout)
                self.assert_rows(dict(enumerate(told["attention"][0][0][5])))

    def test_a_copied_line_says_what_it_leaves_out(self):
        means = program.page("means", TEXT, "--average", "heads")
        sides = program.page("sides", TEXT, "--side-by-side", "causal,none", "--layer", "2")
        plain = program.page("plain", TEXT)
        for page, fragment, limit in (
                (means, "", "which of the 4 patterns"), (sides, "#document=1", "which document"),
                (plain, "#average=heads&compare=0.0", "the pattern that it is compared with")):
            with self.subTest(limit=limit):
                browser.open(page.path, fragment)
                self.assertIn(f"The command does not reproduce: {limit}", copied()[1])
        browser.open(plain.path, "#compare=0.0")
        self.assertNotIn("The command does not contain", copied()[1])

    def test_a_copied_line_shows_and_keeps_signs_that_cannot_be_seen(self):
        text = "a\x03b\n\x7f\u0085 it's \\ \u202exyz"
        path = with_data(program.page("signs", "The cat sat"), "signs", command_text=text)
        browser.open(path)
        line, _ = copied()
        self.assertTrue(line.isprintable(), line)
        words = subprocess.run(
            ["bash", "-c", "attnviz() { printf '%s\\0' \"$@\"; }; " + line],
            capture_output=True, check=True).stdout.split(b"\0")
        self.assertEqual(words[-2].decode(), text)

    def test_coded_numbers_say_how_exact_they_are(self):
        chance = random.Random(5)
        text = " ".join(chance.choice("red cat sat tree bird stone".split()) for _ in range(200))
        options = ["--random", "--layers", "4", "--heads", "4", "--seed", "3"]
        page = program.page("coded", *options, text=text)
        heads = program.json(*options, text=text)["attention"]
        rows = [head[150] for layer in heads for head in layer]
        mean = [sum(numbers) / len(rows) for numbers in zip(*rows)]
        one = heads[1][1][150]
        rest = [0] + [weight / sum(one[1:]) for weight in one[1:]]
        for fragment, row in (("head=1.1", one), ("average=all", mean),
                              ("head=1.1&drop-sink=on", rest)):
            with self.subTest(fragment=fragment):
                browser.open(page.path, f"#{fragment}&token=150")
                self.assertRegex(said_of_cell(), "^Values (± at most|differ in)")
                said = said_of_cell("ArrowRight", "ArrowRight", "ArrowRight")
                number, error = map(float, re.search(r": (\S+) ± (\S+)$", said).groups())
                place = 3 if "drop" in fragment else 2
                self.assertLessEqual(abs(number - row[place]), error + 0.0005)

    def test_no_decimals_that_the_codes_do_not_have(self):
        packed = {"code": "u8", "low": 0, "high": 1, "curve": "linear"}
        page = program.page("u8", "The cat sat", "--head", "2.1")
        head = page.data["documents"][0]["heads"][0]
        n = page.data["shape"][0]
        blobs = page.data["blobs"] + [deflated(bytes([100] * (n * (n + 1) // 2)))]
        coded = {**head, "weights": {**packed, "blob": len(blobs) - 1}}
        coded.pop("exact", None)
        documents = [{"name": "", "heads": [coded]}]
        browser.open(with_data(page, "u8", blobs=blobs, steps=None, documents=documents))
        self.assertRegex(said_of_cell("ArrowRight"), r": 0\.39 ± 0\.0020$")
        self.assertRegex(sentence(), r"0\.39$")

    def test_numbers_without_end_fit_into_their_cells(self):
        page = program.page("endless", "The cat sat", "--head", "2.1")
        head = page.data["documents"][0]["heads"][0]
        n = page.data["shape"][0]
        stored = struct.pack("<f", math.inf) * (n * (n + 1) // 2)
        blobs = page.data["blobs"] + [deflated(stored)]
        packed = {"code": "f32", "low": 0, "high": 1, "curve": "linear", "blob": len(blobs) - 1}
        coded = {**head, "weights": packed}
        coded.pop("exact", None)
        documents = [{"name": "", "heads": [coded]}]
        browser.open(with_data(page, "endless", blobs=blobs, steps=None, documents=documents))
        self.assertRegex(said_of_cell("ArrowRight"), ": ∞$")
        svg = browser.downloaded("*.svg", lambda: press_button("Save SVG")).decode()
        self.assertIn(">∞<", svg)
        self.assertNotIn("Infinity", svg)

    def test_differences_are_told_by_size(self):
        texts = ["The cat sat on a mat", "The dog sat on a mat"]
        page = program.page("differs", "diff", *texts, "--head", "2.1")
        self.assertTrue(page.data["drawing"]["zero_centred"])
        row = page.floats(page.data["documents"][0]["heads"][0]["weights"]["blob"])
        browser.open(page.path, "#token=6")
        most = max(row[21:28], key=abs)
        said = sentence()
        self.assertRegex(said, "changes most toward")
        self.assertAlmostEqual(float(said.split()[-1]), most, delta=0.0006)

    def test_a_page_opens_in_the_direction_it_was_asked_for(self):
        page = program.page("as_key", TEXT)
        path = with_data(page, "as_key", focus=2, focus_as_key=True)
        pressed = 'document.querySelector(".direction .to").getAttribute("aria-pressed")'
        browser.open(path)
        self.assertEqual(browser.frame(pressed), "true")
        browser.open(path, "#as-key=off")
        self.assertEqual(browser.frame(pressed), "false")
        browser.run('document.querySelector(".direction .to").click()')
        self.assertFalse(browser.run_later(
            'setTimeout(() => done(location.hash.includes("as-key")), 300)'))

    def test_tokens_written_from_the_right_turn_nothing_around_them(self):
        weights = [[1, 0, 0], [0.25, 0.75, 0], [0.5, 0.25, 0.25]]
        page = rendered("right", {"tokens": ["مرحبا", " cat", "12"], "attention": [[weights]]})
        browser.open(page.path, "#token=2")
        isolated = "\u2068مرحبا\u2069"
        self.assertIn(f"“{isolated}” 0.5", sentence())
        self.assertIn(f"“{isolated}”", said_of_cell("ArrowRight"))
        whole = browser.run('return document.querySelector("main").textContent')
        self.assertNotIn("\u2068␣cat", whole)

    def test_zeros_that_may_be_seen_are_not_masked(self):
        weights = [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]]
        for options in ([], ["--mask", "none"]):
            page = rendered("seen", {"tokens": list("abc"), "attention": [[weights]]}, *options)
            self.assertTrue(page.data["triangle"])
            browser.open(page.path)
            self.assertRegex(said_of_cell("ArrowUp", "ArrowUp", "ArrowUp", "End"), r": 0\.000$")
            self.assertNotIn("Show masked cells", browser.run(
                'return document.querySelector(".controls").textContent'))

    def test_weights_in_colours_of_two_sides_are_no_changes(self):
        page = program.page("colours", TEXT, "--colormap", "blue-red", "--drop-sink")
        browser.open(page.path)
        self.assertTrue(browser.run("""return [...document.querySelectorAll("label.flag")].find(
            (one) => one.textContent.startsWith("Hide the first")).firstChild.checked"""))
        for panel in (".heatmap-panel", ".token-panel"):
            said = browser.run("return document.querySelector(arguments[0]).innerText", panel)
            self.assertNotIn("change", said)

    def test_tokens_that_are_no_text_stand_apart(self):
        weights = [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]]
        browser.open(rendered("bare", {"tokens": list("012"), "attention": [[weights]]}).path)
        self.assertEqual(
            browser.run('return document.querySelector(".paragraph").textContent'), "0 1 2")

    def test_wrong_documents_are_as_if_nothing_was_said(self):
        page = program.page("two", TEXT, "--side-by-side", "causal,none", "--layer", "2")
        for said in ("0.5", "-3", "7", "x"):
            with self.subTest(said=said):
                browser.open(page.path, f"#document={said}")
                self.assertEqual(browser.run("""return [
                    document.querySelectorAll("[role=alert]").length,
                    document.querySelectorAll(".heatmap:not([hidden])").length];"""), [0, 2])

    def test_pages_of_routers_and_states_do_not_speak_of_attention(self):
        models = Path(__file__).parent.parent / "reference" / "experts"
        for kind, model, title in (("router", "qwen2moe", "All routers"), ("decay", "qwen3.5", "All states")):
            page = program.page(kind, "-m", str(models / model), "--ids", "1,2,3", "--show", kind)
            browser.open(page.path)
            said = browser.wait_for("""document.querySelector(".token-panel .readout").textContent &&
                document.querySelector("main, #attnviz").innerText""")
            self.assertIn(title, said)
            for word in ("looks", "head", "Quer", "L0H0"):
                self.assertNotIn(word, said, kind)

    def test_pages_of_routers_name_what_they_speak_of(self):
        models = Path(__file__).parent.parent / "reference" / "experts"
        page = program.page("router", "-m", str(models / "qwen2moe"), "--ids", "1,2,3",
                            "--show", "router")
        browser.open(page.path, "#token=1")
        self.assertRegex(sentence(), r"^token “2” gets the most from expert “\d” ")
        browser.open(page.path, "#token=1&as-key=on")
        self.assertRegex(sentence(), r"^Expert “1” gives the most to token “\d” ")
        controls = browser.run('return document.querySelector(".controls").textContent')
        self.assertIn("Show experts that are not chosen", controls)
        self.assertNotIn("masked", controls)

    def test_masked_weights_are_no_zeros_in_the_table(self):
        weights = [[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0.25, 0.25, 0.25, 0.25]]
        page = rendered("table", {"tokens": list("abcd"), "attention": [[weights]]},
                        "--mask", "causal")
        for fragment, expected in (
                ("token=1", [["a", "1"], ["b", "0.000"], ["c", "masked"], ["d", "masked"]]),
                ("token=0,1", [["a", "2"], ["b", "0.000"], ["c", "masked"], ["d", "masked"]]),
                ("token=2&as-key=on", [["c", "1"], ["d", "0.250"], ["a", "masked"],
                                       ["b", "masked"]]),
                ("token=", [["a", "0.000"], ["b", "0.000"], ["c", "0.000"], ["d", "0.000"]])):
            with self.subTest(fragment=fragment):
                browser.open(page.path, f"#{fragment}")
                self.assertEqual([[label, number] for label, _, number in token_rows()], expected)

    def test_the_table_of_heads_has_no_empty_columns(self):
        shared = program.page("shared", TEXT, "--random", "--layers", "1", "--heads", "4",
                              "--kv-heads", "2")
        names = """(() => {
            document.querySelectorAll("details").forEach((one) => (one.open = true));
            const table = document.querySelector(".overview-panel table");
            return table && [...table.rows].map((row) => [...row.cells].map((one) => one.textContent));
            })()"""
        for page, shares in ((program.page("plain", TEXT), False), (shared, True)):
            browser.open(page.path)
            head, *rows = browser.wait_for(names)
            self.assertEqual("shares keys and values with" in head, shares)
            self.assertEqual({len(row) for row in rows}, {len(head)})
            for column, name in enumerate(head):
                self.assertTrue(any(row[column] for row in rows), name)

    def saved_words(self):
        svg = browser.downloaded("*.svg", lambda: press_button("Save SVG"))
        return "".join("".join(one.itertext()) for one in ElementTree.fromstring(svg).iter()
                       if one.tag.endswith("}text")).replace(" ", "")

    def test_saved_pictures_say_what_the_view_makes_of_weights(self):
        page = program.page("made", TEXT, "--live")
        for fragment, words in (
                ("", ""), ("drop-sink=on", "first token (<|bos|>) hidden, the rest of each row"),
                ("merge=words", "tokens merged into words: summed over keys, averaged over queries"),
                ("fold=2-4", "folded: 2-4: summed over keys, averaged over queries")):
            with self.subTest(fragment=fragment):
                browser.open(page.path, f"#{fragment}")
                saved = self.saved_words()
                self.assertIn(words.replace(" ", ""), saved)
                if not fragment:
                    self.assertNotRegex(saved, "tokenhidden|merged|folded|without")
        browser.open(page.path)
        for name in ("L0H3", "L2H1"):
            press_button(name)
        self.eventually(lambda: self.assertIn("withoutheads0.3,2.1", self.saved_words()))

    def test_saved_pictures_have_all_of_their_notes(self):
        title = "A title that is longer than this picture " * 3 + "or-has-a-longer-word-" * 5
        page = program.page("notes", "The cat", "--head", "2.1", "--title", title)
        browser.open(page.path)
        svg = browser.downloaded("*.svg", lambda: press_button("Save SVG")).decode()
        texts = [one for one in ElementTree.fromstring(svg).iter() if one.tag.endswith("}text")]
        whole = "".join("".join(one.itertext()) for one in texts)
        for words in (page.data["title"], "·".join(page.data["notes"])):
            self.assertIn("".join(words.split()), "".join(whole.split()))
        # Nothing reaches out of the picture when it is drawn.
        self.assertLessEqual(browser.run("""
            document.body.insertAdjacentHTML("beforeend", arguments[0]);
            const svg = document.body.lastElementChild;
            const edge = svg.getBoundingClientRect();
            const most = Math.max(...[...svg.querySelectorAll("text")].flatMap((one) => {
              const box = one.getBoundingClientRect();
              return [box.right - edge.right, box.bottom - edge.bottom]; }));
            svg.remove();
            return most;""", svg), 0)
