#!/usr/bin/env python3
"""browser_test.py PROGRAM SOURCE BUILD [TEST…]: attnviz' pages in headless Chromium.

What pages show is compared with what the program says of the same text. Exit code 77 says that
all of it was skipped, as there is no Chromium or no selenium.
"""
import importlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import session
from browser import Browser, Program

MODULES = ("heatmap_test", "drawn_test", "picking_test", "derived_test", "hostile_test", "pages_test", "live_test",
           "said_test", "screens_test")
AXE = "axe-core@4.14.1"


class TimedResult(unittest.TextTestResult):
    def startTest(self, test):
        self.begin = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        self.stream.writeln(f"    {time.monotonic() - self.begin:.1f} s")
        super().stopTest(test)


def axe_source(source, build):
    """axe-core, or None where it cannot be had."""
    npm = Path(build) / "npm"
    fetched = subprocess.run([Path(source) / "tests/browser/npm_package.sh", AXE, npm],
                             capture_output=True, text=True, check=False)
    if fetched.returncode != 0:
        print(fetched.stdout.strip() or f"SKIPPED: no axe-core: {fetched.stderr.strip()}")
        return None
    return (npm / "axe-core/node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")


def main(path, source, build, *names):
    folder = Path(tempfile.mkdtemp(prefix="attnviz-browser-"))
    try:
        session.program = Program(path, folder)
        session.browser = Browser(folder)
        session.axe = axe_source(source, build)
        # Only now: these take the session's browser.
        modules = [importlib.import_module(name) for name in MODULES]
        loader = unittest.defaultTestLoader
        tests = unittest.TestSuite(loader.loadTestsFromNames(names) if names else
                                   map(loader.loadTestsFromModule, modules))
        result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2,
                                         resultclass=TimedResult).run(tests)
        return 0 if result.wasSuccessful() else 1
    finally:
        if session.browser is not None:
            session.browser.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
