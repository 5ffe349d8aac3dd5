// Small helpers: elements, numbers as text, and work put off to the next frame or to idle time.

/**
 * Makes an element. `props`: attributes, but "text" for its text, and functions for event listeners.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | undefined | ((event: any) => void)>} [props]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") {
      element.addEventListener(name, value);
    } else if (name === "text") {
      element.textContent = String(value);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children);
  return element;
}

/**
 * A weight for a reader: three significant digits, no more than needed, and no decimals that are smaller than `error`.
 * @param {number} value
 * @param {number} [error]  how far it may be from the true one
 */
export function numberText(value, error = 0) {
  if (Number.isNaN(value)) {
    return "NaN";
  }
  const size = Math.abs(value);
  if (size === Infinity) {
    return value < 0 ? "-∞" : "∞";
  }
  const decimals = error > 0 ? clamp(Math.floor(-Math.log10(error)), 0, 20) : Infinity;
  if (size >= 1e6 || (size !== 0 && size < 0.0005 && 1 - Math.floor(Math.log10(size)) <= decimals)) {
    return value.toExponential(1);
  }
  return size < 1
    ? value.toFixed(Math.min(size < 0.0005 && size !== 0 ? 20 : 3, decimals))
    : String(Number(Number(value.toPrecision(4)).toFixed(Math.min(3, decimals))));
}

/** Letters that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * A label to be put into a sentence: its reading direction does not turn the text around it. Others stay as they
 * are, since the signs that do this would be copied with them.
 * @param {string} label
 */
export function isolated(label) {
  return RIGHT_TO_LEFT.test(label) ? `\u2068${label}\u2069` : label;
}

/**
 * "1 head", "4 heads".
 * @param {number} count
 * @param {string} noun
 */
export function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * A function that runs `work` once in the next frame, however often it is called before.
 * @param {() => void} work
 */
export function eachFrame(work) {
  let waiting = false;
  return () => {
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        work();
      });
    }
  };
}

/** Resolves when the browser has nothing better to do. */
export function idle() {
  return new Promise((resolve) => {
    if ("requestIdleCallback" in window) {
      requestIdleCallback(() => resolve(undefined), { timeout: 200 });
    } else {
      setTimeout(() => resolve(undefined), 8);
    }
  });
}

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/**
 * The drawing context of a canvas made `width` x `height` CSS pixels large, scaled so that one unit is one of them.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
export function sizedContext(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = contextOf(canvas);
  context.scale(ratio, ratio);
  return context;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @returns {CanvasRenderingContext2D}
 */
export function contextOf(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}

/**
 * Calls when an element becomes wider or narrower: what is drawn depends on that, but sets the height itself.
 * @param {HTMLElement} element
 * @param {() => void} call
 */
export function onWidth(element, call) {
  let width = -1;
  new ResizeObserver(() => {
    if (element.clientWidth !== width) {
      width = element.clientWidth;
      call();
    }
  }).observe(element);
}

/** @type {HTMLElement | null} */
let liveRegion = null;
let announcing = 0;

/**
 * Has a screen reader say a line, once its user rests.
 * @param {string} line
 */
export function announce(line) {
  if (!liveRegion) {
    liveRegion = make("div", { class: "unseen", role: "status", "aria-live": "polite" });
    document.querySelector("main")?.append(liveRegion);
  }
  clearTimeout(announcing);
  announcing = setTimeout(() => {
    if (liveRegion) {
      liveRegion.textContent = line;
    }
  }, 120);
}
