"""What stands in a heatmap beside its colours: numbers in cells, labels, titles of axes."""
import re
import struct
import xml.etree.ElementTree as ElementTree

from page_case import PageTest, TEXT, deflated, press_button, with_data
from session import browser, program

NUMBER = r"-?\d\.\d\d"
LONG = " ".join(["The old man saw that the dog ran away."] * 20)


def saved_svg():
    return ElementTree.fromstring(browser.downloaded("*.svg", lambda: press_button("Save SVG")))


def texts(root):
    return [("".join(one.itertext()), one.attrib) for one in root.iter() if one.tag.endswith("}text")]


def luminance(color):
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
              for part in (byte / 255 for byte in bytes.fromhex(color.lstrip("#")))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


class Drawn(PageTest):
    def test_a_zoomed_picture_has_whole_numbers_and_says_what_part_it_is(self):
        page = program.page("demo", TEXT)
        n = page.data["shape"][0]
        browser.open(page.path, "#head=2.1")
        self.assertNotIn("part of the picture:", "".join(text for text, _ in texts(saved_svg())))
        for _ in range(2):
            press_button("+")
            browser.frame()  # zooming goes on from what is drawn
        browser.run_later("setTimeout(done, 300)")  # until the view rests
        root = saved_svg()
        clip = next(one for one in root.iter() if one.tag.endswith("}clipPath"))[0].attrib["d"]
        left, top, width, height = map(float, re.match(
            r"M(\S+) (\S+)h(\S+)v(\S+)h", clip).groups())
        numbers = [attributes for text, attributes in texts(root) if re.fullmatch(NUMBER, text)]
        self.assertGreater(len(numbers), 20)
        for one in numbers:
            half = 2 * 0.602 * float(one["font-size"])  # four signs of the fixed-width font
            x, y = float(one["x"]), float(one["y"])
            self.assertTrue(left <= x - half and x + half <= left + width and
                            top + 8 <= y <= top + height, one)
        note = "".join(text for text, _ in texts(root)).replace(" ", "")
        found = re.search(r"partofthepicture:queries(\d+)–(\d+),keys(\d+)–(\d+)of(\d+)", note)
        self.assertIsNotNone(found, note)
        first, last, begin, end, of = map(int, found.groups())
        self.assertEqual(of, n)
        self.assertTrue(0 < first < last < n - 1 and 0 < begin < end < n - 1, found.group())

    def test_numbers_can_be_read_on_every_colour_of_every_map(self):
        page = program.page("demo", TEXT, "--head", "2.1")
        n = page.data["shape"][0]
        count = n * (n + 1) // 2
        # All shades: a ramp from 0 to 1.
        ramp = struct.pack(f"<{count}f", *(place / (count - 1) for place in range(count)))
        coded = {**page.data["documents"][0]["heads"][0],
                 "weights": {"code": "f32", "low": 0, "high": 1, "curve": "linear",
                             "blob": len(page.data["blobs"])}}
        coded.pop("exact", None)
        path = with_data(page, "ramp", blobs=page.data["blobs"] + [deflated(ramp)], steps=None,
                         documents=[{"name": "", "heads": [coded]}])
        browser.screen(1900, 1300)  # cells have room for numbers
        for name in page.data["colormaps"]:
            with self.subTest(colormap=name):
                browser.open(path, f"#colormap={name}&scale=linear")
                worst = min(contrast(ink, cell) for ink, cell in self.inks_on_cells(n))
                self.assertGreaterEqual(worst, 4.5)

    def inks_on_cells(self, n):
        root = saved_svg()
        cells = {}
        for one in root.iter():
            fill = one.attrib.get("fill", "")
            if one.tag.endswith("}path") and re.fullmatch("#[0-9a-f]{6}", fill):
                for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)v1h", one.attrib["d"]):
                    for column in range(int(x), int(x) + int(width)):
                        cells[int(y), column] = fill
        numbers = [(float(one["y"]), float(one["x"]), one["fill"])
                   for text, one in texts(root) if re.fullmatch(NUMBER, text)]
        self.assertEqual(len(numbers), n * (n + 1) // 2)
        rows, columns = (sorted({one[axis] for one in numbers}) for axis in (0, 1))
        return [(ink, cells[rows.index(y), columns.index(x)]) for y, x, ink in numbers]

    def written(self, path):
        """What canvases of heatmaps have written on them: text, where it begins and ends, their size."""
        added = browser.command("Page.addScriptToEvaluateOnNewDocument", source="""
            window.written = [];
            const write = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
              const {actualBoundingBoxLeft: left, actualBoundingBoxRight: right} = this.measureText(text);
              const turn = this.getTransform();
              const ends = [x - left, x + right].map((at) => turn.transformPoint({x: at, y}));
              if (this.canvas.closest?.(".stage")) {
                window.written.push([text, ends.map(({x, y}) => [x, y]),
                                     [this.canvas.width, this.canvas.height]]);
              }
              return write.call(this, text, x, y);
            };""")
        try:
            browser.open(path)
        finally:
            browser.command("Page.removeScriptToEvaluateOnNewDocument", **added)
        return browser.run("return window.written")

    def test_titles_of_axes_are_whole_beside_one_cell(self):
        for name, options in (("one", ["Hi", "--no-bos"]), ("few", ["Hi"])):
            page = program.page(name, *options)
            drawing = page.data["drawing"]
            seen = set()
            for text, ends, (width, height) in self.written(page.path):
                if text in (drawing["query_axis"], drawing["key_axis"]):
                    seen.add(text)
                    for x, y in ends:
                        self.assertTrue(0 <= x <= width and 0 <= y <= height, (name, text, ends))
            self.assertEqual(len(seen), 2)

    def test_labels_say_their_index_where_not_all_are_there(self):
        page = program.page("long labels", LONG)
        labels = page.data["queries"]["label"]
        browser.open(page.path)
        thinned = [text for text, one in texts(saved_svg()) if one["text-anchor"] == "end"]
        self.assertGreater(len(thinned), 10)
        for text in thinned:
            label, _, index = text.rpartition(" ")
            self.assertRegex(index, r"^\d+$", text)
            self.assertTrue(labels[int(index)].startswith(label.lstrip("*").rstrip("…")), text)
        browser.open(program.page("demo", TEXT).path)
        for text, one in texts(saved_svg()):
            if one["text-anchor"] == "end":
                self.assertNotRegex(text, r" \d+$")
