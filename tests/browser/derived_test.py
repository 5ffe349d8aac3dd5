"""What a page makes of the weights that it holds."""
import json
import random
import re
import subprocess

from page_case import PageTest, press_button
from session import browser, program


class WhatIsMadeOfWeights(PageTest):
    """Means, words, columns: the page computes them itself, as the program does."""
    TEXT = ("Anna gave the book to Tom, because Tom had lost his own. Later that evening, Tom told "
            "Anna that it was wonderful.")

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

    def command(self, page, fragment):
        """The line that the page gives for a view, with the program that is tested."""
        browser.open(page.path, fragment)
        press_button("Copy the command")
        line = browser.run('return document.querySelector("code").textContent')
        self.assertRegex(line, "^attnviz ")
        return line.replace("attnviz", f"'{program.path}'", 1)

    def run_command(self, line):
        done = subprocess.run(["bash", "-c", line], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, timeout=20)
        self.assertEqual((done.returncode, done.stderr), (0, ""), line)
        return done.stdout

    def test_the_command_of_a_view_computes_it(self):
        quoted = program.page("quoted", "It's \"a\" $HOME `cat`; *", "--temperature", "0.5")
        for page, fragment in ((self.page, "#head=2.2&token=9"), (quoted, "#head=0.3&token=5"),
                               (self.page, "#token=9&average=chosen&heads=0.1,2.2"),
                               (self.page, "#token=9&average=layers&head=1.3")):
            with self.subTest(page=page.path.name, fragment=fragment):
                told = json.loads(self.run_command(self.command(page, fragment) + " --json"))
                self.assertEqual(told["tokens"], page.data["queries"]["text"])
                query = int(re.search(r"token=(\d+)", fragment).group(1))
                self.assert_rows(dict(enumerate(told["attention"][0][0][query])))

    def test_the_command_of_a_view_draws_it(self):
        inspected = program.page("inspect", "inspect", self.TEXT, "--head", "2.1")
        for page, fragment in ((self.page, "#head=1.3&token=5&as-key=on&scale=log"),
                               (self.page, "#average=chosen&heads=0.1,2.2&colormap=magma_r&token="),
                               (self.page, "#head=2.1&merge=words&token=9&range=auto"),
                               (self.page, "#drop-sink=on"), (inspected, "")):
            with self.subTest(page=page.path.name, fragment=fragment):
                self.assertGreater(len(self.run_command(self.command(page, fragment))), 100)

    def test_coded_weights_are_within_what_the_page_says(self):
        chance = random.Random(5)
        text = " ".join(chance.choice("red cat sat tree bird stone".split()) for _ in range(200))
        options = ["--random", "--layers", "4", "--heads", "4", "--seed", "3"]
        page = program.page("coded", *options, text=text)
        self.assertEqual(page.data["documents"][0]["heads"][5]["weights"]["code"], "u16")
        told = program.json(*options, text=text)["attention"][1][1]
        self.check("#head=1.1&token=150", told[150], page)
        browser.run('document.querySelector(".stage").focus()')
        browser.press("ArrowDown")
        said = browser.frame('document.querySelector(".stage ~ .readout").textContent')
        self.assertRegex(said, " ± ")
