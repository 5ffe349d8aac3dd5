"""Texts and addresses that would be more than text."""
import json
import xml.etree.ElementTree as ElementTree

from page_case import HOSTILE, PageTest, STRANGE, press_button
from session import browser, program


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
        svg = browser.downloaded("*.svg", lambda: press_button("Save SVG"))
        tags = [one.tag for one in ElementTree.fromstring(svg).iter()]
        self.assertFalse([tag for tag in tags if "script" in tag])
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
        browser.open(page.path,
                     "#head=<img src=x onerror=alert(1)>&token=<b>&merge=javascript:alert(1)")
        self.assertEqual(browser.run("return document.querySelectorAll('img, b').length"), 0)
