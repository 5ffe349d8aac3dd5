// The heatmaps in view as files: PNG with twice the pixels, SVG with real text.
import { contextOf, make } from "./dom.js";
import { cutLabel, heatImage, paintHeat } from "./heat_paint.js";
import { inView } from "./heat_layout.js";
import { LEGEND_HEIGHT, paintLegend, valueName } from "./legend.js";
import { SvgContext } from "./svg_context.js";
import { wordsFor } from "./words.js";

const MARGIN = 16;
const TITLE_HEIGHT = 24;
const LEGEND_WIDTH = 200;
const PNG_RATIO = 2;
/** A picture of few tokens is wider than they are, so that its notes are not a column of single words. */
const LEAST_PICTURE_WIDTH = 320;
const TITLE_LINE = 19;
const NOTE_LINE = 15;

/**
 * Lines that are not wider than `room`; a word wider than that goes on in the next line.
 * @param {string} text
 * @param {string} font
 * @param {number} room
 */
function wrapped(text, font, room) {
  const context = contextOf(document.createElement("canvas"));
  context.font = font;
  const fits = (/** @type {string} */ line) => context.measureText(line).width <= room;
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && fits(longer)) {
      lines[lines.length - 1] = longer;
      continue;
    }
    lines.push("");
    for (const sign of word) {
      if (!fits(lines[lines.length - 1] + sign)) {
        lines.push("");
      }
      lines[lines.length - 1] += sign;
    }
  }
  return text === "" ? [] : lines;
}

/**
 * Which part of a pattern is in view, or "" where all of it is.
 * @param {Panel} panel
 * @param {import("./heat_layout.js").HeatLayout} layout
 * @param {PageData} data
 */
function partNote({ shown }, layout, data) {
  const side = (/** @type {Unit[]} */ units, /** @type {{begin: number, end: number}} */ { begin, end }) =>
    `${units[begin].begin}–${units[end - 1].end - 1}`;
  const rows = inView(layout.row, layout.plotHeight, layout.cell, shown.queries.length);
  const cols = inView(layout.col, layout.plotWidth, layout.cell, shown.keys.length);
  if (rows.end - rows.begin === shown.queries.length && cols.end - cols.begin === shown.keys.length) {
    return "";
  }
  const [from, to] = wordsFor(data.drawing).isAttention ? ["queries", "keys"] : ["rows", "columns"];
  const [n, m] = data.shape;
  const ofRows = n === m ? "" : ` of ${n}`;
  return `part of the picture: ${from} ${side(shown.queries, rows)}${ofRows}, ${to} ${side(shown.keys, cols)} of ${m}`;
}

/**
 * The parts in view, with the names of their panels where these differ.
 * @param {Scene} scene
 * @param {import("./heat_layout.js").HeatLayout[]} layouts
 */
function partNotes({ data, panels }, layouts) {
  const notes = layouts.map((layout, place) => partNote(panels[place], layout, data));
  return notes.every((note) => note === notes[0])
    ? notes.slice(0, 1).filter(Boolean)
    : notes.flatMap((note, place) => (note ? `${panels[place].title}: ${note}` : []));
}

/**
 * How the view draws the page's weights, in the words of the program's own pictures.
 * @param {Scene} scene
 * @param {import("./heat_layout.js").HeatLayout[]} layouts
 */
function viewNotes(scene, layouts) {
  const { data, state } = scene;
  const notes = partNotes(scene, layouts);
  const without = data.documents[0].heads.filter((head) => head.leftOut).map(({ layer, head }) => `${layer}.${head}`);
  if (without.length > 0) {
    notes.push(
      `without head${without.length > 1 ? "s" : ""} ${without.join(", ")}`,
      "ablated heads still have attention, but their output does not depend on it",
    );
  }
  const merged = [
    ...(state.units === "tokens" ? [] : [`tokens merged into ${state.units}`]),
    ...(state.folds.length > 0 ? [`folded: ${state.folds.map(([begin, end]) => `${begin}-${end - 1}`).join(", ")}`] : []),
  ];
  if (merged.length > 0) {
    notes.push(`${merged.join(", ")}: summed over keys, averaged over queries`);
  }
  if (state.dropSink) {
    const [first] = (data.keys ?? data.queries).label;
    notes.push(`first token (${first}) hidden, the rest of each row rescaled to sum to 1`);
  }
  return notes;
}

/**
 * What is written in a picture above and below the heatmaps, and how large that makes it.
 * @param {Scene} scene
 * @param {import("./heat_layout.js").HeatLayout[]} layouts  as the panels are drawn now
 */
function pictureFrame(scene, layouts) {
  const { data, theme } = scene;
  const panels = layouts.reduce((sum, layout) => sum + layout.width, 0) + MARGIN * (layouts.length + 1);
  const width = Math.ceil(Math.max(panels, LEAST_PICTURE_WIDTH));
  const titleFont = `bold 15px ${theme.sans}`;
  const noteFont = `11px ${theme.sans}`;
  const title = wrapped(data.title, titleFont, width - 2 * MARGIN);
  const notes = wrapped([...data.notes, ...viewNotes(scene, layouts)].join(" · "), noteFont, width - 2 * MARGIN);
  const top = MARGIN + title.length * TITLE_LINE + 5;
  const below = top + TITLE_HEIGHT + Math.max(...layouts.map((layout) => layout.height)) + 8;
  const height = Math.ceil(below + LEGEND_HEIGHT + 14 + notes.length * NOTE_LINE + MARGIN);
  return { width, height, title, titleFont, notes, noteFont, top, below };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {import("./heat_layout.js").HeatLayout[]} layouts
 */
function paintPicture(context, scene, layouts) {
  const { data, panels, shade, state, theme } = scene;
  const { width, height, title, titleFont, notes, noteFont, top, below } = pictureFrame(scene, layouts);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  const write = (
    /** @type {string} */ text,
    /** @type {string} */ font,
    /** @type {string} */ color,
    /** @type {number} */ x,
    /** @type {number} */ y,
  ) => {
    context.font = font;
    context.fillStyle = color;
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillText(text, x, y);
  };
  title.forEach((line, i) => write(line, titleFont, theme.text, MARGIN, MARGIN + 12 + i * TITLE_LINE));
  let x = MARGIN;
  layouts.forEach((layout, place) => {
    const font = `bold 13px ${theme.sans}`;
    const room = place === layouts.length - 1 ? width - MARGIN - x : layout.width;
    context.font = font;
    const name = cutLabel(context, panels[place].title, room);
    // Above the cells if it fits there, else from the picture's edge.
    const shift = Math.max(0, Math.min(layout.left, room - context.measureText(name).width));
    write(name, font, theme.text, x + shift, top + 14);
    context.save();
    context.translate(x, top + TITLE_HEIGHT);
    const image = heatImage(
      panels[place].shown,
      layout,
      shade,
      state.showMask ? theme.masked : null,
      PNG_RATIO,
      null,
      false,
    );
    paintHeat(context, panels[place], layout, image, shade, theme, state.showMask);
    context.restore();
    x += layout.width + MARGIN;
  });
  paintLegend(context, MARGIN, below, LEGEND_WIDTH, shade, theme);
  write(valueName(data.drawing, state.scale), `12px ${theme.sans}`, theme.text, MARGIN, below + LEGEND_HEIGHT + 12);
  notes.forEach((line, i) =>
    write(line, noteFont, theme.quiet, MARGIN, below + LEGEND_HEIGHT + 30 + i * NOTE_LINE),
  );
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
function download(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** @param {Scene} scene */
function fileName({ panels }) {
  const name = panels
    .map((panel) => panel.title)
    .join(" ")
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
  return `attention-${name || "head"}`;
}

/**
 * @param {Scene} scene
 * @param {import("./heat_layout.js").HeatLayout[]} layouts
 */
export function savePng(scene, layouts) {
  const { width, height } = pictureFrame(scene, layouts);
  const canvas = document.createElement("canvas");
  canvas.width = width * PNG_RATIO;
  canvas.height = height * PNG_RATIO;
  const context = contextOf(canvas);
  context.scale(PNG_RATIO, PNG_RATIO);
  paintPicture(context, scene, layouts);
  canvas.toBlob((blob) => blob && download(blob, `${fileName(scene)}.png`));
}

/**
 * @param {Scene} scene
 * @param {import("./heat_layout.js").HeatLayout[]} layouts
 */
export function saveSvg(scene, layouts) {
  const { width, height } = pictureFrame(scene, layouts);
  const context = new SvgContext(width, height, scene.data.title);
  paintPicture(/** @type {any} */ (context), scene, layouts);
  download(new Blob([context.text()], { type: "image/svg+xml" }), `${fileName(scene)}.svg`);
}
