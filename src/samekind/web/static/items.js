/** How an item looks: a picture, a text, the fields of a row. */

import { html, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { loadPicture } from "./api.js";
import { shorten } from "./format.js";
import { difference, oneLine, spoken, titled } from "./item_text.js";
import { hideUncompared, state } from "./store.js";
import { useStore } from "./use.js";
import { Button } from "./parts.js";

/** @typedef {import("./types.js").ItemView} ItemView @typedef {"small" | "large"} Size */

const LONG_TEXT = 900; // characters from which a text is folded
const MINI_TEXT = 140;
const MINI_FIELDS = 4;
const TABLE_FIELDS = 14;
const SMALL_PICTURE = 96; // pixels up to which a picture is enlarged without blurring
const PREFETCHED = 60;

/** @param {ItemView} item @param {Size} size @returns {string} where the server has its picture */
function pictureUrl(item, size) {
  return `/api/items/${item.row}/picture?size=${size}`;
}

/**
 * @param {{item: ItemView, size: Size, alt?: string, attach?: (image: HTMLImageElement) => void}} props
 *   attach: is given the image, to move it
 */
export function Picture({ item, size, alt = item.title, attach }) {
  const image = useRef(/** @type {HTMLImageElement | null} */ (null));
  const [fate, setFate] = useState("");
  const url = pictureUrl(item, size);
  useLayoutEffect(() => {
    setFate("");
    if (!image.current) return;
    loadPicture(image.current, url);
    attach?.(image.current);
  }, [url]);
  if (fate === "lost") {
    const text = size === "small" ? "no picture" : "This picture cannot be shown.";
    return html`<span class="no-picture">${text}</span>`;
  }
  return html`<img
    ref=${image}
    alt=${alt}
    class=${fate}
    decoding="async"
    draggable="false"
    loading=${size === "small" ? "lazy" : undefined}
    onload=${() => setFate((image.current?.naturalWidth ?? 0) <= SMALL_PICTURE ? "pixels" : "")}
    onerror=${() => setFate("lost")}
  />`;
}

/** @type {Map<string, HTMLImageElement>} pictures on their way, the newest last */
const fetched = new Map();

/** @param {ItemView} item @param {Size} size load its picture before it is needed */
function prefetch(item, size) {
  const url = pictureUrl(item, size);
  if (!item.has_picture || fetched.has(url)) return;
  const image = new Image();
  loadPicture(image, url);
  fetched.set(url, image);
  if (fetched.size > PREFETCHED)
    fetched.delete(/** @type {string} */ (fetched.keys().next().value));
}

/** @param {import("./types.js").Question} question load its pictures */
export function prefetchQuestion(question) {
  if (question.type === "sheet") {
    for (const item of [...question.cluster.members, ...question.items]) prefetch(item, "small");
  } else if (question.type === "pair") {
    for (const item of [question.a, question.b]) prefetch(item, "large");
    for (const item of question.more) prefetch(item, "small");
  } else {
    prefetch(question.item, "large");
    for (const { members } of question.options) members.forEach((item) => prefetch(item, "small"));
  }
}

/** A text that is folded when it is long. @param {{length: number, children: any}} props */
export function Foldable({ length, children }) {
  const [isFolded, fold] = useState(length > LONG_TEXT);
  return html`<div class=${isFolded ? "text folded" : "text"} dir="auto">${children}</div>
    ${
      length > LONG_TEXT &&
      html`<${Button} class="link" aria-expanded=${String(!isFolded)} act=${() => fold(!isFolded)}>
        ${isFolded ? "Show all" : "Show less"}
      <//>`
    }`;
}

/** An item in small, of spans only: it may stand in a button. @param {{item: ItemView}} props */
export function Mini({ item }) {
  const hides = useStore((now) => now.hidesUncompared);
  if (item.has_picture) {
    return html`<span class="mini mini-picture">
      <${Picture} item=${item} size="small" alt="" />
    </span>`;
  }
  if (item.text !== null) {
    const text = shorten(item.text, MINI_TEXT) || "(empty)";
    return html`<span class="mini mini-text" dir="auto">${text}</span>`;
  }
  const fields = shownFields(item, hides).slice(0, MINI_FIELDS);
  return html`<span class="mini mini-row">
    ${fields.length === 0 && oneLine(item)}
    ${fields.map(
      ([name, value]) =>
        html`<span>
          <span class="mini-name" dir="auto">${breakable(name)}</span>${" "}
          <span dir="auto">${shorten(value, 60)}</span>
        </span>`,
    )}
  </span>`;
}

/**
 * An item to press.
 *
 * @param {{item: ItemView, act: () => void, kind?: string, label?: string, isPressed?: boolean}} props
 */
export function ItemButton({ item, act, kind = "member", label = spoken(item), isPressed }) {
  const pressed = isPressed === undefined ? undefined : String(isPressed);
  const said = { "aria-label": label, "aria-pressed": pressed, title: titled(item) };
  return html`<${Button} class=${kind} act=${act} ...${said}><${Mini} item=${item} /><//>`;
}

/** @param {{items: ItemView[]}} props a row of items in small */
export function Strip({ items }) {
  return html`<ul class="strip">
    ${items.map(
      (item) =>
        html`<li key=${item.row} title=${oneLine(item)}>
          <${Mini} item=${item} /><span class="hidden">${oneLine(item)}</span>
        </li>`,
    )}
  </ul>`;
}

/** Pictures for a message. @param {{items?: ItemView[]}} props */
export function Pictures({ items = [] }) {
  const shown = items.filter((item) => item.has_picture).slice(0, 3);
  return shown.map((item) => html`<${Mini} key=${item.row} item=${item} />`);
}

/** Members of a kind, a column for each, compared with an item. @param {{members: ItemView[], beside: ItemView}} props */
export function MiniTable({ members, beside }) {
  const hides = useStore((now) => now.hidesUncompared);
  const wanted = shownFields(beside, hides);
  const values = members.map((member) => new Map(member.fields));
  const left = wanted.length - TABLE_FIELDS;
  return html`<span class=${`mini-table of-${members.length}`}>
    ${wanted
      .slice(0, TABLE_FIELDS)
      .map(([name, value]) => [
        html`<span class="mini-name" dir="auto">${breakable(name)}</span>`,
        values.map(
          (fields) =>
            html`<span class=${difference(value, fields.get(name))} dir="auto">
              ${shorten(fields.get(name) || "–", 40)}
            </span>`,
        ),
      ])}
    ${left > 0 && html`<span class="mini-name">${`and ${left} more`}</span>`}
  </span>`;
}

/** All of an item. @param {{item: ItemView, children?: any}} props children: in place of its picture */
export function Whole({ item, children }) {
  const hides = useStore((now) => now.hidesUncompared);
  const fields = shownFields(item, hides);
  return html`${
      children ??
      (item.has_picture && html`<div class="stage"><${Picture} item=${item} size="large" /></div>`)
    }
    ${
      item.text !== null &&
      html`<${Foldable} length=${item.text.length}>${item.text || "(empty)"}<//>`
    }
    ${
      fields.length > 0 &&
      html`<table class="fields">
        <tbody>
          ${fields.map(
            ([name, value]) =>
              html`<tr key=${name}>
                <${ColumnName} name=${name} />
                <td dir="auto">${shorten(value, 2000)}</td>
              </tr>`,
          )}
        </tbody>
      </table>`
    } <${HideUncompared} items=${[item]} />`;
}

/** The head of a row in a table of fields. @param {{name: string, said?: string}} props */
export function ColumnName({ name, said = "" }) {
  const isCompared = !state.status?.uncompared.includes(name);
  return html`<th scope="row" dir="auto">
    ${breakable(name)}${
      !isCompared &&
      html`<span class="uncompared" title="Items are not compared by this column"
        >not compared</span
      >`
    }${said && html`<span class="hidden">${said}</span>`}
  </th>`;
}

/** Whether columns that are not compared are shown. @param {{items: ItemView[]}} props */
export function HideUncompared({ items }) {
  const hides = useStore((now) => now.hidesUncompared);
  const names = new Set(items.flatMap((item) => item.fields.map(([name]) => name)));
  const many = state.status?.uncompared.filter((name) => names.has(name)).length ?? 0;
  if (!many) return null;
  const columns = many === 1 ? "1 column that is" : `${many} columns that are`;
  return html`<button
    type="button"
    class="link hide-uncompared"
    aria-pressed=${String(hides)}
    onclick=${() => hideUncompared(!hides)}
  >
    ${`${hides ? "Show" : "Hide"} ${columns} not compared`}
  </button>`;
}

/** @param {ItemView} item @param {boolean} hides @returns {[string, string][]} */
export function shownFields(item, hides) {
  if (!hides) return item.fields;
  return item.fields.filter(([name]) => !state.status?.uncompared.includes(name));
}

/** @param {string} name @returns {any[]} a name that may break after its joints */
export function breakable(name) {
  return name
    .split(/(?<=[_/.:-])/u)
    .flatMap((part, index) => (index ? [html`<wbr />`, part] : [part]));
}
