// A drawing context that writes SVG: it knows just as much of a canvas' as the heatmap and the colour bar use, so that
// both pictures come from the same lines.
import { contextOf } from "./dom.js";

/** More cells than this are put in as an image. */
const MOST_CELLS = 40000;

/** @param {string} text */
function escaped(text) {
  // Control characters are not allowed in XML; labels from the program have none, names of heads may.
  return text
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "\ufffd");
}

/** @param {number} number */
function short(number) {
  return String(Math.round(number * 100) / 100);
}

export class SvgContext {
  /**
   * @param {number} width
   * @param {number} height
   * @param {string} title
   */
  constructor(width, height, title) {
    this.size = [width, height];
    /** @type {string[]} */
    this.parts = [`<title>${escaped(title)}</title>`];
    this.path = "";
    this.clips = 0;
    this.open = 0;
    /** @type {number[]} */
    this.opened = [];
    this.measuring = contextOf(document.createElement("canvas"));
    this.font = "10px sans-serif";
    this.fillStyle = "#000";
    this.strokeStyle = "#000";
    this.lineWidth = 1;
    this.textAlign = "left";
    this.textBaseline = "alphabetic";
    this.imageSmoothingEnabled = false;
  }

  save() {
    this.opened.push(this.open);
  }

  restore() {
    for (const end = this.opened.pop() ?? 0; this.open > end; this.open--) {
      this.parts.push("</g>");
    }
  }

  /** @param {string} attributes */
  group(attributes) {
    this.parts.push(`<g ${attributes}>`);
    this.open++;
  }

  beginPath() {
    this.path = "";
  }

  rect(/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ width, /** @type {number} */ height) {
    this.path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`;
  }

  moveTo(/** @type {number} */ x, /** @type {number} */ y) {
    this.path += `M${short(x)} ${short(y)}`;
  }

  lineTo(/** @type {number} */ x, /** @type {number} */ y) {
    this.path += `L${short(x)} ${short(y)}`;
  }

  clip() {
    this.parts.push(`<clipPath id="clip${++this.clips}"><path d="${this.path}"/></clipPath>`);
    this.group(`clip-path="url(#clip${this.clips})"`);
  }

  stroke() {
    this.parts.push(
      `<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"/>`,
    );
  }

  translate(/** @type {number} */ x, /** @type {number} */ y) {
    this.group(`transform="translate(${short(x)} ${short(y)})"`);
  }

  rotate(/** @type {number} */ angle) {
    this.group(`transform="rotate(${short((angle * 180) / Math.PI)})"`);
  }

  fillRect(
    /** @type {number} */ x,
    /** @type {number} */ y,
    /** @type {number} */ width,
    /** @type {number} */ height,
  ) {
    this.parts.push(
      `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${this.fillStyle}"/>`,
    );
  }

  measureText(/** @type {string} */ text) {
    this.measuring.font = this.font;
    return this.measuring.measureText(text);
  }

  fillText(/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y) {
    const [, weight = "normal", size, family] = /^(bold )?([\d.]+)px (.*)$/.exec(this.font) ?? [];
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign] ?? "start";
    const down = Number(size) * ({ middle: 0.35, top: 0.8 }[this.textBaseline] ?? 0);
    this.parts.push(
      `<text x="${short(x)}" y="${short(y + down)}" font-size="${size}" font-weight="${weight.trim()}" font-family="${escaped(family)}" fill="${this.fillStyle}" text-anchor="${anchor}" xml:space="preserve">${escaped(text)}</text>`,
    );
  }

  drawImage(
    /** @type {HTMLCanvasElement} */ image,
    /** @type {number} */ x,
    /** @type {number} */ y,
    /** @type {number} */ width,
    /** @type {number} */ height,
  ) {
    if (image.width * image.height > MOST_CELLS) {
      this.parts.push(
        `<image x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" preserveAspectRatio="none" image-rendering="pixelated" href="${image.toDataURL()}"/>`,
      );
      return;
    }
    this.group(
      `transform="translate(${short(x)} ${short(y)}) scale(${width / image.width} ${height / image.height})" shape-rendering="crispEdges"`,
    );
    colorRuns(image).forEach((path, color) => this.parts.push(`<path fill="${color}" d="${path}"/>`));
    this.parts.push("</g>");
    this.open--;
  }

  /** The picture as a file. */
  text() {
    const [width, height] = this.size;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">\n${this.parts.join("\n")}\n</svg>\n`;
  }
}

/**
 * Neighbours in a row that have the same colour as one shape, all shapes of a colour as one path.
 * @param {HTMLCanvasElement} image
 * @returns {Map<string, string>}
 */
function colorRuns(image) {
  const { data } = contextOf(image).getImageData(0, 0, image.width, image.height);
  const pixels = new Uint32Array(data.buffer);
  /** @type {Map<string, string>} */
  const paths = new Map();
  for (let row = 0, i = 0; row < image.height; row++) {
    for (let col = 0; col < image.width;) {
      const pixel = pixels[i];
      const begin = col;
      for (; col < image.width && pixels[i] === pixel; col++) {
        i++;
      }
      if (pixel >>> 24 !== 0) {
        const color = `#${[pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
        paths.set(color, `${paths.get(color) ?? ""}M${begin} ${row}h${col - begin}v1h${begin - col}z`);
      }
    }
  }
  return paths;
}
