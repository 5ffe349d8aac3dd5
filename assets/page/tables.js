// The same as tables: for screen readers, and for those who want numbers.
import { counted, isolated, make, numberText } from "./dom.js";
import { scoreNames } from "./scores.js";
import { firstDocument, headTitle } from "./patterns.js";
import { pickedError, pickedSums } from "./derive.js";
import { unitsWith } from "./units.js";
import { wordsFor } from "./words.js";

const MOST_ROWS = 200;

/**
 * A table that is filled only while it is open.
 * @param {string} summary
 * @param {() => {head: string[], rows: string[][], note: string}} content
 */
export function openableTable(summary, content) {
  const place = make("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": summary });
  const element = make(
    "details",
    { class: "table", toggle: () => refresh() },
    make("summary", { text: summary }),
    place,
  );
  const refresh = () => {
    if (element.open) {
      const { head, rows, note } = content();
      place.replaceChildren(
        make(
          "table",
          {},
          make("caption", { text: note }),
          make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { scope: "col", text })))),
          make(
            "tbody",
            {},
            ...rows.map(([first, ...rest]) =>
              make("tr", {}, make("th", { scope: "row", text: first }), ...rest.map((text) => make("td", { text }))),
            ),
          ),
        ),
      );
    }
  };
  return { element, refresh };
}

/**
 * The weights of the picked tokens, the largest first.
 * @param {Scene} scene
 */
export function rowTable({ data, state, panels }) {
  const picked = (/** @type {Panel} */ panel) =>
    unitsWith(state.asKey ? panel.shown.keys : panel.shown.queries, state.picks);
  const [{ shown }] = panels;
  const isChange = data.drawing.zero_centred;
  const units = state.asKey ? shown.queries : shown.keys;
  const columns = panels.map((panel) => pickedSums(panel.shown, picked(panel), state.asKey));
  const names = picked(panels[0])
    .map((place) => isolated((state.asKey ? shown.keys : shown.queries)[place].label))
    .join(", ");
  const size = (/** @type {number} */ place) => (isChange ? Math.abs(columns[0][place]) : columns[0][place]);
  const places = [...units.keys()].sort((a, b) => size(b) - size(a)).slice(0, MOST_ROWS);
  const cut = places.length < units.length ? ` The ${MOST_ROWS} largest of ${units.length}.` : "";
  return {
    head: ["token", "place", ...panels.map((panel) => panel.title)],
    rows: places.map((place) => [
      isolated(units[place].label),
      String(units[place].begin),
      ...columns.map((column, i) =>
        numberText(column[place], pickedError(panels[i].shown, picked(panels[i]), state.asKey, place)),
      ),
    ]),
    note: `${asked(names || "nothing", state.asKey, data.drawing)}${cut}`,
  };
}

/**
 * What the table answers.
 * @param {string} names
 * @param {boolean} asKey
 * @param {Drawing} drawing
 */
function asked(names, asKey, drawing) {
  if (drawing.zero_centred) {
    return asKey ? `Where attention to ${names} changes.` : `Where attention of ${names} changes.`;
  }
  const words = wordsFor(drawing);
  return asKey ? words.column(names) : words.row(names);
}

/**
 * All heads with their names and scores.
 * @param {PageData} data
 * @param {State} state
 */
export function headTable(data, state) {
  const { name, heads } = firstDocument(data, state);
  const scores = scoreNames(heads);
  const { pattern, isAttention } = wordsFor(data.drawing);
  if (!isAttention) {
    return {
      head: [pattern, "layer"],
      rows: heads.map((head) => [headTitle(head), String(head.layer)]),
      note: `${counted(heads.length, pattern)}.`,
    };
  }
  return {
    head: ["head", "layer", "names", "shares keys and values with", ...scores],
    rows: heads.map((head) => {
      const others = heads.filter(
        (other) => other !== head && other.layer === head.layer && other.group === head.group,
      );
      const values = scores.map((name) => head.scores?.[name]);
      return [
        headTitle(head),
        String(head.layer),
        head.names.join(", "),
        others.map(headTitle).join(", "),
        ...values.map((value) => (value === undefined || value === null ? "" : numberText(value))),
      ];
    }),
    note: `${counted(heads.length, "head")}${name && `, ${name}`}.`,
  };
}
