"""Pages of all kinds."""
import json
import math
import re

from page_case import PageTest, TEXT, press_button
from session import browser, program


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
        press_button(title)
        said = browser.frame(
            'document.querySelector(".steps-panel canvas").getAttribute("aria-label")')
        self.assertTrue(said.startswith(f"{title}: "), said)
        shown = re.findall(r"\S+ (-?[\d.e-]+)[,.](?: |$)", said.split(": ", 1)[1])
        self.assertEqual(len(shown), len(numbers), said)
        for one, other in zip(shown, numbers):
            self.assertAlmostEqual(float(one), other, delta=0.0006 + 1e-6 * abs(other))
