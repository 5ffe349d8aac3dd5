#!/usr/bin/env python3
"""modules_test.py PAGE_FOLDER: whether the modules of the page can be joined into one script.

JoinPage.cmake puts them one after the other without `import` and `export`, so that all of them
share one room for names.
"""
import base64
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PAGE = Path(sys.argv.pop(1)) if len(sys.argv) > 1 else None

IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]*)";$', re.MULTILINE)
TOP_LEVEL = re.compile(
    r"^(?:export )?(?:async )?(?:function\*?|class|const|let|var) +([A-Za-z_$][\w$]*)", re.MULTILINE)
SEVERAL = re.compile(r"^(?:export )?(?:const|let|var) *[\[{]([^=]*)[\]}] *=", re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function\*?|class|const) +([A-Za-z_$][\w$]*)",
                    re.MULTILINE)


def top_level_names(source):
    names = TOP_LEVEL.findall(source)
    for group in SEVERAL.findall(source):
        names += [part.split(":")[-1].strip() for part in group.split(",") if part.strip()]
    return names


def imports(module, source):
    """The names that a module imports, with the modules that they come from."""
    for names, path in IMPORT.findall(source):
        other = (PAGE / module).parent.joinpath(path).resolve().relative_to(PAGE.resolve())
        for name in filter(None, (name.strip() for name in names.split(","))):
            yield name, other.as_posix()


class Modules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.order = (PAGE / "modules.txt").read_text(encoding="utf-8").split()
        cls.sources = {name: (PAGE / name).read_text(encoding="utf-8") for name in cls.order}

    def test_modules_txt_names_every_module_once(self):
        there = sorted(path.relative_to(PAGE).as_posix() for path in PAGE.rglob("*.js"))
        self.assertEqual(sorted(self.order), there)

    def test_main_is_last(self):
        self.assertEqual(self.order[-1], "main.js")

    def test_top_level_names_differ(self):
        owners = {}
        for module, source in self.sources.items():
            for name in top_level_names(source):
                with self.subTest(name=name):
                    self.assertNotIn(name, owners, f"{module}: also in {owners.get(name)}")
                owners[name] = module
        self.assertGreater(len(owners), 100)

    def test_modules_import_what_stands_before_them(self):
        for module, source in self.sources.items():
            for name, other in imports(module, source):
                with self.subTest(module=module, name=name):
                    self.assertIn(other, self.order)
                    self.assertLess(self.order.index(other), self.order.index(module))
                    self.assertIn(name, EXPORT.findall(self.sources[other]))

    def test_imports_and_exports_are_of_the_form_that_is_joined(self):
        for module, source in self.sources.items():
            with self.subTest(module=module):
                rest = IMPORT.sub("", source)
                self.assertNotRegex(rest, r"(?m)^import\b")
                self.assertNotRegex(rest, r"(?m)^export (?!(async function|function\*?|class|const) )")
                code = re.sub(r"/\*.*?\*/", "", rest, flags=re.DOTALL)  # types may name modules
                self.assertNotRegex(code, r"\bimport *\(")
                for names, _ in IMPORT.findall(source):
                    self.assertNotRegex(names, r"\bas\b", "a name may not change when it is joined")

    def test_what_is_imported_is_used(self):
        for module, source in self.sources.items():
            rest = IMPORT.sub("", source)
            for name, _ in imports(module, source):
                with self.subTest(module=module, name=name):
                    self.assertRegex(rest, rf"(?<![\w$]){re.escape(name)}(?![\w$])")

    def test_no_module_makes_code_or_markup_of_data(self):
        for module, source in self.sources.items():
            with self.subTest(module=module):
                self.assertNotRegex(source, r"\beval\(|new Function|\b(inner|outer)HTML\b|"
                                            r"insertAdjacentHTML|document\.write|setAttribute\(\"on")
                self.assertNotRegex(source, r"\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|"
                                            r"localStorage|sessionStorage|indexedDB|\.cookie\b")

    def test_files_are_those_of_a_page(self):
        others = {path.relative_to(PAGE).as_posix() for path in PAGE.rglob("*") if path.is_file()}
        self.assertEqual(others - set(self.order), {"modules.txt", "page.html", "style.css"})

    def test_the_rules_find_what_breaks_them(self):
        self.assertEqual(top_level_names("export class A {}\n  const b = 1;\nasync function c() {}\n"
                                         "let d;\nconst [e, f] = g();\n"), ["A", "c", "d", "e", "f"])


@unittest.skipUnless(shutil.which("cmake"), "no cmake")
class Joining(unittest.TestCase):
    """lib/cmake/JoinPage.cmake, with modules of its own."""

    def join(self, modules):
        """The joined page, or what is wrong with it."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "modules.txt").write_text("".join(f"{module}\n" for module in modules))
            (folder / "style.css").write_text("p { color: red; }\n")
            (folder / "page.html").write_text("@style hash@|@script hash@|@style@|@script@|@data@")
            for module, source in modules.items():
                (folder / module).write_text(source)
            done = subprocess.run(
                ["cmake", f"-DFOLDER={folder}", f"-DOUTPUT={folder}/out.html", "-P",
                 PAGE.parent.parent / "lib/cmake/JoinPage.cmake"],
                capture_output=True, text=True, check=False)
            return (folder / "out.html").read_text() if done.returncode == 0 else done.stderr

    def test_modules_become_one_script_whose_hashes_are_right(self):
        page = self.join({
            "a.js": "export const one = [1, 2];\nexport function two() {\n  return one;\n}\n",
            "main.js": 'import { one,\n  two } from "./a.js";\nimport { x } from "./a.js" ;\n'
                       'console.log(one, two(), "a;b", `import ${1}`, /\\d\\[/);\n'})
        *hashes, style, script, data = page.split("|")
        self.assertEqual(data, "@data@")
        self.assertEqual(script, '"use strict";\n(() => {\n\nconst one = [1, 2];\nfunction two() {\n'
                                 '  return one;\n}\n\n'
                                 'console.log(one, two(), "a;b", `import ${1}`, /\\d\\[/);\n})();\n')
        for text, said in zip((style, script), hashes):
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            self.assertEqual(said, f"sha256-{digest}")

    def test_comments_that_begin_a_line_are_left_out(self):
        page = self.join({"main.js": "// One.\nconst a = 1; // two\n\n/** Three.\n * @type {B} **/\n  // four\n"
                                     'f("//", /** @type {C} */ (a));\n'})
        self.assertIn("const a = 1; // two\n\nf(\"//\", /** @type {C} */ (a));\n", page)
        for comment in ("One", "Three", "four"):
            self.assertNotIn(comment, page)

    def test_what_cannot_be_joined_is_refused(self):
        for source in ("import a\n", 'const a = "</script>";\n', "// </Style>\n", "// <!-- a\n"):
            with self.subTest(source=source):
                self.assertRegex(self.join({"main.js": source}), "cannot be joined|may not hold")


if __name__ == "__main__":
    if PAGE is None:
        sys.exit(__doc__)
    unittest.main()
