// The attnviz line that draws what the page shows.
import { averagedHeads } from "./patterns.js";
import { scaleEnds } from "./colors.js";
import { headKeys } from "./state.js";
import { unitsOf, unitsWith } from "./units.js";

/** Characters that a terminal or a reader would not show as they are: they would act, or turn the reading direction. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

/**
 * A word as sh, dash, bash, zsh and fish read it alike; what cannot be seen is left to printf, but for line feeds at the
 * end, which shells take off what a command prints.
 * @param {string} word
 */
export function quoted(word) {
  if (/^[\w./:,@+-][\w./:=,@%+-]*$/.test(word)) {
    return word;
  }
  if (!UNSEEN.test(word)) {
    // Quotes and backslashes stand outside of single quotes, within which shells differ about them.
    const parts = word.match(/'|\\|[^'\\]+/g) ?? [""];
    return parts.map((part) => (part === "'" ? `"'"` : part === "\\" ? "\\\\" : `'${part}'`)).join("");
  }
  const seen = word.replace(/\n+$/, "");
  const printed = [...seen].map((sign, i) =>
    UNSEEN.test(sign) || /['\\!$`"()]/.test(sign) || (i === 0 && sign === "-") ? octal(sign) : sign === "%" ? "%%" : sign,
  );
  const lineFeeds = word.slice(seen.length);
  return (seen && `"$(printf '${printed.join("")}')"`) + (lineFeeds && `'${lineFeeds}'`);
}

/** @param {string} sign */
function octal(sign) {
  return Array.from(new TextEncoder().encode(sign), (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}

/**
 * Which heads, and which average of them.
 * @param {PageData} data
 * @param {State} state
 */
function headOptions(data, state) {
  const { heads } = data.documents[0];
  const { model } = data;
  const { layer, head, title } = heads[state.head];
  // A pattern with a title of its own is not a head; the command before the text already says what it is.
  if (title !== "") {
    return [];
  }
  const keys = headKeys(data);
  const listed = (/** @type {number[]} */ places) => places.map((place) => keys[place]).join();
  if (state.average === "") {
    return heads.length > 1 || (model && model.n_layers * model.n_heads > 1)
      ? ["--head", listed([state.head, state.compare].filter((place) => place >= 0))]
      : [];
  }
  // A page may have a few of the model's heads: then these are named, since the short words mean all of the model.
  const places = averagedHeads(state, heads, state.head);
  const has = (/** @type {number} */ count) => places.length === count;
  if (state.average === "heads" && model && has(model.n_heads)) {
    return ["--layer", String(layer), "--average", "heads"];
  }
  if (state.average === "layers" && model && has(model.n_layers)) {
    return ["--head", `*.${head}`, "--average", "layers"];
  }
  if (state.average === "all" && model && has(model.n_layers * model.n_heads)) {
    return ["--average", "all"];
  }
  return ["--head", listed(places), "--average", "all"];
}

/**
 * @param {PageData["drawing"]} drawing
 * @param {State} state
 */
function scaleOptions(drawing, state) {
  const options = state.scale === "linear" ? [] : ["--scale", state.scale];
  const [low, high] = scaleEnds(drawing, state.scale, null);
  if (state.stretch && state.scale !== "row-max") {
    options.push("--range", "auto");
  } else if (low !== (state.scale === "log" ? 0.001 : 0) || high !== 1) {
    options.push("--range", `${Number(low.toPrecision(6))}:${Number(high.toPrecision(6))}`);
  }
  return options;
}

/**
 * @param {PageData} data
 * @param {State} state
 */
export function commandLine(data, state) {
  const { drawing } = data;
  const options = headOptions(data, state);
  if (state.colormap !== "viridis") {
    options.push("--colormap", state.colormap);
  }
  const hasFocus = state.picks.length === 1;
  if (!hasFocus) {
    options.push(...scaleOptions(drawing, state)); // bars of one token have a scale of their own
  }
  if (state.dropSink) {
    options.push("--drop-sink");
  }
  if (state.units === "words") {
    options.push("--merge", "words");
  }
  if (hasFocus) {
    const tokens = state.asKey && data.keys ? data.keys : data.queries;
    const units = unitsOf(tokens, state.units === "words" ? "words" : "tokens", [], null);
    options.push("--focus", String(unitsWith(units, state.picks)[0]));
    if (state.asKey) {
      options.push("--as-key");
    }
  }
  const last = data.command_text;
  const text = last === null ? [] : data.commands.includes(last) || last.startsWith("-") ? ["--", last] : [last];
  return [data.command, ...[...options, ...text].map(quoted)].join(" ");
}

/**
 * What the line cannot say, or "".
 * @param {PageData} data
 * @param {State} state
 */
export function commandLimits(data, state) {
  const limits = [];
  const { heads } = data.documents[0];
  const isMade = heads[state.head].title !== "";
  if (isMade && heads.length > 1) {
    limits.push(`which of the ${heads.length} patterns is shown`);
  }
  if (data.documents.length > 1 && state.document >= 0) {
    limits.push("which document is shown");
  }
  // Means of all or of chosen heads have nothing beside them.
  const compares = state.compare >= 0 && state.compare !== state.head;
  if (compares && (isMade || state.average === "heads" || state.average === "layers")) {
    limits.push("the pattern that it is compared with");
  }
  if (state.units === "sentences" || state.units === "turns" || state.folds.length > 0) {
    limits.push("groups of tokens");
  }
  if (state.picks.length > 1) {
    limits.push("several picked tokens");
  }
  return limits.length > 0 ? `The command does not reproduce: ${limits.join(", ")}.` : "";
}
