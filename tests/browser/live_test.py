"""The model that a page carries."""
import array
import base64

import live_texts
from page_case import HOSTILE, PageTest, STRANGE, TEXT, press_button
from session import browser, program


class LiveModel(PageTest):
    """The model in the page computes what the program does."""

    @classmethod
    def setUpClass(cls):
        cls.page = program.page("live", TEXT, "--live")

    def start(self, *others):
        """The page's own script where it finds no data and starts nothing, with a name let out."""
        browser.driver.get("about:blank")
        script, end = self.page.script.rsplit("})();", 1)
        self.assertEqual(end.strip(), "")
        browser.run(script + "\nwindow.createLiveOfPage = createLive;"
                    "\nwindow.wordNumbersOfPage = wordNumbers;" +
                    "".join(f"\nwindow.{name}OfPage = {name};" for name in others) + "\n})();")
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
            return {id, text, begin, end, special, prediction: result.prediction,
                    weights: btoa(parts.join(""))};
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
        flat = [weight for layer in told["attention"]
                for head in layer for row in head for weight in row]
        self.assertEqual(len(ours["weights"]), len(flat))
        worst = max(map(abs, map(float.__sub__, ours["weights"], map(float, flat))))
        self.assertLessEqual(worst, 1e-4)
        for one, other in zip(ours["prediction"], told["predictions"]["top"], strict=True):
            self.assertEqual(one["id"], other["id"])
            self.assertLessEqual(abs(one["probability"] - other["probability"]), 1e-4)

    def test_words_are_the_programs(self):
        self.start()
        for text in ("The cat's 3.5 mats cost 1,000.25 a_b", "café e\u0301 don't U.S.A. (so)",
                     "a:b 5:30 a.5 5.a a..b x_.y a·b a’b", "xxx  y\n\nz",
                     "日本語 のカタカナ ภาษาไทย 👩‍👩‍👧 مرحبا", "well-known: a/b @c #d", HOSTILE, STRANGE):
            with self.subTest(text=text):
                told = program.page("words", text).data["queries"]
                ours = browser.run("""
                    return wordNumbersOfPage(arguments[0], live.tokenize(arguments[0]));""", text)
                self.assertEqual(ours, told["word"], told["text"])

    def test_queries_keys_and_values_are_the_programs(self):
        self.start()
        for layer, head in ((0, 0), (1, 3), (2, 1)):
            told = program.json("inspect", TEXT, "--head", f"{layer}.{head}")["heads"][0]
            for name in "qkv":
                ours = browser.run("""
                    const [text, name, layer, head] = arguments;
                    return [...live.run(text)[name](layer, head)];""", TEXT, name, layer, head)
                expected = [value for row in told[name] for value in row]
                self.assertEqual(len(ours), len(expected))
                self.assertLessEqual(max(abs(a - b) for a, b in zip(ours, expected)), 1e-4)

    def test_what_the_program_refuses_is_refused(self):
        self.start()
        for text in live_texts.REFUSED:
            with self.subTest(text=text[:9]):
                said = browser.run("""
                    try {
                      live.run(arguments[0]);
                    } catch (error) {
                      return error.message;
                    }
                    return "";""", text)
                self.assertRegex(said, "empty or blank|context is 256 tokens|more than 256")
                with self.assertRaises(AssertionError):
                    program.run("--json", text=text)

    def type(self, text):
        browser.run("""
            const box = document.querySelector("#live-text");
            box.value = arguments[0];
            box.dispatchEvent(new Event("input", {bubbles: true}));""", text)

    def test_what_is_typed_is_shown(self):
        said = 'document.querySelector(".live [role=status]").textContent'
        browser.open(self.page.path, "#head=2.1")
        for text in ("Tom gave Anna a book. Later, Tom gave Anna a", HOSTILE, STRANGE):
            with self.subTest(text=text):
                told = program.json(text, "--predict", "5")
                n = len(told["tokens"])
                self.type(text)
                self.assertTrue(browser.wait_for(f"{said}.startsWith(`${{given[0]}} of`)", n))
                self.assert_rows(dict(enumerate(told["attention"][2][1][n - 1])))
                made = 'return document.querySelectorAll("img, main b, main script").length'
                self.assertEqual(browser.run(made), 0)
        self.type("   ")
        self.assertTrue(browser.wait_for(
            f'{said}.includes("empty or blank")'))
        self.type("The cat sat")
        self.assertTrue(browser.wait_for(
            f'{said}.startsWith("4 of 256")'))

    def test_another_text_leaves_nothing_of_the_one_before(self):
        said = 'document.querySelector(".live [role=status]").textContent'
        browser.open(self.page.path, "#head=2.1")
        reason = 'document.querySelector(".reason").textContent'
        self.assertEqual(browser.frame(reason), self.page.data["reason"])
        chips = 'document.querySelector(".overview .chips").textContent'
        scored = browser.frame(chips)
        self.assertRegex(scored, r"\d\.\d\d")
        self.type("One two six")
        self.assertTrue(browser.wait_for(f'{said} === "4 of 256 tokens" && {reason} === ""'))
        self.assertTrue(browser.wait_for(f"!/\\d\\.\\d\\d/.test({chips})"))
        self.assertTrue(browser.run('return document.querySelector(".overview select").disabled'))
        names = ('[...document.querySelector(".sliders select").options]'
                 '.map((one) => one.text).join(" ")')
        self.assertTrue(browser.wait_for(f"{names}.includes('six')"))
        self.assertIn("computed here", browser.wait_for(
            'document.querySelector(".stage ~ .readout").textContent'))
        self.type("One two ten")
        self.assertTrue(browser.wait_for(f"{names}.includes('ten')"))
        self.type(TEXT)
        self.assertTrue(browser.wait_for(f"{reason} === given[0]", self.page.data["reason"]))
        self.assertTrue(browser.wait_for(f"{chips} === given[0]", scored))
        press_button("L0H3")
        self.assertTrue(browser.wait_for(f"!/\\d\\.\\d\\d/.test({chips})"))

    def test_what_is_typed_before_the_model_is_there_stands(self):
        added = browser.command("Page.addScriptToEvaluateOnNewDocument", source="""
            new MutationObserver((_, observer) => {
              const box = document.querySelector("#live-text");
              if (box) {
                observer.disconnect();
                box.value = "One two six";
                box.dispatchEvent(new Event("input", {bubbles: true}));
              }
            }).observe(document, {childList: true, subtree: true});""")
        try:
            browser.open(self.page.path, "#head=2.1")
        finally:
            browser.command("Page.removeScriptToEvaluateOnNewDocument", **added)
        said = 'document.querySelector(".live [role=status]").textContent'
        self.assertTrue(browser.wait_for(f'{said} === "4 of 256 tokens"'))
        self.assertEqual(browser.run('return document.querySelector("#live-text").value'),
                         "One two six")

    def test_probabilities_say_neither_nothing_nor_all(self):
        self.start("percent")
        for share, words in ((1, "100 %"), (0.9996, ">99.9 %"), (0.999, "99.9 %"),
                             (0.463, "46.3 %"), (0.001, "0.1 %"), (0.0004, "<0.1 %"), (0, "0.0 %")):
            self.assertEqual(browser.run("return percentOfPage(arguments[0])", share), words)

    def test_the_address_says_the_heads_that_are_left_out(self):
        browser.open(self.page.path, "#head=2.1")
        caption = 'document.querySelector(".overview .readout").textContent'
        said = 'document.querySelector(".predictions").textContent.includes("Without L0H3, L2H1")'
        for name in ("L0H3", "L2H1"):
            press_button(name)
        self.assertTrue(browser.wait_for(f"{said} && location.hash.includes('without=0.3,2.1')"))
        shown = browser.run("return location.hash")
        told = program.json(TEXT, "--ablate", "0.3,2.1")["attention"][2][1]
        browser.open(self.page.path, shown)
        self.assertTrue(browser.wait_for(said))
        self.assertIn("ablated", browser.wait_for(caption))
        self.assert_rows(dict(enumerate(told[-1])))
        self.assertEqual(browser.run("""return [...document.querySelectorAll(
            ".without button[aria-pressed=true]")].map((one) => one.textContent).join();"""), "L0H3,L2H1")
        for name in ("L0H3", "L2H1"):
            press_button(name)
        self.assertTrue(browser.wait_for("!location.hash.includes('without')"))

    def test_a_refused_text_says_which_one_is_still_shown(self):
        said = 'document.querySelector(".live [role=status]").textContent'
        browser.open(self.page.path, "#head=2.1")
        self.type("One two six")
        self.assertTrue(browser.wait_for(f'{said}.startsWith("4 of 256")'))
        self.type("   ")
        self.assertTrue(browser.wait_for(
            f'{said}.includes("Still shown: “One two six”, with all heads.")'))
        press_button("L0H3")
        self.assertTrue(browser.wait_for(f'{said}.includes("“One two six”, with all heads.")'))
        self.type("One two ten")
        self.assertTrue(browser.wait_for(f'{said}.startsWith("4 of 256")'))
        self.type("cat " * 300)
        self.assertTrue(browser.wait_for(f'{said}.includes("“One two ten”, without L0H3.")'))

    def test_the_address_says_the_text(self):
        text = "One + two & 3 % of #5, مرحبا"
        told = program.json(text)
        n = len(told["tokens"])
        said = f'document.querySelector(".live [role=status]").textContent.startsWith("{n} of")'
        browser.open(self.page.path, "#head=2.1")
        self.type(text)
        self.assertTrue(browser.wait_for(f'{said} && location.hash.includes("&text=")'))
        fragment = browser.run("return location.hash")
        browser.open(self.page.path, f"{fragment}&token=4")
        self.assertTrue(browser.wait_for(said))
        self.assert_rows(dict(enumerate(told["attention"][2][1][4])))
        self.assertEqual(browser.run('return document.querySelector("#live-text").value'), text)
        self.type(TEXT)
        self.assertTrue(browser.wait_for('!location.hash.includes("&text=")'))
