/** A pair, side by side: pictures, texts with their differences, and fields in one table. */

import { html, useMemo, useState } from "./vendor/preact.js";
import { compare, compareLetters } from "./diff.js";
import { percent, shorten } from "./format.js";
import { difference, oneLine, titled } from "./item_text.js";
import { ColumnName, Foldable, HideUncompared, shownFields, Strip } from "./items.js";
import { nameOf } from "./names.js";
import { useStore } from "./use.js";
import { Stage } from "./zoom.js";

/** @typedef {import("./types.js").ItemView} ItemView @typedef {import("./types.js").PairQuestion} PairQuestion @typedef {import("./types.js").FieldComparison} FieldComparison */

const ALIKE = 0.34; // share of words in common from which the differences are what to look at
const MANY_FIELDS = 14; // from which fields that agree are folded
const LONG_CELL = 400;
const LITTLE = 0.4; // log-odds that say next to nothing
const SPOKEN = /** @type {Record<string, string>} */ ({
  absent: " (only one has it)",
  differs: " (differs)",
  "differs close": " (differs a little)",
});

/** @param {{question: Pick<PairQuestion, "a" | "b" | "b_cluster" | "more"> & Partial<PairQuestion>, zoom: import("./zoom.js").Zoom | null}} props */
export function Pair({ question, zoom }) {
  const { a, b, b_cluster: kind, more, compared = [] } = question;
  const texts = useMemo(
    () => (a.text !== null && b.text !== null ? textsOf(a.text, b.text) : null),
    [a, b],
  );
  const hasCards = a.has_picture || b.has_picture || a.text !== null || b.text !== null;
  return html`<div class="pair-view">
    ${
      hasCards &&
      html`<div class="pair">
        <${Card} item=${a} letter="A" zoom=${zoom} text=${texts?.a} />
        <${Card} item=${b} letter="B" zoom=${zoom} text=${texts?.b} />
      </div>`
    }
    ${texts?.note && html`<p class="hint">${texts.note}</p>`}
    ${
      a.fields.length + b.fields.length > 0 &&
      html`<${FieldTable} a=${a} b=${b} isAlone=${!hasCards} />`
    }
    ${compared.length > 0 && html`<${Compared} fields=${compared} />`}
    ${more.length > 0 && html`<${MoreOf} kind=${kind} more=${more} />`}
  </div>`;
}

/** @param {{item: ItemView, letter: string, zoom: import("./zoom.js").Zoom | null, text?: any}} props */
function Card({ item, letter, zoom, text }) {
  return html`<figure class="card">
    <figcaption>
      <span class="letter" aria-hidden="true">${letter}</span>
      <span class="card-title" dir="auto">${titled(item)}</span>
    </figcaption>
    ${item.has_picture && zoom && html`<${Stage} item=${item} zoom=${zoom} />`}
    ${
      item.text !== null &&
      html`<${Foldable} length=${item.text.length}>${text ?? (item.text || "(empty)")}<//>`
    }
  </figure>`;
}

/** @param {string} a @param {string} b */
function textsOf(a, b) {
  const found = compare(a, b);
  const isAlike = found.share >= ALIKE;
  const isShared = found.a.some((part) => part.same && /[\p{L}\p{N}]/u.test(part.text));
  let note = "";
  if (a === b) note = "The texts are equal.";
  else if (isAlike) note = "Words that differ are marked.";
  else if (isShared) note = "Few words in common; those are underlined.";
  const marked = (/** @type {import("./diff.js").Part[]} */ parts) =>
    parts.length ? parts.map((part) => markedWords(part, isAlike)) : "(empty)";
  return { a: marked(found.a), b: marked(found.b), note };
}

/** @param {import("./diff.js").Part} part @param {boolean} isAlike whether to mark what differs */
function markedWords({ text, same }, isAlike) {
  const isMarked = same !== isAlike && (isAlike ? /\S/ : /[\p{L}\p{N}]/u).test(text);
  if (!isMarked) return text;
  const words = text.trimEnd();
  return [
    html`<mark class=${isAlike ? "differs" : "shared"}>${words}</mark>`,
    text.slice(words.length),
  ];
}

/** @param {import("./diff.js").Part[]} parts */
function markedLetters(parts) {
  return parts.map(({ text, same }) => (same ? text : html`<mark class="differs">${text}</mark>`));
}

/** Two short values, with the letters that differ marked. @param {string} a @param {string} b @returns {[any, any]} */
export function slips(a, b) {
  const found = compareLetters(a, b);
  return found ? [markedLetters(found.a), markedLetters(found.b)] : [a, b];
}

/** @param {{a: ItemView, b: ItemView, isAlone: boolean}} props isAlone: nothing above names the two */
function FieldTable({ a, b, isAlone }) {
  const hides = useStore((now) => now.hidesUncompared);
  const [isFolded, fold] = useState(true);
  const [ofA, ofB] = [new Map(shownFields(a, hides)), new Map(shownFields(b, hides))];
  const names = [...new Set([...ofA.keys(), ...ofB.keys()])];
  const hows = names.map((name) => difference(ofA.get(name), ofB.get(name)));
  const agree = hows.filter((how) => how === "agrees").length;
  const folds = names.length > MANY_FIELDS && agree > 0 && agree < names.length;
  const head = (/** @type {ItemView} */ item, /** @type {string} */ letter) =>
    html`<th scope="col">
      ${isAlone && html`<span class="letter" aria-hidden="true">${letter}</span>`}
      <span dir="auto">${oneLine(item)}</span>
    </th>`;
  return html`<div>
    <table class=${folds && isFolded ? "compare only-differences" : "compare"}>
      <caption class="hidden">
        The fields of both; those that differ are marked
      </caption>
      <thead>
        <tr>
          <td></td>
          ${head(a, "A")}${head(b, "B")}
        </tr>
      </thead>
      <tbody>
        ${names.map((name, place) => html`<${FieldRow} key=${name} name=${name} how=${hows[place]} a=${ofA.get(name)} b=${ofB.get(name)} />`)}
      </tbody>
    </table>
    ${
      folds &&
      html`<button
        type="button"
        class="link"
        aria-expanded=${String(!isFolded)}
        onclick=${() => fold(!isFolded)}
      >
        ${isFolded ? `Show ${agree} fields that agree` : "Hide fields that agree"}
      </button>`
    }
    <${HideUncompared} items=${[a, b]} />
  </div>`;
}

/** @param {{name: string, how: string, a?: string, b?: string}} props */
function FieldRow({ name, how, a, b }) {
  const isSlip = how.startsWith("differs");
  const [left, right] = isSlip && a && b ? slips(a, b) : [a, b];
  return html`<tr class=${how}>
    <${ColumnName} name=${name} said=${SPOKEN[how]} />
    <${Cell} value=${a} shown=${left} /><${Cell} value=${b} shown=${right} />
  </tr>`;
}

/** @param {{value?: string, shown?: any}} props shown: the same with slips marked */
function Cell({ value, shown }) {
  if (!value) return html`<td class="empty">–</td>`;
  const text = typeof shown === "string" ? shorten(shown, LONG_CELL) : shown;
  return html`<td dir="auto" class=${/^-?[\d.,\s]+%?$/.test(value) ? "figure" : ""}>${text}</td>`;
}

/** What each field says of two records. @param {{fields: FieldComparison[]}} props */
function Compared({ fields }) {
  return html`<details class="compared">
    <summary>What speaks for a match</summary>
    <table class="fields">
      <caption class="hint">
        How alike each field is, and how much more often likely matches are so than other pairs
      </caption>
      <tbody>
        ${fields.map(
          ({ name, alike, weight }) =>
            html`<tr key=${name}>
              <th scope="row" dir="auto">${name}</th>
              <td class="figure">
                ${alike === null ? "missing" : `${percent(Math.round(100 * alike) / 100)} alike`}
              </td>
              <td>${spokenWeight(alike, weight)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </details>`;
}

/** @param {number | null} alike @param {number} weight @returns {string} */
function spokenWeight(alike, weight) {
  if (alike === null || Math.abs(weight) < LITTLE) return "says little";
  const times = Math.exp(Math.abs(weight));
  const often = `${times < 10 ? times.toFixed(1) : Math.round(times)} times as often`;
  return weight > 0 ? `for: ${often}` : `against: others, ${often}`;
}

/** @param {{kind: import("./types.js").ClusterRef | null, more: ItemView[]}} props */
function MoreOf({ kind, more }) {
  const label = kind?.name ? `B is one of “${nameOf(kind)}”, like` : "More of the kind of B";
  return html`<section class="more" aria-label=${label}>
    <h3 dir="auto">${label}</h3>
    <${Strip} items=${more} />
  </section>`;
}
