"""The heatmap: what it draws, what it says of cells, and what is saved of it."""
import base64
import random
import re
import xml.etree.ElementTree as ElementTree

from page_case import HEAD, PageTest, TEXT, heatmap_cells, press_button, readout, stage
from session import browser, program


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
        svg = path.read_text(encoding="utf-8")
        for fill, data in re.findall(r'<path fill="#([0-9a-f]{6})" d="([^"]*)"', svg):
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
            const context = new OffscreenCanvas(canvas.width, canvas.height).getContext(
              "2d", {willReadFrequently: true});
            context.drawImage(canvas, 0, 0);
            return arguments[0].map(
              ([x, y]) => [...context.getImageData(x, y, 1, 1).data].slice(0, 3));
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
                    self.assertEqual(number, "masked, cannot be seen")
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
        png = browser.downloaded("*.png", lambda: press_button("Save PNG"))
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
        for fragment, options in (
                ("scale=sqrt&colormap=magma_r", ["--scale", "sqrt", "--colormap", "magma_r"]),
                ("scale=log", ["--scale", "log"]), ("scale=row-max", ["--scale", "row-max"]),
                ("range=auto", ["--range", "auto"])):
            with self.subTest(fragment=fragment):
                browser.open(self.page.path, f"#head={HEAD[0]}.{HEAD[1]}&{fragment}")
                picture = self.picture_colors(*options)
                self.assertEqual(self.pixels(points), [picture[query][key] for query, key in cells])

    def test_a_saved_svg_is_a_picture_with_text_and_nothing_that_runs(self):
        svg = browser.downloaded("*.svg", lambda: press_button("Save SVG"))
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

    def test_only_the_main_button_picks(self):
        left, top, *size = stage()
        (x0, across), (y0, down) = heatmap_cells(self.labels, *size)
        for button, query in (("right", 9), ("middle", 9), ("left", 4)):
            browser.click(left + x0 + across / 2, top + y0 + (query + 0.5) * down, button)
        self.assertTrue(browser.wait_for("location.hash.includes('token=4')"))
        self.assert_rows({key: self.weight(4, key) for key in range(len(self.labels))})
        browser.click(left + x0 + across / 2, top + y0 + 9.5 * down, "right")
        self.assertFalse(browser.run_later(
            "setTimeout(() => done(location.hash.includes('token=9')), 300)"))

    def test_the_cursor_stays_in_heatmaps_that_become_smaller(self):
        page = program.page("smaller", "The unbelievably wobbly cats", "--live")
        drop = """[...document.querySelectorAll("label.flag")].find(
            (one) => one.textContent.startsWith("Hide the first")).firstChild.click()"""
        words = """const select = [...document.querySelectorAll(".controls select")].find(
            (one) => [...one.options].some((option) => option.value === "words"));
            select.value = "words";
            select.dispatchEvent(new Event("change"))"""
        typed = """const box = document.querySelector("#live-text");
            box.value = "The cat";
            box.dispatchEvent(new Event("input", {bubbles: true}))"""
        for name, act in (("drop", drop), ("words", words), ("typed", typed)):
            with self.subTest(act=name):
                browser.open(page.path, "#as-key=on" if name == "words" else "")
                browser.run('document.querySelector(".stage").focus()')
                for key in ["ArrowDown", "End"] + ["ArrowDown"] * page.data["shape"][0]:
                    browser.press(key)
                before = browser.frame('document.querySelector(".stage").getAttribute("aria-label")')
                browser.run(act)
                self.assertTrue(browser.wait_for("""
                    document.querySelector("[role=alert]") ||
                    document.querySelector(".stage").getAttribute("aria-label") !== given[0]""",
                    before))
                self.assertEqual(browser.frame("""
                    document.querySelector("[role=alert]")?.textContent"""), None)
                self.assertRegex(readout()[0], ".")

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
        drawn = 'return document.querySelector(".stage canvas").toDataURL()'
        browser.open(self.page.path)
        usual = browser.run(drawn)
        browser.open(self.page.path,
                     "#head=99.99&token=9999,-1,x&colormap=<b>&scale=%&fold=7-2&heads=,")
        self.assertEqual(browser.run('return document.querySelector("[role=alert]")'), None)
        self.assertEqual(browser.run(drawn), usual)
