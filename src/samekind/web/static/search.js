/** Searching all items by what they say, and saying what all hits are in one act. */

import { html, useState } from "./vendor/preact.js";
import { count, number } from "./format.js";
import { spoken } from "./item_text.js";
import { ItemButton } from "./items.js";
import { nameOf } from "./names.js";
import { refreshOverview } from "./overview.js";
import { Block, Button, useFetched } from "./parts.js";
import { openPlacing } from "./say.js";

/** @typedef {import("./types.js").FoundItem} FoundItem */

const PAGE = 24;

export function Search() {
  const [wanted, setWanted] = useState({ text: "", regex: "false", column: "" });
  const [offset, setOffset] = useState(0);
  const [turn, setTurn] = useState(0);
  const [picked, setPicked] = useState(/** @type {FoundItem[]} */ ([]));
  const query = new URLSearchParams({ ...wanted, offset: String(offset), limit: String(PAGE) });
  const { found, error } = useFetched(wanted.text ? `/api/search?${query}` : null, turn);
  /** @type {{items: FoundItem[], rows: number[], total: number, columns: string[]}} */
  const { items, rows, total, columns } = found ?? { items: [], rows: [], total: 0, columns: [] };
  const look = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const given = (/** @type {string} */ name) => String(form.get(name) ?? "");
    setOffset(0);
    setPicked([]);
    setWanted({ text: given("text"), regex: String(form.has("regex")), column: given("column") });
  };
  const isPicked = (/** @type {FoundItem} */ item) => picked.some((one) => one.row === item.row);
  const toggle = (/** @type {FoundItem} */ item) =>
    setPicked(isPicked(item) ? picked.filter((one) => one.row !== item.row) : [...picked, item]);
  const changed = () => {
    setPicked([]);
    setTurn(turn + 1);
    refreshOverview();
  };
  const all = rows.map((row) => ({ ...items[0], row }));
  const many = picked.length;
  const label = many ? `These ${many} are…` : `All ${number(rows.length)} are…`;
  const range = `${number(offset + 1)}–${number(offset + items.length)} of ${count(total, "item")}`;
  const more =
    total > rows.length ? ` The first ${number(rows.length)} can be placed at once.` : "";
  const where = total
    ? `${range}. Press those that you mean, or none for all.${more}`
    : "No matching items.";
  const show = (/** @type {FoundItem} */ item) => {
    const kind = item.kind ? `${item.known ? "" : "likely "}${nameOf(item.kind)}` : "no kind yet";
    const said = { label: `${spoken(item)}: ${kind}`, isPressed: isPicked(item) };
    return html`<li key=${item.row}>
      <${ItemButton} item=${item} act=${() => toggle(item)} ...${said} />
      <span class="hint" dir="auto">${kind}</span>
    </li>`;
  };
  return html`<${Block} id="search" title="Search the items">
    <form class="buttons" onsubmit=${look}>
      <input type="search" name="text" maxlength="200" aria-label="Search all items" />
      <select name="column" aria-label="Where to look" hidden=${columns.length < 2}>
        <option value="">anywhere</option>
        ${columns.map((name) => html`<option value=${name}>${name}</option>`)}
      </select>
      <label class="pick"><input type="checkbox" name="regex" /> regular expression</label>
      <button type="submit">Search</button>
    </form>
    ${wanted.text && html`<p class="hint" role="status">${error || (found ? where : "…")}</p>`}
    <ul class="grid">
      ${items.map(show)}
    </ul>
    <p class="buttons" hidden=${!total}>
      <${Button} class="primary" act=${() => openPlacing(many ? picked : all, changed)}>${label}<//>
      <${Button} disabled=${!offset} act=${() => setOffset(offset - PAGE)}>‹ Before<//>
      <${Button} disabled=${offset + PAGE >= total} act=${() => setOffset(offset + PAGE)}>More ›<//>
    </p>
  <//>`;
}
