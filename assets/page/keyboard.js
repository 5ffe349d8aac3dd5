// Keys that work everywhere on the page, and the help that lists all of them.
import { announce, clamp, make } from "./dom.js";
import { turn } from "./controls.js";
import { headTitle } from "./patterns.js";
import { wordsFor } from "./words.js";

const KEYS = [
  ["[  and  ]", "previous head, next head"],
  ["d", "switch the direction: read rows or columns"],
  ["/", "find a token; Enter: next match, Shift+Enter: previous match, Alt+Enter: pick all matches"],
  ["Escape", "clear the selection"],
  ["?", "show this help"],
  ["arrow keys", "move to another head (in “All heads”), cell (in “One head”) or token (in the text)"],
  ["Enter", "pick the token under the cursor"],
  ["Space", "add the token to your selection, or remove it; in “All heads”, do the same with a head while you choose heads to average"],
  ["Shift + arrow keys", "in the text: pick several tokens"],
  ["+  −  0", "in “One head”: zoom in, zoom out, show everything (or use the wheel or two fingers)"],
  ["Shift + click", "on a token: pick several; on a head: compare it with the current one"],
];

/** @param {Drawing} drawing */
export function helpDialog(drawing) {
  const words = wordsFor(drawing);
  const dialog = make(
    "dialog",
    { "aria-labelledby": "help-title" },
    make("h2", { id: "help-title", text: "How to read this page" }),
    make("p", {
      text: !words.isAttention
        ? `${words.cells}.`
        : "Each row is a token that looks (a query), and each column is a token that is looked at (a key). A weight says how much attention the query pays to the key. The weights of a row add up to 1 (with a learned sink, less); on a page of differences, each number is a change, and a row adds up to 0. Hatched or grey cells are masked: the query cannot see this key (in most models, later tokens). ␣ is the space before a word, part of its token; * marks a special token, which the tokenizer added.",
    }),
    make("p", {
      text: !words.isAttention
        ? `The overview shows every ${words.pattern} as a small picture. Choose one, and the heatmap shows it cell by cell. ${words.pick}`
        : "“All heads” shows every head as a small picture; L1H0 is head 0 of layer 1, both counted from 0. Choose one, and “One head” shows it cell by cell. Pick tokens, and the text and the lines show what they look at, or what looks at them. If you pick several tokens, their weights are added. In the text, the strongest shade stands for the largest of the weights shown there.",
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
