/** A line-up: one item beside the kinds that it may belong to. */

import { html } from "./vendor/preact.js";
import { spoken, titled } from "./item_text.js";
import { Mini, MiniTable, Whole } from "./items.js";
import { nameOf } from "./names.js";
import { Stage } from "./zoom.js";

/** @typedef {import("./types.js").ItemView} ItemView */

/**
 * @param {object} props
 * @param {import("./types.js").LineupQuestion} props.question
 * @param {import("./zoom.js").Zoom | null} props.zoom
 * @param {(said: import("./types.js").Said, event: Event) => void} props.answer
 */
export function LineUp({ question, zoom, answer }) {
  const { item, options } = question;
  const medium = item.has_picture ? "pictures" : item.text !== null ? "texts" : "rows";
  const stage = zoom && item.has_picture ? html`<${Stage} item=${item} zoom=${zoom} />` : undefined;
  return html`<div class=${`lineup of-${medium}`}>
    <figure class="card subject">
      <figcaption><span class="card-title" dir="auto">${titled(item)}</span></figcaption>
      <div class="subject-body"><${Whole} item=${item}>${stage}<//></div>
    </figure>
    <ol class="options">
      ${options.map(
        (option, place) =>
          html`<li key=${option.cluster}>
            <${Option} item=${item} option=${option} place=${place} answer=${answer} />
          </li>`,
      )}
    </ol>
  </div>`;
}

/**
 * @param {object} props
 * @param {ItemView} props.item
 * @param {import("./types.js").ClusterOption} props.option
 * @param {number} props.place
 * @param {(said: import("./types.js").Said, event: Event) => void} props.answer
 */
function Option({ item, option, place, answer }) {
  const key = place < 9 ? String(place + 1) : "";
  const isRow = !item.has_picture && item.text === null && item.fields.length > 0;
  const name = nameOf(option);
  return html`<button
    type="button"
    class="option"
    data-answer=${option.cluster}
    aria-keyshortcuts=${key || undefined}
    aria-label=${`${key} ${name}: ${option.members.map(spoken).join("; ")}`.trim()}
    onclick=${(/** @type {Event} */ event) => answer(option.cluster, event)}
  >
    <span class="option-head">
      ${key && html`<kbd>${key}</kbd>`}
      <span class=${option.name ? "option-name" : "option-name unnamed"} dir="auto">${name}</span>
    </span>
    <span class="option-members">
      ${
        isRow
          ? html`<${MiniTable} members=${option.members} beside=${item} />`
          : option.members.map((member) => html`<${Mini} key=${member.row} item=${member} />`)
      }
    </span>
  </button>`;
}
