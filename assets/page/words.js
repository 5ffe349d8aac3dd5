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
 * @property {(names: string, several: boolean, list: string) => string} mostBack  of a column
 * @property {string} hidden  what a cell without a number is
 * @property {string} absent  the same where there is little room
 * @property {string} showAbsent  the switch that draws these cells
 * @property {boolean} isAttention
 */

/** @type {Words} */
const ATTENTION = {
  pattern: "head",
  cells: "Each row is a token that looks, and each column is a token that it looks at; the colour shows how much",
  pick: "Point at a token to see what it attends to, or pick several.",
  directions: ["what it looks at", "what looks at it"],
  does: ["looks", "at"],
  row: (names) => `Attention of ${names}.`,
  column: (names) => `Attention to ${names}.`,
  most: (names, several, list) => `${names} ${several ? "look" : "looks"} most at ${list}`,
  mostBack: (names, several, list) => `${names} ${several ? "get" : "gets"} the most attention from ${list}`,
  hidden: "masked, cannot be seen",
  absent: "masked",
  showAbsent: "Show masked cells",
  isAttention: true,
};

/** @type {Words} */
const ROUTER = {
  pattern: "router",
  cells: "Each row is a token, and each column is an expert; the colour shows the factor that the expert's output is multiplied by",
  pick: "Point at a token to see which experts it gets, or pick several.",
  directions: ["which experts it gets", "which tokens get it"],
  does: ["is routed", "to"],
  row: (names) => `Experts for ${names}.`,
  column: (names) => `Tokens for expert ${names}.`,
  most: (names, several, list) => `${several ? `tokens ${names} get` : `token ${names} gets`} the most from expert ${list}`,
  mostBack: (names, several, list) => `${several ? `Experts ${names} give` : `Expert ${names} gives`} the most to token ${list}`,
  hidden: "not chosen",
  absent: "not chosen",
  showAbsent: "Show experts that are not chosen",
  isAttention: false,
};

/** @type {Words} */
const DECAY = {
  pattern: "state",
  cells: "Each row is the current token, and each column is a token that the state has read; the colour shows how much of it is left",
  pick: "Point at a token to see how much of the other tokens is left there, or pick several.",
  directions: ["what is left there", "where it is left"],
  does: ["keeps a share", "of"],
  row: (names) => `How much is left at ${names}.`,
  column: (names) => `How much of ${names} is left.`,
  most: (names, several, list) => `${names} ${several ? "keep" : "keeps"} the most of ${list}`,
  mostBack: (names, several, list) => `The most of ${names} is left at ${list}`,
  hidden: "not read yet",
  absent: "not read yet",
  showAbsent: "Show tokens that are not read yet",
  isAttention: false,
};

/**
 * @param {Drawing} drawing
 * @returns {Words}
 */
export function wordsFor({ kind }) {
  return { router: ROUTER, decay: DECAY }[kind] ?? ATTENTION;
}
