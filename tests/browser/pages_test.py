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

    def test_scores_are_those_of_the_program(self):
        told = json.loads(program.run("heads", TEXT, "--json"))["heads"]
        page = program.page("scores", TEXT)
        heads = page.data["documents"][0]["heads"]
        self.assertEqual(len(heads), len(told))
        for head, scored in zip(heads, told):
            for name, value in head["scores"].items():
                if value is None:
                    self.assertIsNone(scored[name])
                else:
                    self.assertAlmostEqual(value, scored[name], places=12)
        browser.open(page.path)
        place = next(i for i, head in enumerate(heads) if (head["layer"], head["head"]) == (1, 3))
        browser.run_later("""
            const show = document.querySelector(".overview select");
            show.value = "previous";
            show.dispatchEvent(new Event("change"));
            [...document.querySelectorAll("details")].find(
              (one) => one.textContent.includes("The heads as a table")).open = true;
            setTimeout(done, 100);""")
        chosen = heads[page.data["chosen"]]["scores"]["previous"]
        self.assertIn(f"{chosen:.2f} of the weight is on the previous token",
                      browser.run("""return document.querySelector(".overview .readout").textContent;"""))
        cells = browser.run("""
            const table = [...document.querySelectorAll("details")].find(
              (one) => one.textContent.includes("The heads as a table")).querySelector("table");
            return [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent));""")
        column = cells[0].index("previous")
        self.assertAlmostEqual(float(cells[1 + place][column]), heads[place]["scores"]["previous"], delta=5e-4)

    def test_documents_have_scores_of_their_own(self):
        page = program.page("apart", TEXT, "--side-by-side", "causal,none")
        caption = 'document.querySelector(".overview .readout").textContent'
        for document, name in ((0, "causal"), (1, "none")):
            with self.subTest(document=name):
                score = page.data["documents"][document]["heads"][5]["scores"]["self"]
                browser.open(page.path, f"#head=1.1&document={document}")
                browser.run("""
                    const show = document.querySelector(".overview select");
                    show.value = "self";
                    show.dispatchEvent(new Event("change"));""")
                self.assertEqual(browser.frame(caption).split(" · ")[:2], ["L1H1", name])
                self.assertIn(f"{score:.2f} of the weight is on the token itself", browser.frame(caption))
        first, second = (one["heads"][5]["scores"]["self"] for one in page.data["documents"])
        self.assertNotAlmostEqual(first, second, delta=0.01)
        self.assertTrue(browser.run('return document.querySelector(".reason").textContent')
                        .startswith("causal: "))

    def test_scores_have_a_colour_bar_of_their_own(self):
        page = program.page("bars", TEXT, "--random", "--layers", "8", "--heads", "12")
        heads = page.data["documents"][0]["heads"]
        browser.open(page.path)
        bar = """(() => {
            const bar = document.querySelector(".overview > canvas[role=img]");
            return bar && [bar.clientHeight > 0, bar.getAttribute("aria-label") ?? ""]; })()"""
        show = """
            const show = document.querySelector(".overview select");
            show.value = arguments[0];
            show.dispatchEvent(new Event("change"));"""
        self.assertEqual(browser.frame(bar)[0], False)
        for name in ("previous", "distance_mean"):
            browser.run(show, name)
            top = max([1, *(head["scores"][name] or 0 for head in heads)])
            visible, label = browser.frame(bar)
            self.assertTrue(visible)
            found = re.fullmatch(rf"colour bar, score: {name}, from 0 to ([\d.]+)", label)
            self.assertIsNotNone(found, label)
            self.assertAlmostEqual(float(found.group(1)), top, delta=0.001 * top)
        browser.run(show, "")
        self.assertEqual(browser.frame(bar)[0], False)

    def test_nothing_stands_beside_means_that_are_the_same_for_all_heads(self):
        page = program.page("beside", TEXT)
        state = """(() => {
            const select = [...document.querySelectorAll(".controls label")].find(
              (one) => one.textContent.startsWith("Compare with")).querySelector("select");
            return [select.disabled, select.selectedOptions[0].text]; })()"""
        drawn = 'document.querySelector(".overview-list canvas").toDataURL()'
        # Pictures of heads are drawn when there is time.
        rested = "setTimeout(() => done(%s), 700)" % drawn
        for average in ("average=chosen&heads=2.1,2.3", "average=all"):
            browser.open(page.path, f"#{average}&head=2.1&compare=0.1")
            self.assertEqual(browser.frame(state), [True, "none"])
            framed = browser.run_later(rested)
            browser.open(page.path, f"#{average}&head=2.1")
            self.assertEqual(browser.run_later(rested), framed)
        browser.open(page.path, "#head=2.1&compare=0.1")
        self.assertEqual(browser.frame(state), [False, "L0H1"])

    def test_the_colours_of_vectors_are_explained(self):
        browser.open(program.page("inspect", "inspect", TEXT, "--head", "2.1").path)
        said = 'document.querySelector(".steps-panel").innerText.includes("orange is above 0")'
        for step, has_vectors in (("Dot product", True), ("Softmax", False), ("Weighted sum", True)):
            with self.subTest(step=step):
                press_button(step)
                self.assertEqual(browser.frame(said), has_vectors)

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

    def softmax_says(self):
        press_button("Softmax")
        said = browser.frame('document.querySelector(".step-says").textContent')
        return re.sub("[\u2068\u2069]", "", said)

    def test_steps_begin_at_the_pages_temperature(self):
        for temperature in ("0.25", "0.05", "8"):
            with self.subTest(temperature=temperature):
                text = "The cat sat on a mat"
                options = ["--head", "2.1", "--temperature", temperature]
                told = program.json("inspect", text, *options)["heads"][0]
                browser.open(program.page("warm", "inspect", text, *options).path)
                self.check_step("Softmax", told["weights"][-1])
                self.assertIn("the row of", self.softmax_says())

    def test_steps_say_what_the_heatmap_shows(self):
        page = program.page("two heads", "inspect", TEXT, "--head", "2.1,3.0")
        for fragment, expected in (
                ("#head=2.1&token=2", "This is the row of “␣cat” in the heatmap of L2H1."),
                ("#head=2.1&token=2&average=all", "heatmap shows something else: an average of heads."),
                ("#head=2.1&token=2&drop-sink=on", "something else: rows without the first token"),
                ("#head=2.1&token=2&merge=words", "something else: groups of tokens."),
                ("#head=2.1&token=2&as-key=on", "the row of “.”")):
            with self.subTest(fragment=fragment):
                browser.open(page.path, fragment)
                self.assertIn(expected, self.softmax_says())
        browser.run("""
            const slider = document.querySelector(".steps-panel input[aria-label=temperature]");
            slider.value = "2";
            slider.dispatchEvent(new Event("input", {bubbles: true}));""")
        browser.frame()
        self.assertIn("before the sliders changed them", self.softmax_says())

    def test_steps_tell_of_the_keys_that_they_leave_out(self):
        text = " ".join(["The cat sat on a mat because it was tired."] * 4)
        page = program.page("long", "inspect", text, "--head", "2.1")
        weights = sorted(program.json(text)["attention"][2][1][-1])
        browser.open(page.path)
        said = browser.frame('document.querySelector(".steps-panel").innerText')
        found = re.search(r"These are the 24 of (\d+) keys with the largest weights; "
                          r"the others add up to ([\d.e-]+)\.", said)
        self.assertIsNotNone(found, said)
        self.assertEqual(int(found.group(1)), len(weights))
        self.assertAlmostEqual(float(found.group(2)), sum(weights[:-24]), delta=0.001)

    def test_heads_without_vectors_lead_to_those_with(self):
        text = " ".join(["The cat sat on a mat because it was tired."] * 20)
        page = program.page("large", text)
        step = page.data["steps"]["heads"][0]
        self.assertEqual(len(page.data["steps"]["heads"]), 1)
        other = "0.0" if (step["layer"], step["head"]) != (0, 0) else "0.1"
        browser.open(page.path, f"#head={other}")
        browser.run('document.querySelector(".steps-panel .chips button").click()')
        shown = 'document.querySelector(".steps-panel canvas").clientHeight > 100'
        self.assertTrue(browser.wait_for(shown))
        self.assertIn(f"head={step['layer']}.{step['head']}", browser.run_later(
            "setTimeout(() => done(location.hash), 400)"))

    def test_a_page_that_cannot_be_drawn_says_so_once(self):
        alerts = 'document.querySelectorAll("[role=alert]").length'
        browser.open(program.page("steps", "The cat sat").path)
        browser.run("""
            window.all = Promise.all;
            Promise.all = () => Promise.reject(new Error("tried"));""")
        for head in ("1.1", "1.2", "1.3"):
            browser.run("location.hash = `#head=${arguments[0]}`", head)
            browser.run_later("setTimeout(done, 60)")
            self.assertEqual(browser.frame(alerts), 1)
        browser.run("Promise.all = window.all; location.hash = '#head=2.2'")
        self.assertTrue(browser.wait_for(f"{alerts} === 0"))
        for message in browser.messages():
            self.assertIn("tried", message)
