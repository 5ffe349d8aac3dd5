// A report: its shades and bars, tables whose columns sort them, and all numbers as a table.
import { counted, make } from "./dom.js";

/**
 * The cells of comma-separated rows (RFC 4180).
 * @param {string} csv
 * @returns {string[][]}
 */
export function csvRows(csv) {
  const rows = [];
  let row = [];
  for (const [, quotedCell, plainCell, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    row.push(quotedCell === undefined ? plainCell : quotedCell.replaceAll('""', '"'));
    if (end !== ",") {
      rows.push(row);
      row = [];
    }
  }
  return rows.filter((cells) => cells.length > 1 || cells[0] !== "");
}

/**
 * Numbers by size, other texts by letters, what is empty last.
 * @param {number} column
 * @param {boolean} rising
 */
function compareBy(column, rising) {
  return (/** @type {string[]} */ a, /** @type {string[]} */ b) => {
    const [left, right] = [a[column] ?? "", b[column] ?? ""];
    if (left === "" || right === "") {
      return Number(left === "") - Number(right === "");
    }
    const difference = Number(left) - Number(right);
    return (Number.isNaN(difference) ? left.localeCompare(right) : difference) * (rising ? 1 : -1);
  };
}

/** @param {string[]} cells */
function bodyRow([first, ...rest]) {
  return make("tr", {}, make("th", { scope: "row", text: first }), ...rest.map((text) => make("td", { text })));
}

/**
 * A table whose columns sort it: numbers the largest first, then the other way round.
 * @param {string[]} head
 * @param {string[][]} rows
 */
function sortableTable(head, rows) {
  const body = make("tbody", {}, ...rows.map(bodyRow));
  const headings = head.map((text, column) => {
    const sort = () => {
      const rising = heading.getAttribute("aria-sort") === "descending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", rising ? "ascending" : "descending");
      body.replaceChildren(...[...rows].sort(compareBy(column, rising)).map(bodyRow));
    };
    const heading = make("th", { scope: "col" }, make("button", { type: "button", text, click: sort }));
    return heading;
  });
  const caption = make("caption", { text: `${counted(rows.length, "row")}; click a heading to sort by that column.` });
  return make("table", {}, caption, make("thead", {}, make("tr", {}, ...headings)), body);
}

/**
 * What a cell of a report's table sorts by: its number, where it has one.
 * @param {HTMLTableRowElement} row
 * @param {number} column
 */
function sortKey(row, column) {
  const cell = /** @type {HTMLElement} */ (row.cells[column]);
  return cell.dataset.value ?? cell.textContent ?? "";
}

/**
 * Gives the headings of a table buttons that sort its rows.
 * @param {HTMLTableElement} table
 */
function makeSortable(table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const headings = [...(table.tHead?.rows[0].cells ?? [])];
  let column = 0;
  for (const heading of headings) {
    const own = column;
    column += heading.colSpan;
    if (!heading.textContent) {
      continue;
    }
    const sort = () => {
      const rising = heading.getAttribute("aria-sort") === "descending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const compare = compareBy(0, rising);
      const keyed = rows.map((row) => ({ row, key: [sortKey(row, own)] }));
      body.replaceChildren(...keyed.sort((a, b) => compare(a.key, b.key)).map((one) => one.row));
    };
    heading.replaceChildren(make("button", { type: "button", text: heading.textContent, click: sort }));
  }
}

/**
 * @param {{csv: string}} report
 * @param {HTMLElement} root
 */
export function showReport(report, root) {
  for (const run of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-ink], [data-fill]"))) {
    run.style.color = run.dataset.ink ?? "";
    run.style.backgroundColor = run.dataset.fill ?? "";
  }
  for (const bar of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-bar]"))) {
    bar.style.width = `${100 * Number(bar.dataset.bar)}%`;
  }
  /** @type {NodeListOf<HTMLTableElement>} */ (root.querySelectorAll("table.numbers")).forEach(makeSortable);
  const [head, ...rows] = csvRows(report.csv);
  if (head && rows.length > 0) {
    const box = make("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "All numbers" }, sortableTable(head, rows));
    root.append(make("details", { class: "table" }, make("summary", { text: "All numbers as a table" }), box));
  }
}
