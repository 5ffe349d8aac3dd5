// The heatmaps in view as files: PNG with twice the pixels, SVG with real text.
import { contextOf, make } from "./dom.js";
import { heatImage, paintHeat } from "./heat_paint.js";
import { LEGEND_HEIGHT, paintLegend, valueName } from "./legend.js";
import { SvgContext } from "./svg_context.js";

const MARGIN = 16;
const TITLE_HEIGHT = 24;
const LEGEND_WIDTH = 200;
const PNG_RATIO = 2;

/**
 * @param {Scene} scene
 * @param {import("./heat_layout.js").HeatLayout[]} layouts  as the panels are drawn now
 */
function pictureSize(scene, layouts) {
  const widths = layouts.map((layout) => layout.width);
  const note = scene.data.notes.length > 0 ? 18 : 0;
  return {
    width: Math.ceil(
      Math.max(
        widths.reduce((sum, width) => sum + width, 0) + MARGIN * (layouts.length + 1),
        LEGEND_WIDTH + 2 * MARGIN,
      ),
    ),
    height: Math.ceil(
      2 * TITLE_HEIGHT + Math.max(...layouts.map((layout) => layout.height)) + LEGEND_HEIGHT + 22 + note + 2 * MARGIN,
    ),
  };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {import("./heat_layout.js").HeatLayout[]} layouts
 */
function paintPicture(context, scene, layouts) {
  const { data, panels, shade, state, theme } = scene;
  const { width, height } = pictureSize(scene, layouts);
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
  write(data.title, `bold 15px ${theme.sans}`, theme.text, MARGIN, MARGIN + 12);
  let x = MARGIN;
  layouts.forEach((layout, place) => {
    write(panels[place].title, `bold 13px ${theme.sans}`, theme.text, x + layout.left, MARGIN + TITLE_HEIGHT + 14);
    context.save();
    context.translate(x, MARGIN + 2 * TITLE_HEIGHT);
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
  const below = MARGIN + 2 * TITLE_HEIGHT + Math.max(...layouts.map((layout) => layout.height)) + 8;
  paintLegend(context, MARGIN, below, LEGEND_WIDTH, shade, theme);
  write(valueName(data.drawing, state.scale), `12px ${theme.sans}`, theme.text, MARGIN, below + LEGEND_HEIGHT + 12);
  write(data.notes.join(" · "), `11px ${theme.sans}`, theme.quiet, MARGIN, below + LEGEND_HEIGHT + 30);
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
  const { width, height } = pictureSize(scene, layouts);
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
  const { width, height } = pictureSize(scene, layouts);
  const context = new SvgContext(width, height, scene.data.title);
  paintPicture(/** @type {any} */ (context), scene, layouts);
  download(new Blob([context.text()], { type: "image/svg+xml" }), `${fileName(scene)}.svg`);
}
