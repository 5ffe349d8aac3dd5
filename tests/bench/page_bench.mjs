// The HTML page beside views of attention that other tools make of the same patterns, in headless Chromium:
//
//     node page_bench.mjs PROGRAM FOLDER [REPETITIONS [NAME …]]
//
// Fetches npm packages into FOLDER and makes all pages there. The peers' public sources are expected in it, as they
// are: bertviz/model_view.js and head_view.js, circuitsvis/AttentionPatterns.tsx and components/; what is not there is
// left out. NAMEs choose among what is printed.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [program, folderName, repetitions = "3", ...chosen] = process.argv.slice(2);
const folder = path.resolve(folderName);
const at = (...parts) => path.join(folder, ...parts);
const PATIENCE = 60_000; // ms until a page is given up
const QUIET = 1500; // ms without a new frame: the picture is complete
const MOVES = 60;
const TOO_LONG = 45; // seconds of a repetition after which no other follows

const TRACED = [
  "benchmark", "cc", "input", "input.scrolling", "latencyInfo", "toplevel", "disabled-by-default-devtools.timeline",
];
const PACKAGES = [
  "playwright-core", "d3@5.7.0", "jquery@2", "requirejs@2", "react@18", "react-dom@18", "@tensorflow/tfjs@4",
  "tinycolor2", "esbuild",
];
if (!fs.existsSync(at("node_modules", "playwright-core"))) {
  fs.mkdirSync(folder, { recursive: true });
  execFileSync("npm", ["install", "--prefix", folder, "--no-audit", ...PACKAGES], { stdio: "inherit" });
}
const require = createRequire(at("from_here.js"));
const { chromium } = require("playwright-core");

const SIZES = [
  { layers: 12, heads: 12, tokens: 128 },
  { layers: 12, heads: 12, tokens: 512 },
  { layers: 1, heads: 1, tokens: 4096 },
];

// Words of a text that is the same every time.
function words(count) {
  const all = "the cat sat on a mat and dog saw house tree big red one who it was tired".split(" ");
  let state = 1;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return all[(state >>> 16) % all.length];
  });
}

// As json.dumps writes what numpy's tolist() makes of float32.
function writePython(fd, values) {
  let text = "";
  for (let i = 0; i < values.length; i++) {
    text += (i > 0 ? ", " : "") + (Number.isInteger(values[i]) ? `${values[i]}.0` : values[i]);
  }
  fs.writeSync(fd, text);
}

function writeNested(fd, values, [size, ...rest]) {
  fs.writeSync(fd, "[");
  for (let i = 0, part = values.length / size; i < (rest.length > 0 ? size : 0); i++) {
    fs.writeSync(fd, i > 0 ? ", " : "");
    writeNested(fd, values.subarray(i * part, (i + 1) * part), rest);
  }
  if (rest.length === 0) {
    writePython(fd, values);
  }
  fs.writeSync(fd, "]");
}

function patternOf({ layers, heads, tokens }) {
  const bytes = fs.readFileSync(at(`p${tokens}.npy`));
  const data = bytes.subarray(10 + bytes.readUInt16LE(8));
  return new Float32Array(data.buffer.slice(data.byteOffset, data.byteOffset + 4 * layers * heads * tokens * tokens));
}

function writePage(file, before, size, shape, after) {
  const fd = fs.openSync(at(file), "w");
  fs.writeSync(fd, before);
  writeNested(fd, patternOf(size), shape);
  fs.writeSync(fd, after);
  fs.closeSync(fd);
}

// The page that BertViz' html_action="return" gives, with libraries from beside it.
function writeBertviz(view, size, file) {
  const { layers, heads, tokens } = size;
  const count = (n) => JSON.stringify([...Array(n).keys()]);
  const local = { d3: "node_modules/d3/dist/d3.min", jquery: "node_modules/jquery/dist/jquery.min" };
  const script = fs.readFileSync(at("bertviz", `${view}.js`), "utf8")
    .replace(/d3: '[^']*'/, `d3: '${local.d3}'`).replace(/jquery: '[^']*'/, `jquery: '${local.jquery}'`);
  const [start, end] = script.split("PYTHON_PARAMS;");
  const text = JSON.stringify(words(tokens));
  writePage(
    file,
    `<meta charset="utf-8"><script src="node_modules/requirejs/require.js"></script>
<div id="v" style="font-family:'Helvetica Neue', Helvetica, Arial, sans-serif;"><span style="user-select:none">` +
      `${view === "head_view" ? 'Layer: <select id="layer"></select>' : ""}</span><div id='vis'></div></div>
<script>${start}{"attention": [{"name": null, "left_text": ${text}, "right_text": ${text}, "attn": `,
    size,
    [layers, heads, tokens, tokens],
    `}], "default_filter": "0", "display_mode": "light", "root_div_id": "v", "layer": null, "heads": null,
 "include_layers": ${count(layers)}, "include_heads": ${count(heads)}, "total_heads": ${heads}};${end}</script>`,
  );
}

function writeCircuitsvis(size, file) {
  const bundle = at("circuitsvis", "bundle.js");
  if (!fs.existsSync(bundle)) {
    fs.writeFileSync(at("circuitsvis", "entry.tsx"), `import React from "react";
import { createRoot } from "react-dom/client";
import { AttentionPatterns } from "./AttentionPatterns";
globalThis.draw = (props) => createRoot(document.getElementById("v")).render(<AttentionPatterns {...props} />);`);
    execFileSync(at("node_modules", ".bin", "esbuild"), ["--bundle", "--minify", "--format=iife",
      "--define:process.env.NODE_ENV=\"production\"", at("circuitsvis", "entry.tsx"), `--outfile=${bundle}`]);
  }
  const { layers, heads, tokens } = size;
  writePage(
    file,
    `<meta charset="utf-8"><div id="v"></div><script src="circuitsvis/bundle.js"></script>
<script>draw({"tokens": ${JSON.stringify(words(tokens))}, "attention": `,
    size,
    [layers * heads, tokens, tokens],
    "});</script>",
  );
}

// Points of a line within what `selector` finds first, as far as it is in view.
async function line(page, selector) {
  const box = await page.locator(selector).first().boundingBox({ timeout: PATIENCE });
  const bottom = Math.min(box.y + box.height, 890);
  return Array.from({ length: MOVES }, (_, i) => {
    const t = (i + 0.5) / MOVES;
    return [box.x + box.width * (0.1 + 0.3 * t), box.y + (bottom - box.y) * (0.1 + 0.8 * t)];
  });
}

// The middles of what `selector` finds, one after another, as far as they are in view.
async function each(page, selector) {
  const all = await page.evaluate((selectors) => [...document.querySelectorAll(selectors)].slice(0, 5000).map((one) => {
    const { x, y, width, height } = one.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
  }).filter(([x, y]) => x > 0 && x < 1390 && y > 0 && y < 890), selector);
  return Array.from({ length: MOVES }, (_, i) => all[(i * 7) % all.length]);
}

const VIEWS = [
  {
    name: "attnviz",
    write: ({ layers, heads, tokens }, file) => execFileSync(program, [
      "-f", at(`t${tokens}.txt`), "--random", "--layers", `${layers}`, "--heads", `${heads}`, "--d-head", "64", "-q",
      "-o", at(file)], { stdio: "ignore" }),
    points: (page) => line(page, ".heatmap-panel .stage canvas"),
  },
  {
    // The least that an answer takes: one rectangle of a canvas.
    name: "one rectangle",
    write: (size, file) => fs.writeFileSync(at(file), `<meta charset="utf-8"><canvas width="800" height="800"></canvas>
<script>const canvas = document.querySelector("canvas");
const context = canvas.getContext("2d");
let wanted = null;
canvas.addEventListener("pointermove", (event) => {
  wanted ??= requestAnimationFrame(() => {
    wanted = null;
    context.fillRect(event.offsetX, event.offsetY, 9, 9);
  });
});
context.fillRect(0, 0, 9, 9);</script>`),
    points: (page) => line(page, "canvas"),
  },
  {
    name: "BertViz model_view",
    source: "bertviz/model_view.js",
    write: (size, file) => writeBertviz("model_view", size, file),
    // It answers over the tokens of the head that was clicked.
    points: async (page) => {
      await page.mouse.click(120, 80);
      await page.waitForTimeout(QUIET);
      return each(page, "svg g.detail text.token");
    },
  },
  {
    name: "BertViz head_view",
    source: "bertviz/head_view.js",
    write: (size, file) => writeBertviz("head_view", size, file),
    points: (page) => each(page, "#left text"),
  },
  {
    name: "CircuitsVis AttentionPatterns",
    source: "circuitsvis/AttentionPatterns.tsx",
    write: writeCircuitsvis,
    points: (page) => each(page, "figure canvas"),
  },
];

const limited = (promise, what) => Promise.race([
  promise,
  new Promise((_, fail) => {
    setTimeout(() => fail(new Error(`${what}: more than ${PATIENCE / 1000} s`)), PATIENCE).unref();
  }),
]);

const twoFrames = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// The compositor's report on each pointer move: when it came, and when the following frame was shown, in us. An
// effect that a page puts off comes later: until two more frames are done it is not at rest.
function pointerMoves(events) {
  const begun = new Map();
  const found = [];
  for (const event of events.filter(({ name }) => name === "EventLatency")) {
    const key = `${event.pid} ${event.id ?? event.id2?.local}`;
    if (event.ph === "b") {
      begun.set(key, event);
    } else if (event.ph === "e" && begun.has(key)) {
      const { args, ts } = begun.get(key);
      if (args.event_latency?.event_type === "MOUSE_MOVED_EVENT") {
        found.push({ begin: ts, end: event.ts });
      }
    }
  }
  return found.sort((a, b) => a.begin - b.begin);
}

// ms that the main threads of pages worked from each of `moves` until the next, and after the last.
function work(events, moves) {
  const mains = new Set(events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
    .map(({ pid, tid }) => `${pid} ${tid}`));
  const tasks = events.filter(({ name, ph, pid, tid }) =>
    name === "RunTask" && ph === "X" && mains.has(`${pid} ${tid}`));
  return moves.map(({ begin }, i) => tasks
    .filter(({ ts, dur }) => ts + dur > begin && ts + dur <= (moves[i + 1]?.begin ?? Infinity))
    .reduce((sum, { dur }) => sum + dur / 1000, 0));
}

async function measure(view, file) {
  const server = await chromium.launchServer({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const browser = await chromium.connect(server.wsEndpoint());
  const begin = Date.now();
  const result = { bytes: fs.statSync(at(file)).size };
  try {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    const died = new Promise((_, fail) => {
      page.on("crash", () => fail(new Error("the page died")));
      page.on("pageerror", (error) => fail(new Error(error.message.split("\n")[0].slice(0, 60))));
    });
    const alive = (promise, what) => limited(Promise.race([promise, died]), what);
    const session = await page.context().newCDPSession(page);
    let last = 0;
    let busy = 0;
    session.on("Page.screencastFrame", ({ metadata, sessionId }) => {
      last = metadata.timestamp * 1000;
      session.send("Page.screencastFrameAck", { sessionId }).catch(() => {});
    });
    // A page that does not answer at once is at work, though it shows nothing.
    const isQuiet = async () => {
      const asked = Date.now();
      await twoFrames(page);
      await page.evaluate(() => new Promise((done) => requestIdleCallback(done)));
      busy = Date.now() - asked > 200 ? Date.now() : busy;
      return Date.now() - Math.max(last, busy) > QUIET;
    };
    await session.send("Page.startScreencast", { format: "jpeg", quality: 10, maxWidth: 350, maxHeight: 225 });
    await alive((async () => {
      await page.goto(`file://${at(file)}`, { timeout: PATIENCE });
      while (!(await isQuiet())) {
        await page.waitForTimeout(100);
      }
    })(), "complete picture");
    const [origin, sight] = await page.evaluate(() =>
      [performance.timeOrigin, performance.getEntriesByName("first-contentful-paint")[0]?.startTime]);
    Object.assign(result, { sight, complete: last - origin });
    await session.send("Page.stopScreencast");
    const browserSession = await browser.newBrowserCDPSession();
    const renderers = async () => {
      const { processInfo } = await browserSession.send("SystemInfo.getProcessInfo");
      return processInfo.filter(({ type }) => type === "renderer").map(({ id }) =>
        Number(/VmHWM:\s*(\d+)/.exec(fs.readFileSync(`/proc/${id}/status`, "utf8"))[1]) * 1024);
    };
    result.memory = Math.max(...(await renderers()));

    const points = await alive(view.points(page), "pointer");
    await page.screenshot({ path: at(file.replace(".html", ".png")), timeout: PATIENCE }).catch(() => {});
    await browser.startTracing(page, { categories: TRACED });
    result.rests = [];
    const end = Date.now() + PATIENCE / 2;
    for (const [x, y] of points) {
      const moved = Date.now();
      await alive((async () => {
        await page.mouse.move(x, y);
        await twoFrames(page);
        result.rests.push(Date.now() - moved);
        await page.waitForTimeout(30);
      })(), "pointer");
      if (Date.now() > end) {
        break;
      }
    }
    const events = JSON.parse((await browser.stopTracing()).toString()).traceEvents.sort((a, b) => a.ts - b.ts);
    const moves = pointerMoves(events);
    result.moves = moves.map(({ begin, end }) => (end - begin) / 1000);
    result.works = work(events, moves);
    result.memory = Math.max(result.memory, ...(await renderers()));
  } catch (error) {
    result.failed = error.message.split("\n")[0];
  }
  result.seconds = (Date.now() - begin) / 1000;
  await Promise.race([browser.close().catch(() => {}), new Promise((done) => setTimeout(done, 5000).unref())]);
  server.process().kill("SIGKILL");
  return result;
}

const sorted = (values) => values.slice().sort((a, b) => a - b);
const quantile = (values, q) => sorted(values)[Math.min(values.length - 1, Math.floor(q * values.length))];
const fixed = (value, unit, digits = 0) => (Number.isFinite(value) ? `${value.toFixed(digits)} ${unit}` : "-");

const HEADINGS = [
  "page", "file", "first sight", "complete picture", "work, median", "95 %",
  "pointer to frame, median", "95 %", "pointer to rest, median",
  "95 %", "memory", "",
];
const row = (cells) => `| ${cells.join(" | ")} |`;
console.log(`${row(HEADINGS)}\n${row(HEADINGS.map(() => "---"))}`);
for (const size of SIZES) {
  const { layers, heads, tokens } = size;
  fs.writeFileSync(at(`t${tokens}.txt`), words(tokens).join(" "));
  execFileSync(program, ["-f", at(`t${tokens}.txt`), "--random", "--layers", `${layers}`, "--heads", `${heads}`,
    "--d-head", "64", "-q", "-o", at(`p${tokens}.npy`)], { stdio: "ignore" });
  const views = VIEWS.filter(({ name, source }) => (!source || fs.existsSync(at(source))) &&
    (chosen.length === 0 || chosen.some((part) => `${name} ${tokens}`.includes(part))));
  const results = views.map(() => []);
  const file = (view) => `${view.name.replace(/\W+/g, "_")}_${tokens}.html`;
  views.forEach((view) => view.write(size, file(view)));
  for (let i = 0; i < Number(repetitions); i++) {
    for (const [index, view] of views.entries()) {
      if (!results[index].some(({ failed, seconds }) => failed || seconds > TOO_LONG)) {
        results[index].push(await measure(view, file(view)));
      }
    }
  }
  for (const [index, view] of views.entries()) {
    const all = results[index];
    const middle = (key) => quantile(all.map((one) => one[key]).filter(Number.isFinite), 0.5);
    const [works, moves, rests] = ["works", "moves", "rests"].map((key) => all.flatMap((one) => one[key] ?? []));
    const failed = all.find((one) => one.failed)?.failed ?? "";
    console.log(row([
      `${view.name}, ${layers} x ${heads} heads, ${tokens} tokens`, fixed(all[0].bytes / 1e6, "MB", 1),
      ...["sight", "complete"].map((key) => fixed(middle(key), "ms")),
      ...[works, moves, rests].flatMap((some) => [0.5, 0.95].map((q) => fixed(quantile(some, q), "ms"))),
      fixed(middle("memory") / 1e6, "MB"), `${failed} ${all.length} x, ${rests.length} moves`,
    ]));
  }
}
