// The colour bar: which value has which colour.
import { SHADES } from "./colors.js";
import { numberText, sizedContext } from "./dom.js";

const BAR_WIDTH = 180;
const BAR_HEIGHT = 10;
export const LEGEND_HEIGHT = 28;

/** What the scale shows, for the line beside the bar. */
export function valueName(/** @type {Drawing} */ drawing, /** @type {ScaleKind} */ kind) {
  const suffix = { linear: "", sqrt: " (square root scale)", log: " (log scale)", "row-max": "" }[kind];
  return kind === "row-max" ? "share of the row's largest weight" : drawing.value_name + suffix;
}

/**
 * What a colour bar is made from.
 * @typedef {object} BarColors
 * @property {string[]} css  the low end first
 * @property {(position: number) => number} valueAt
 */

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {BarColors} shade
 * @param {Theme} theme
 */
export function paintLegend(context, x, y, width, shade, theme) {
  for (let i = 0; i < SHADES; i++) {
    context.fillStyle = shade.css[i];
    context.fillRect(x + (i * width) / SHADES, y, width / SHADES + 0.5, BAR_HEIGHT);
  }
  context.font = `11px ${theme.sans}`;
  context.fillStyle = theme.text;
  context.textBaseline = "top";
  for (const { position, label } of legendTicks(shade)) {
    context.textAlign = position === 0 ? "left" : position === 1 ? "right" : "center";
    context.fillText(label, x + position * width, y + BAR_HEIGHT + 4);
  }
}

/**
 * The ends and the middle; short, because the bar is.
 * @param {BarColors} shade
 */
function legendTicks(shade) {
  return [0, 0.5, 1].map((position) => ({
    position,
    label: numberText(shade.valueAt(position))
      .replace(/(\.\d*?)0+$/, "$1")
      .replace(/\.$/, ""),
  }));
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Scene} scene
 */
export function drawLegend(canvas, { shade, theme, data, state }) {
  drawBar(canvas, shade, valueName(data.drawing, state.scale), theme);
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {BarColors} colors
 * @param {string} name  of the values
 * @param {Theme} theme
 */
export function drawBar(canvas, colors, name, theme) {
  const context = sizedContext(canvas, BAR_WIDTH, LEGEND_HEIGHT);
  paintLegend(context, 1, 1, BAR_WIDTH - 2, colors, theme);
  const ends = legendTicks(colors);
  canvas.setAttribute("aria-label", `colour bar, ${name}, from ${ends[0].label} to ${ends[2].label}`);
}
