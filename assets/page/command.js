// The attnviz line that draws what the page shows.
import { averagedHeads } from "./patterns.js";
import { scaleEnds } from "./colors.js";
import { headKeys } from "./state.js";
import { unitsOf, unitsWith } from "./units.js";

const COMMANDS = [
  "show",
  "inspect",
  "heads",
  "why",
  "cite",
  "rollout",
  "diff",
  "render",
  "tokenize",
  "info",
  "models",
  "weights",
  "merge",
  "tour",
];

/**
 * A word for a POSIX shell.
 * @param {string} word
 */
export function quoted(word) {
  return /^[\w./:=,@%+-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

/**
 * Which heads, and what mean of them.
 * @param {PageData} data
 * @param {State} state
 */
function headOptions(data, state) {
  const { heads } = data.documents[0];
  const keys = headKeys(data);
  const { layer, head, title } = heads[state.head];
  // What has a title of its own is no head; the command before the text already says what it is.
  if (title !== "") {
    return [];
  }
  switch (state.average) {
    case "heads":
      return ["--layer", String(layer), "--average", "heads"];
    case "layers":
      return ["--head", `*.${head}`, "--average", "layers"];
    case "all":
      return ["--average", "all"];
    case "chosen":
      return [
        "--head",
        averagedHeads(state, heads, state.head)
          .map((place) => keys[place])
          .join(),
        "--average",
        "all",
      ];
    default:
      return heads.length > 1 || (data.model && data.model.n_layers * data.model.n_heads > 1)
        ? [
            "--head",
            [state.head, state.compare]
              .filter((place) => place >= 0)
              .map((place) => keys[place])
              .join(),
          ]
        : [];
  }
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
  if (state.scale !== "linear") {
    options.push("--scale", state.scale);
  }
  const [low, high] = scaleEnds(drawing, state.scale, null);
  if (state.stretch && state.scale !== "row-max") {
    options.push("--range", "auto");
  } else if (low !== (state.scale === "log" ? 0.001 : 0) || high !== 1) {
    options.push("--range", `${Number(low.toPrecision(6))}:${Number(high.toPrecision(6))}`);
  }
  if (state.dropSink) {
    options.push("--drop-sink");
  }
  if (state.units === "words") {
    options.push("--merge", "words");
  }
  if (state.picks.length === 1) {
    const tokens = state.asKey && data.keys ? data.keys : data.queries;
    const units = unitsOf(tokens, state.units === "words" ? "words" : "tokens", [], null);
    options.push("--focus", String(unitsWith(units, state.picks)[0]));
    if (state.asKey) {
      options.push("--as-key");
    }
  }
  const last = data.command_text;
  const text = last === null ? [] : COMMANDS.includes(last) || last.startsWith("-") ? ["--", last] : [last];
  return [data.command, ...[...options, ...text].map(quoted)].join(" ");
}

/**
 * What the line cannot say, or "".
 * @param {State} state
 */
export function commandLimits(state) {
  const limits = [];
  if (state.units === "sentences" || state.units === "turns" || state.folds.length > 0) {
    limits.push("tokens taken together");
  }
  if (state.picks.length > 1) {
    limits.push("several picked tokens");
  }
  return limits.length > 0 ? `Not in this line: ${limits.join(", ")}.` : "";
}
