// How the page speaks of its patterns: of attention, of experts that tokens get, of what states keep.

/**
 * @typedef {object} Words
 * @property {string} pattern  what a small picture is
 * @property {string} cells  what the heatmap shows, without a full stop
 * @property {string} pick
 * @property {[string, string]} directions  from rows to columns, and back
 * @property {[string, string]} does  "looks", "at": between a row's name and a column's
 * @property {(names: string) => string} row
 * @property {(names: string) => string} column
 * @property {(names: string, several: boolean, list: string) => string} most  of a row
 * @property {(names: string, list: string) => string} mostBack  of a column
 * @property {string} hidden  what a cell without a number is
 * @property {string} absent  the same where there is little room
 * @property {boolean} isAttention
 */

/** @type {Words} */
const ATTENTION = {
  pattern: "head",
  cells: "Each row is a token that looks, each column one that is looked at; the colour says how much",
  pick: "Point at a token, or pick several, to see what they attend to.",
  directions: ["where it looks", "who looks at it"],
  does: ["looks", "at"],
  row: (names) => `Where ${names} looks.`,
  column: (names) => `Who looks at ${names}.`,
  most: (names, several, list) => `${names} ${several ? "look" : "looks"} most at ${list}`,
  mostBack: (names, list) => `Most looks at ${names} come from ${list}`,
  hidden: "masked, may not be seen",
  absent: "masked",
  isAttention: true,
};

/** @type {Words} */
const ROUTER = {
  pattern: "router",
  cells: "Each row is a token, each column an expert; the colour says what the expert's output is multiplied by",
  pick: "Point at a token, or pick several, to see which experts they get.",
  directions: ["which experts it gets", "which tokens get it"],
  does: ["gets", "of"],
  row: (names) => `Which experts ${names} gets.`,
  column: (names) => `Which tokens get expert ${names}.`,
  most: (names, several, list) => `${several ? `tokens ${names} get` : `token ${names} gets`} most of expert ${list}`,
  mostBack: (names, list) => `Most of expert ${names} is given to token ${list}`,
  hidden: "not chosen",
  absent: "not chosen",
  isAttention: false,
};

/** @type {Words} */
const DECAY = {
  pattern: "state",
  cells: "Each row is the token now, each column one that the state took in; the colour says how much of it is left",
  pick: "Point at a token, or pick several, to see how much of others is left there.",
  directions: ["what is left there", "where it is left"],
  does: ["keeps", "of"],
  row: (names) => `What is left at ${names}.`,
  column: (names) => `Where ${names} is left.`,
  most: (names, several, list) => `${names} ${several ? "keep" : "keeps"} most of ${list}`,
  mostBack: (names, list) => `Most of ${names} is left at ${list}`,
  hidden: "not yet there",
  absent: "not yet there",
  isAttention: false,
};

/**
 * @param {Drawing} drawing
 * @returns {Words}
 */
export function wordsFor({ kind }) {
  return { router: ROUTER, decay: DECAY }[kind] ?? ATTENTION;
}
