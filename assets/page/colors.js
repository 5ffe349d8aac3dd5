// How a value becomes a colour: as the program's pictures do it, in single precision.

/** How many of a map's 256 colours the program's pictures use; the page uses the same. */
export const SHADES = 192;

export class Shade {
  /**
   * @param {Uint8Array} map  256 colours of red, green, blue, the low end first
   * @param {boolean} reversed
   * @param {ScaleKind} kind
   * @param {number} low      what the ends of the map stand for; for "row-max" shares of the row's largest
   * @param {number} high
   * @param {string} nan      colour of NaN, "#rrggbb"
   */
  constructor(map, reversed, kind, low, high, nan) {
    this.kind = kind;
    this.low = Math.fround(low);
    this.high = Math.fround(high);
    /** Bytes red, green, blue, alpha as one number, as ImageData wants them; the last one is of NaN. */
    this.pixels = new Uint32Array(SHADES + 1);
    const bytes = new Uint8Array(this.pixels.buffer);
    for (let i = 0; i < SHADES; i++) {
      const step = reversed ? SHADES - 1 - i : i;
      const from = 3 * Math.floor(((2 * step + 1) * 256) / (2 * SHADES));
      bytes.set([map[from], map[from + 1], map[from + 2], 255], 4 * i);
    }
    bytes.set([1, 3, 5].map((at) => parseInt(nan.slice(at, at + 2), 16)).concat(255), 4 * SHADES);
    this.css = Array.from({ length: SHADES + 1 }, (_, i) => `rgb(${bytes.subarray(4 * i, 4 * i + 3).join(" ")})`);
    /** What can be read on each: the one of black and white that differs more (WCAG 2.2). */
    this.inks = Array.from({ length: SHADES + 1 }, (_, i) => {
      const y = luminance(bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2]);
      return (y + 0.05) * (y + 0.05) > 1.05 * 0.05 ? "#000000" : "#ffffff";
    });
  }

  /**
   * Where a value (for "row-max": its share) lies from the low end to the high one, not clamped.
   * @param {number} value
   */
  position(value) {
    const { kind, low, high } = this;
    if (kind === "sqrt") {
      return Math.sqrt(Math.fround(Math.max(value - low, 0) / Math.fround(high - low)));
    }
    if (kind === "log") {
      return Math.log(Math.max(value, low) / low) / Math.log(high / low);
    }
    return Math.fround(Math.fround(value - low) / Math.fround(high - low));
  }

  /**
   * Which of the colours; the last one is of NaN.
   * @param {number} value
   */
  index(value) {
    const position = this.position(value);
    return position !== position
      ? SHADES
      : position <= 0
        ? 0
        : position >= 1
          ? SHADES - 1
          : Math.floor(Math.fround(position * SHADES));
  }

  /**
   * The value at a place of the colour bar, for its ticks.
   * @param {number} position
   */
  valueAt(position) {
    const { kind, low, high } = this;
    if (kind === "sqrt") {
      return low + position * position * (high - low);
    }
    return kind === "log" ? low * (high / low) ** position : low + position * (high - low);
  }
}

/**
 * @param {number} red
 * @param {number} green
 * @param {number} blue
 */
function luminance(red, green, blue) {
  const [r, g, b] = [red, green, blue].map((byte) => {
    const value = byte / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/**
 * The smallest and the largest weight of a pattern.
 * @param {Shown} shown
 */
function valueEnds({ matrix }) {
  const row = new Float32Array(matrix.cols);
  let low = 0;
  let high = 0;
  for (let query = 0; query < matrix.rows; query++) {
    matrix.readRow(query, row);
    for (let key = 0; key < row.length; key++) {
      if (row[key] > high) {
        high = row[key];
      } else if (row[key] < low) {
        low = row[key];
      }
    }
  }
  return { low, high };
}

/**
 * The ends of the colour scale that the reader chose: those the page came with, or up to the largest weight in view.
 * @param {Drawing} drawing
 * @param {ScaleKind} kind
 * @param {Shown[] | null} stretched  the patterns in view, or null
 * @returns {[number, number]}
 */
export function scaleEnds(drawing, kind, stretched) {
  if (stretched && kind !== "row-max") {
    const ends = stretched.map(valueEnds);
    const low = Math.min(...ends.map((end) => end.low));
    const high = Math.max(...ends.map((end) => end.high));
    const most = Math.max(-low, high) || 1;
    return [kind === "log" ? most / 1000 : low < 0 ? -most : 0, most];
  }
  const shares = kind === "row-max";
  if (shares !== (drawing.scale === "row-max")) {
    return [kind === "log" ? 0.001 : 0, 1];
  }
  const { low, high } = drawing;
  return [kind === "log" && low <= 0 ? high / 1000 : low, high];
}

/** The colours that canvases share with the style sheet, in the theme that the system asks for. */
export function currentTheme(/** @type {PageData["bad"]} */ bad) {
  const style = getComputedStyle(document.documentElement);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const read = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  /** @type {Theme} */
  const theme = {
    dark,
    background: read("--background"),
    text: read("--text"),
    quiet: read("--quiet"),
    line: read("--line"),
    accent: read("--accent"),
    masked: dark ? bad.masked_dark : bad.masked,
    hatch: read("--hatch"),
    from: read("--from"),
    to: read("--to"),
    negative: read("--negative"),
    fromLine: read("--from-line"),
    toLine: read("--to-line"),
    negativeLine: read("--negative-line"),
    mono: read("--mono"),
    sans: read("--sans"),
  };
  return theme;
}
