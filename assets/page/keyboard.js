// Keys that work everywhere on the page, and the help that lists all of them.
import { announce, clamp, make } from "./dom.js";
import { turn } from "./controls.js";
import { headTitle } from "./patterns.js";
import { wordsFor } from "./words.js";

const KEYS = [
  ["[  and  ]", "the head before, the head behind"],
  ["d", "turn the direction: what the rows say, or what the columns say"],
  ["/", "search a token; Enter: the next one, Shift+Enter: the one before, Alt+Enter: pick all"],
  ["Escape", "pick nothing"],
  ["?", "this help"],
  ["arrow keys", "in the overview: another head; in the heatmap: another cell; in the text: another token"],
  ["Enter", "pick the token under the cursor"],
  ["Space", "add it to those picked, or take it away; in the overview likewise a head, when choosing heads for a mean"],
  ["Shift + arrow keys", "in the text: pick several"],
  ["+  −  0", "in the heatmap: zoom in, zoom out, all in view (also the wheel, or two fingers)"],
  ["Shift + click", "on a token: pick several; on a head: show it beside the other"],
];

/** @param {Drawing} drawing */
export function helpDialog(drawing) {
  const words = wordsFor(drawing);
  const dialog = make(
    "dialog",
    { "aria-labelledby": "help-title" },
    make("h2", { id: "help-title", text: "Reading this page" }),
    make("p", {
      text: !words.isAttention
        ? `${words.cells}.`
        : "Attention says how much each token (query, a row) takes from each token that it may see (key, a column). The weights of a row sum to 1. A page of differences shows how that changes from one pattern to another: more or less than before, so that a row sums to 0.",
    }),
    make("p", {
      text: !words.isAttention
        ? `The overview has every ${words.pattern} as a small picture. Choose one: the heatmap shows it cell by cell. ${words.pick}`
        : "The overview has every head as a small picture. Choose one: the heatmap shows it cell by cell. Pick tokens: the text and the lines show where they look, or who looks at them; weights of several picked tokens are added up. The strongest shade of the text stands for the largest weight there.",
    }),
    make("h3", { text: "Keys" }),
    make(
      "dl",
      {},
      ...KEYS.flatMap(([key, meaning]) => [
        make("dt", {}, make("kbd", { text: key })),
        make("dd", { text: words.isAttention ? meaning : meaning.replaceAll("head", words.pattern) }),
      ]),
    ),
    make("form", { method: "dialog" }, make("button", { text: "close" })),
  );
  return dialog;
}

/**
 * Whether what has the keyboard needs this key itself: a check box needs only Space, a slider those that move it.
 * @param {KeyboardEvent} event
 */
function takesKey({ target, key }) {
  const input = target instanceof Element ? target.closest("input, textarea, select") : null;
  const kind = input?.getAttribute("type");
  return input !== null && kind !== "checkbox" && (kind !== "range" || /^(Arrow|Page|Home|End)/.test(key));
}

/**
 * @param {import("./state.js").Store} store
 * @param {import("./pointing.js").Pointing} pointing
 * @param {HTMLInputElement} search
 * @param {HTMLDialogElement} help
 */
export function listenToKeys(store, pointing, search, help) {
  document.addEventListener("keydown", (event) => {
    // On many keyboards brackets take a modifier.
    const modified = (event.ctrlKey || event.metaKey || event.altKey) && event.key !== "[" && event.key !== "]";
    if (event.defaultPrevented || modified || takesKey(event) || help.open) {
      return;
    }
    const { state, data } = store;
    const { heads } = data.documents[0];
    const step = { "[": -1, "]": 1 }[event.key];
    if (step) {
      const head = clamp(state.head + step, 0, heads.length - 1);
      store.set({ head });
      announce(headTitle(heads[head]));
    } else if (event.key === "d") {
      turn(store, !state.asKey);
    } else if (event.key === "/") {
      search.focus();
      search.select();
    } else if (event.key === "?") {
      help.showModal();
    } else if (event.key === "Escape") {
      pointing.clear();
      store.set({ picks: [] });
    } else {
      return;
    }
    event.preventDefault();
  });
}
