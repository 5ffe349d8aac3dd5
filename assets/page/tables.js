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
  const picked = panels.map(({ shown }) => unitsWith(state.asKey ? shown.keys : shown.queries, state.picks));
  const [{ shown }] = panels;
  const isChange = data.drawing.zero_centred;
  const { absent } = wordsFor(data.drawing);
  const units = state.asKey ? shown.queries : shown.keys;
  const columns = panels.map((panel, i) => weightColumn(panel.shown, picked[i], state.asKey, absent));
  const names = picked[0]
    .map((place) => isolated((state.asKey ? shown.keys : shown.queries)[place].label))
    .join(", ");
  const { sums, isHidden } = columns[0];
  const size = (/** @type {number} */ place) => (isChange ? Math.abs(sums[place]) : sums[place]);
  const places = [...units.keys()]
    .sort((a, b) => Number(isHidden(a)) - Number(isHidden(b)) || size(b) - size(a))
    .slice(0, MOST_ROWS);
  const cut = places.length < units.length ? ` These are the ${MOST_ROWS} largest of ${units.length}.` : "";
  return {
    head: ["token", "position", ...panels.map((panel) => panel.title)],
    rows: places.map((place) => [
      isolated(units[place].label),
      String(units[place].begin),
      ...columns.map(({ text }) => text(place)),
    ]),
    note: `${names ? asked(names, state.asKey, data.drawing) : "No token is picked."}${cut}`,
  };
}

/**
 * A column of the table of weights: a number, or a word where no picked token may see the other one.
 * @param {Shown} shown
 * @param {number[]} picked
 * @param {boolean} asKey
 * @param {string} absent
 */
function weightColumn(shown, picked, asKey, absent) {
  const sums = pickedSums(shown, picked, asKey);
  const sees = (/** @type {number} */ pick, /** @type {number} */ place) =>
    asKey ? shown.mask.sees(place, pick) : shown.mask.sees(pick, place);
  const isHidden = (/** @type {number} */ place) => picked.length > 0 && !picked.some((pick) => sees(pick, place));
  const text = (/** @type {number} */ place) =>
    isHidden(place) ? absent : numberText(sums[place], pickedError(shown, picked, asKey, place));
  return { sums, isHidden, text };
}

/**
 * What the table answers.
 * @param {string} names
 * @param {boolean} asKey
 * @param {Drawing} drawing
 */
function asked(names, asKey, drawing) {
  if (drawing.zero_centred) {
    return asKey ? `How the attention to ${names} changes.` : `How the attention of ${names} changes.`;
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
  const head = ["head", "layer", "names", "shares keys and values with", ...scores];
  const rows = heads.map((one) => {
    const others = heads.filter((other) => other !== one && other.layer === one.layer && other.group === one.group);
    const values = scores.map((score) => one.scores?.[score]);
    return [
      headTitle(one),
      String(one.layer),
      one.names.join(", "),
      others.map(headTitle).join(", "),
      ...values.map((value) => (value === undefined || value === null ? "" : numberText(value))),
    ];
  });
  return { ...filledColumns(head, rows), note: `${counted(heads.length, "head")}${name && `, ${name}`}.` };
}

/**
 * Without the columns that say nothing in any row.
 * @param {string[]} head
 * @param {string[][]} rows
 */
function filledColumns(head, rows) {
  const filled = (/** @type {string} */ _, /** @type {number} */ column) => rows.some((row) => row[column] !== "");
  return { head: head.filter(filled), rows: rows.map((row) => row.filter(filled)) };
}
