"""Phones, dark rooms, readers who do not see or do not want motion."""
import json
import re
import unittest

from page_case import PageTest, TEXT
from session import axe, browser, program


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
                widths = "return [innerWidth, document.documentElement.scrollWidth]"
                self.assertEqual(browser.run(widths), [360, 360])

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

    def test_on_paper_nothing_is_cut_off_or_waits_to_be_pressed(self):
        browser.open(self.pages["live"].path)
        browser.command("Emulation.setEmulatedMedia", media="print")
        try:
            self.assertEqual(browser.frame("""
                [".toolbar", ".token-tools", ".sliders", ".zoom"].filter((name) =>
                  document.querySelector(name).checkVisibility())"""), [])
            self.assertEqual(browser.frame("""
                [".paragraphs", ".table-box"].map((name) =>
                  getComputedStyle(document.querySelector(name)).maxHeight)"""), ["none", "none"])
            self.assertEqual(browser.frame("""
                [...new Set([...document.querySelectorAll("canvas")].map((one) =>
                  getComputedStyle(one).maxWidth))]"""), ["100%"])
        finally:
            browser.command("Emulation.setEmulatedMedia", media="")

    def test_dark_pages_are_dark(self):
        def background():
            browser.open(self.pages["show"].path)
            style = browser.run("""
                return [document.body, document.documentElement].map(
                  (one) => getComputedStyle(one).backgroundColor).join(" ");""")
            return [int(part) for part in re.findall(r"rgb\((\d+), (\d+), (\d+)\)", style)[0]]
        browser.prefer(color_scheme="dark")
        self.assertLess(max(background()), 80)
        browser.prefer(color_scheme="light")
        self.assertGreater(min(background()), 200)


class Accessibility(PageTest):
    @classmethod
    def setUpClass(cls):
        if axe is None:
            raise unittest.SkipTest("no axe-core")

    def check(self):
        browser.run(axe)
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
