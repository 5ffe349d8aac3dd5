"""Picking tokens: by search, by keys, by touch, and what becomes of a cursor."""
from page_case import PageTest, TEXT, press_button, rendered
from session import browser, program

SENTENCE = 'document.querySelector(".token-panel .readout").textContent'
FOUND = 'document.querySelector(".token-tools > .quiet").textContent'


def focus(selector):
    browser.run("document.querySelector(arguments[0]).focus()", selector)


def search(text):
    browser.press("/")
    browser.command("Input.insertText", text=text)


class Picking(PageTest):
    @classmethod
    def setUpClass(cls):
        cls.page = program.page("demo", TEXT)

    def setUp(self):
        super().setUp()
        browser.open(self.page.path, "#head=2.1")

    def tearDown(self):
        browser.point(1, 1)
        super().tearDown()

    def assert_said(self, words):
        said = browser.wait_for(f"{SENTENCE}.includes(given[0]) && {SENTENCE}", words, seconds=3)
        self.assertTrue(said, f"{words}: {browser.frame(SENTENCE)}")

    def assert_found(self, words):
        self.assertTrue(browser.wait_for(f"{FOUND} === given[0]", words, seconds=3),
                        f"{words}: {browser.frame(FOUND)}")

    def assert_dog_is_shown(self):
        search("dog")
        self.assert_said("“␣dog” looks most at")
        self.assertRegex(
            browser.frame('document.querySelector(".stage ~ .readout").textContent'), "^Values")

    def middle(self):
        """A cell below the diagonal, in the window."""
        return browser.run("""
            const stage = document.querySelector(".stage");
            stage.scrollIntoView({block: "center"});
            const {x, y, width, height} = stage.querySelector("canvas").getBoundingClientRect();
            return [x + width * 0.4, y + height * 0.4];""")

    def test_what_is_searched_is_not_hidden_by_a_cursor_left_behind(self):
        for view in (".stage", ".paragraph"):
            with self.subTest(view=view):
                browser.open(self.page.path, "#head=2.1")
                focus(view)
                browser.press("ArrowUp")
                browser.press("ArrowUp")
                self.assert_dog_is_shown()
                browser.press("Escape")
                browser.press("Escape")
                self.assert_said("Pick a token")

    def test_what_is_searched_is_not_hidden_by_a_pointer_that_rests(self):
        browser.point(*self.middle())
        self.assert_dog_is_shown()

    def test_what_is_searched_is_not_hidden_by_a_cell_that_was_touched(self):
        x, y = self.middle()
        browser.command("Input.dispatchTouchEvent", type="touchStart",
                        touchPoints=[{"x": x, "y": y}])
        browser.command("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.assertIn("→", browser.wait_for("""(() => {
            const said = document.querySelector(".stage ~ .readout").textContent;
            return said.includes("→") && said; })()""", seconds=3) or "")
        self.assert_dog_is_shown()

    def test_escape_leaves_a_cursor_that_stands_in_the_heatmap(self):
        focus(".stage")
        browser.press("ArrowUp")
        browser.press("Escape")
        self.assert_said("Pick a token")

    def test_enter_picks_the_row_of_the_cursor_and_leaves_it_there(self):
        focus(".stage")
        for key in ("ArrowUp", "ArrowUp", "Enter"):
            browser.press(key)
        self.assertIn("→", browser.frame('document.querySelector(".stage ~ .readout").textContent'))

    def test_the_counter_of_matches_follows_what_is_picked(self):
        search("a")
        count = int(browser.frame(FOUND).split()[-1])
        self.assertGreater(count, 2)
        self.assert_found(f"1 of {count}")
        browser.press("Enter")
        self.assert_found(f"2 of {count}")
        browser.run("""document.querySelector("[type=search]").dispatchEvent(
            new KeyboardEvent("keydown", {key: "Enter", altKey: true, bubbles: true}));""")
        self.assert_found(f"{count} picked")
        place = next(place for place, text in enumerate(self.page.data["queries"]["text"])
                     if "a" not in text.lower())
        browser.run("document.querySelector(`[data-place='${arguments[0]}']`).click()", place)
        self.assert_found("")
        browser.run('document.querySelector("[type=search]").focus()')
        browser.press("Enter")
        self.assertRegex(browser.frame(FOUND), rf"^\d of {count}$")

    def test_keys_work_after_a_check_box_or_a_slider_was_used(self):
        title = 'document.querySelector(".heatmap h3").textContent'
        for control in ("[type=checkbox]", "[type=range]"):
            with self.subTest(control=control):
                browser.open(self.page.path, "#head=2.1")
                focus(control)
                browser.press("]")
                self.assertTrue(browser.wait_for(f'{title}.includes("L2H2")', seconds=3))
        moved = 'document.querySelector("[type=range]").value'
        before = browser.frame(moved)
        browser.press("ArrowRight")
        self.assertNotEqual(browser.frame(moved), before)
        focus("[type=search]")
        browser.press("]")
        self.assertEqual(browser.frame('document.querySelector("[type=search]").value'), "]")

    def test_arrow_keys_go_where_they_point_in_texts_from_right_to_left(self):
        row = [[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]]
        cursor = 'document.querySelector(".paragraph .cursor").getAttribute("data-place")'
        for tokens, key in ((["مرحبا", " بكم", " هنا"], "ArrowLeft"), (["a", " b", " c"], "ArrowRight")):
            with self.subTest(key=key):
                page = rendered("turned", {"tokens": tokens, "attention": [[row]]})
                browser.open(page.path, "#token=0")
                focus(".paragraph")
                browser.press(key)
                self.assertEqual(browser.frame(cursor), "1")

    def test_folding_leaves_nothing_pointed_at(self):
        browser.open(self.page.path, "#head=2.1&token=2,4")
        browser.point(*self.middle())
        press_button("fold picked tokens")
        self.assert_said("“␣cat␣sat␣on” looks most at")
