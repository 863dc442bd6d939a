/** How an item looks: a picture, a text, the fields of a row. */

import { loadPicture } from "./api.js";
import { h } from "./dom.js";

/** @typedef {import("./types.js").ItemView} ItemView */

const LONG_TEXT = 900; // characters from which a text is folded
const MINI_TEXT = 140;
const BRIEF = 60;
const MINI_FIELDS = 4;
const TABLE_FIELDS = 14;
const CLOSE = 0.1; // numbers that differ by less than this share are marked lightly
const SMALL_PICTURE = 96; // pixels up to which a picture is enlarged without blurring

/** @param {ItemView} item @param {"small" | "large"} size @returns {string | null} where the server has its picture */
export function pictureUrl(item, size) {
  return item.has_picture ? `/api/items/${item.row}/picture?size=${size}` : null;
}

/** @param {ItemView} item @param {"small" | "large"} size @param {string} [alt] @returns {HTMLElement | null} */
export function picture(item, size, alt = item.title) {
  const src = pictureUrl(item, size);
  if (!src) return null;
  const image = /** @type {HTMLImageElement} */ (
    h("img", { alt, decoding: "async", draggable: "false", loading: size === "small" ? "lazy" : null })
  );
  image.addEventListener("load", () => image.classList.toggle("pixels", image.naturalWidth <= SMALL_PICTURE));
  image.addEventListener("error", () => {
    image.replaceWith(h("span", { class: "no-picture" }, size === "small" ? "no picture" : "This picture cannot be shown."));
  });
  loadPicture(image, src);
  return image;
}

/** @type {Map<string, HTMLImageElement>} pictures on their way, the newest last */
const fetched = new Map();

/** @param {ItemView} item @param {"small" | "large"} size load its picture before it is needed */
export function prefetch(item, size) {
  const src = pictureUrl(item, size);
  if (!src || fetched.has(src)) return;
  const image = new Image();
  loadPicture(image, src);
  fetched.set(src, image);
  if (fetched.size > 60) fetched.delete(/** @type {string} */ (fetched.keys().next().value));
}

/**
 * A text that is folded when it is long.
 *
 * @param {(Node | string)[]} content
 * @param {number} length
 * @returns {HTMLElement}
 */
export function foldable(content, length) {
  const text = h("div", { class: "text", dir: "auto" }, ...content);
  if (length <= LONG_TEXT) return text;
  text.classList.add("folded");
  const button = h("button", { type: "button", class: "link", "aria-expanded": "false" }, "Show all");
  button.addEventListener("click", () => {
    const folded = text.classList.toggle("folded");
    button.textContent = folded ? "Show all" : "Show less";
    button.setAttribute("aria-expanded", String(!folded));
  });
  return h("div", {}, text, button);
}

/** @param {string} text @param {number} most @returns {string} */
export function shorten(text, most) {
  return text.length <= most ? text : `${text.slice(0, most).trimEnd()}…`;
}

/** @param {ItemView} item @returns {string} one line that names an item */
export function oneLine(item) {
  return item.title || `row ${item.row}`;
}

/** @param {ItemView} item @returns {string} what it is in a few words: its title, unless that is but a number */
export function brief(item) {
  if (item.title && item.title !== `row ${item.row}`) return shorten(item.title, BRIEF);
  const words = (item.text ?? item.fields.map(([, value]) => value).join(", ")).replace(/\s+/gu, " ").trim();
  return words ? `“${shorten(words, BRIEF)}”` : oneLine(item);
}

/** @param {ItemView[]} items @returns {HTMLElement[]} their pictures, for a message */
export function pictures(items) {
  return items.filter((item) => item.has_picture).slice(0, 3).map(mini);
}

/** @param {ItemView} item @returns {HTMLElement} small, for galleries; of spans only, so that it may stand in a button */
export function mini(item) {
  const image = picture(item, "small", "");
  if (image) return h("span", { class: "mini mini-picture" }, image);
  if (item.text !== null) return h("span", { class: "mini mini-text", dir: "auto" }, shorten(item.text, MINI_TEXT) || "(empty)");
  return h(
    "span",
    { class: "mini mini-row" },
    ...(item.fields.length ? [] : [oneLine(item)]),
    ...item.fields.slice(0, MINI_FIELDS).map(([name, value]) =>
      h("span", {}, h("span", { class: "mini-name", dir: "auto" }, ...breakable(name)), " ", h("span", { dir: "auto" }, shorten(value, 60)))),
  );
}

/** @param {ItemView[]} members @param {ItemView} beside what they are compared with @returns {HTMLElement} rows of a table in a button, a column for each */
export function miniTable(members, beside) {
  const wanted = new Map(beside.fields);
  const values = members.map((member) => new Map(member.fields));
  const names = beside.fields.map(([name]) => name).slice(0, TABLE_FIELDS);
  const left = beside.fields.length - names.length;
  return h(
    "span",
    { class: `mini-table of-${members.length}` },
    ...names.flatMap((name) => [
      h("span", { class: "mini-name", dir: "auto" }, ...breakable(name)),
      ...values.map((fields) => h("span", { class: difference(wanted.get(name), fields.get(name)), dir: "auto" }, shorten(fields.get(name) || "–", 40))),
    ]),
    left > 0 && h("span", { class: "mini-name" }, `and ${left} more`),
  );
}

/** @param {string | undefined} one @param {string | undefined} two @returns {"agrees" | "absent" | "differs" | "differs close"} "absent": one has no value, which says nothing; "close": numbers that hardly differ */
export function difference(one, two) {
  if (one === two) return "agrees";
  if (!one || !two) return "absent";
  const [a, b] = [Number(one), Number(two)];
  return Math.abs(a - b) <= CLOSE * Math.max(Math.abs(a), Math.abs(b)) ? "differs close" : "differs";
}

/** @param {string} name @returns {(Node | string)[]} a name that may break after its joints */
export function breakable(name) {
  return name.split(/(?<=[_/.:-])/u).flatMap((part, index) => (index ? [document.createElement("wbr"), part] : [part]));
}

/** @param {ItemView} item @returns {string} what a screen reader says of a small one */
export function spoken(item) {
  const title = oneLine(item);
  if (item.text !== null && !item.has_picture) return `${title}: ${shorten(item.text, MINI_TEXT)}`;
  if (!item.has_picture && item.fields.length) {
    return `${title}: ${item.fields.slice(0, MINI_FIELDS).map(([name, value]) => `${name} ${shorten(value, 40)}`).join(", ")}`;
  }
  return title;
}

/** @param {ItemView} item @returns {HTMLElement[]} all of an item, for a dialog or the head of a line-up */
export function whole(item) {
  const image = picture(item, "large");
  const parts = [];
  if (image) parts.push(h("div", { class: "stage" }, image));
  if (item.text !== null) parts.push(foldable([item.text || "(empty)"], item.text.length));
  if (item.fields.length) {
    parts.push(
      h(
        "table",
        { class: "fields" },
        h("tbody", {}, ...item.fields.map(([name, value]) =>
          h("tr", {}, h("th", { scope: "row", dir: "auto" }, ...breakable(name)), h("td", { dir: "auto" }, shorten(value, 2000))))),
      ),
    );
  }
  return parts;
}
