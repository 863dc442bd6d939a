/** A sheet: many items that are likely of one kind. Press those that are not; one press answers for all others. */

import { html } from "./vendor/preact.js";
import { oneLine, spoken } from "./item_text.js";
import { Mini, Strip } from "./items.js";
import { nameOf } from "./names.js";

/** @typedef {import("./types.js").SheetQuestion} SheetQuestion */

/** @param {SheetQuestion} question @param {Set<number>} out @returns {string} what the button for all says */
export function sheetLabel({ items }, out) {
  const left = items.length - out.size;
  if (!out.size) return `All ${items.length} the same`;
  return left ? `${left} the same, ${out.size} not` : "None of them";
}

/** @param {{question: SheetQuestion, out: Set<number>, toggle: (row: number) => void}} props out: rows that do not belong */
export function Sheet({ question, out, toggle }) {
  const { items, cluster } = question;
  const name = html`<span class=${cluster.name ? "" : "unnamed"}>${nameOf(cluster)}</span>`;
  return html`<div class="tray">
    <section class="more tray-kind" aria-label="The kind">
      <h3 dir="auto">${"Of the kind "}${name}</h3>
      <${Strip} items=${cluster.members} />
    </section>
    <p class="hint">Press those that do not belong.</p>
    <ul class="tiles-out">
      ${items.map((item, place) => html`<${Tile} key=${item.row} item=${item} place=${place} isOut=${out.has(item.row)} toggle=${toggle} />`)}
    </ul>
  </div>`;
}

/** @param {{item: import("./types.js").ItemView, place: number, isOut: boolean, toggle: (row: number) => void}} props */
function Tile({ item, place, isOut, toggle }) {
  const key = place < 10 ? String((place + 1) % 10) : "";
  return html`<li>
    <button
      type="button"
      class="tile"
      aria-pressed=${String(isOut)}
      aria-keyshortcuts=${key || undefined}
      aria-label=${`Does not belong: ${spoken(item)}`}
      title=${oneLine(item)}
      onclick=${() => toggle(item.row)}
    >
      ${key && html`<kbd aria-hidden="true">${key}</kbd>`}<${Mini} item=${item} />
    </button>
  </li>`;
}
