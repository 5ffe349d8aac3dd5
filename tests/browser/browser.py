"""Pages in a headless Chromium that reaches no network, and what they say of themselves."""
import base64
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib
from pathlib import Path


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(77)


try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
except ImportError:
    skip("the pages need the Python module selenium (Debian: python3-selenium)")

FLAGS = """--headless=new --no-sandbox --disable-gpu --disable-quic --disable-dev-shm-usage
--no-first-run --disable-background-networking --disable-component-update --disable-sync
--disable-extensions --disable-default-apps --mute-audio --hide-scrollbars
--force-device-scale-factor=1 --force-color-profile=srgb
--window-size=1440,1000 --proxy-server=127.0.0.1:9""".split()


def first_program(*names):
    return next(filter(None, map(shutil.which, names)), None)


class Page:
    """What attnviz wrote into a file, read without a browser."""

    def __init__(self, path):
        self.path = path
        self.html = path.read_text(encoding="utf-8")
        data = re.search(r'id="attnviz-data">(.*?)</script>', self.html, re.DOTALL)
        self.data = json.loads(data.group(1))
        script = re.search(r"<script>(.*?)</script>", self.html[data.end():], re.DOTALL)
        self.script = script.group(1)

    def blob(self, number):
        return zlib.decompress(base64.b64decode(self.data["blobs"][number]), wbits=-15)

    def floats(self, number):
        content = self.blob(number)
        return struct.unpack(f"<{len(content) // 4}f", content)


class Program:
    """attnviz, and the pages that it writes into a folder."""

    def __init__(self, path, folder):
        self.path = path
        self.folder = folder

    def run(self, *arguments, text=""):
        done = subprocess.run([self.path, *arguments], input=text.encode(), capture_output=True,
                              check=False, timeout=60)
        if done.returncode != 0:
            raise AssertionError(f"attnviz {arguments}: {done.stderr.decode()}")
        return done.stdout.decode()

    def json(self, *arguments, text=""):
        return json.loads(self.run(*arguments, "--json", text=text))

    def lines(self, *arguments, texts):
        """What it says of each text, in one run."""
        out = self.run(*arguments, "--json", "--json-lines",
                       text="".join(json.dumps(text) + "\n" for text in texts))
        return [json.loads(line) for line in out.splitlines()]

    def page(self, name, *arguments, text=""):
        path = self.folder / f"{name}.html"
        self.run(*arguments, "-q", "-o", str(path), text=text)
        return Page(path)


class Browser:
    def __init__(self, folder):
        chromium = first_program("chromium", "chromium-browser", "google-chrome")
        chromedriver = first_program("chromedriver")
        if chromium is None or chromedriver is None:
            skip("the pages need Chromium and its driver (Debian: chromium, chromium-driver)")
        self.downloads = folder / "downloads"
        self.downloads.mkdir()
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for flag in [*FLAGS, f"--user-data-dir={folder / 'profile'}"]:
            options.add_argument(flag)
        options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(
            service=Service(chromedriver, log_path=os.devnull), options=options)
        self.driver.set_script_timeout(50)
        self.command("Browser.setDownloadBehavior", behavior="allow",
                     downloadPath=str(self.downloads))

    def close(self):
        self.driver.quit()

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def open(self, path, fragment=""):
        # From another page: only a fragment would load nothing.
        self.driver.get("about:blank")
        self.driver.get(Path(path).as_uri() + fragment)
        self.settle()

    def settle(self):
        """Until the page has drawn its first view, and rests."""
        self.run_later("""
            const until = performance.now() + 10000;
            const wait = () => {
              if (document.querySelector(".stage")?.style.height ||
                  document.querySelector("[role=alert]") || performance.now() > until) {
                requestIdleCallback(() => done(), {timeout: 1000});
              } else {
                setTimeout(wait, 10);
              }
            };
            wait();""")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def run_later(self, script, *arguments):
        """Of a script that calls done(result)."""
        return self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1];" + script, *arguments)

    def frame(self, script="null", *arguments):
        """What an expression is behind the next frame."""
        return self.run_later(
            f"const given = arguments; requestAnimationFrame(() => done({script}));", *arguments)

    def wait_for(self, expression, *arguments, seconds=20):
        """What an expression is once it is true, or else at the end."""
        return self.run_later(f"""
            const given = arguments;
            const until = performance.now() + {1000 * seconds};
            const wait = () => {{
              const result = {expression};
              result || performance.now() > until ? done(result) : setTimeout(wait, 15);
            }};
            wait();""", *arguments)

    def point(self, x, y):
        self.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y, button="left"):
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button,
                         clickCount=1)

    KEYS = {"ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13,
            "Escape": 27, "Home": 36, "End": 35}

    def press(self, key):
        if key in self.KEYS:
            typed = {"windowsVirtualKeyCode": self.KEYS[key], "code": key}
            if key == "Enter":
                typed["text"] = "\r"
        else:
            typed = {"text": key}
        self.command("Input.dispatchKeyEvent", type="keyDown", key=key, **typed)
        self.command("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.frame()

    def screen(self, width, height, ratio=1, mobile=False):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height,
                     deviceScaleFactor=ratio, mobile=mobile)

    def usual_screen(self):
        self.command("Emulation.clearDeviceMetricsOverride")
        self.prefer()

    def prefer(self, **features):
        """prefer(color_scheme="dark", reduced_motion="reduce")"""
        self.command("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-" + name.replace("_", "-"), "value": value}
            for name, value in features.items()])

    def messages(self):
        """All that was said to the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def downloaded(self, pattern, act):
        """The file that `act` makes the page save."""
        for path in self.downloads.iterdir():
            path.unlink()
        act()
        for _ in range(200):
            found = [path for path in self.downloads.glob(pattern) if path.stat().st_size > 0]
            if found:
                return found[0].read_bytes()
            self.run_later("setTimeout(done, 25)")
        raise AssertionError(f"no {pattern} was saved")
