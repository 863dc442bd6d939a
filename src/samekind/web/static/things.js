/** How a thing looks: a picture, a text, the fields of a row. */

import { withToken } from "./api.js";
import { h } from "./dom.js";

/** @typedef {import("./types.js").Thing} Thing */

const LONG_TEXT = 900; // characters from which a text is folded
const MINI_TEXT = 140;
const BRIEF = 60;
const MINI_FIELDS = 4;
const TABLE_FIELDS = 14;
const CLOSE = 0.1; // numbers that differ by less than this share are marked lightly
const SMALL_PICTURE = 96; // pixels up to which a picture is enlarged without blurring

/** @param {Thing} thing @param {"small" | "large"} size @returns {string | null} */
export function pictureUrl(thing, size) {
  if (!thing.picture?.startsWith("/api/")) return null;
  return withToken(`${thing.picture}?size=${size}`);
}

/** @param {Thing} thing @param {"small" | "large"} size @param {string} [alt] @returns {HTMLElement | null} */
export function picture(thing, size, alt = thing.title) {
  const src = pictureUrl(thing, size);
  if (!src) return null;
  const image = /** @type {HTMLImageElement} */ (
    h("img", { alt, decoding: "async", draggable: "false", loading: size === "small" ? "lazy" : null })
  );
  image.addEventListener("load", () => image.classList.toggle("pixels", image.naturalWidth <= SMALL_PICTURE));
  image.addEventListener("error", () => {
    image.replaceWith(h("span", { class: "no-picture" }, size === "small" ? "no picture" : "This picture cannot be shown."));
  });
  image.src = src;
  return image;
}

/** @type {Map<string, HTMLImageElement>} pictures on their way, the newest last */
const fetched = new Map();

/** @param {Thing} thing @param {"small" | "large"} size load its picture before it is needed */
export function prefetch(thing, size) {
  const src = pictureUrl(thing, size);
  if (!src || fetched.has(src)) return;
  const image = new Image();
  image.src = src;
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

/** @param {Thing} thing @returns {string} one line that names a thing */
export function oneLine(thing) {
  return thing.title || `row ${thing.row}`;
}

/** @param {Thing} thing @returns {string} what it is in a few words: its title, unless that is but a number */
export function brief(thing) {
  if (thing.title && thing.title !== `row ${thing.row}`) return shorten(thing.title, BRIEF);
  const words = (thing.text ?? thing.fields.map(([, value]) => value).join(", ")).replace(/\s+/gu, " ").trim();
  return words ? `“${shorten(words, BRIEF)}”` : oneLine(thing);
}

/** @param {Thing[]} things @returns {HTMLElement[]} their pictures, for a message */
export function pictures(things) {
  return things.filter((thing) => thing.picture).slice(0, 3).map(mini);
}

/** @param {Thing} thing @returns {HTMLElement} small, for galleries; of spans only, so that it may stand in a button */
export function mini(thing) {
  const image = picture(thing, "small", "");
  if (image) return h("span", { class: "mini mini-picture" }, image);
  if (thing.text !== null) return h("span", { class: "mini mini-text", dir: "auto" }, shorten(thing.text, MINI_TEXT) || "(empty)");
  return h(
    "span",
    { class: "mini mini-row" },
    ...(thing.fields.length ? [] : [oneLine(thing)]),
    ...thing.fields.slice(0, MINI_FIELDS).map(([name, value]) =>
      h("span", {}, h("span", { class: "mini-name", dir: "auto" }, ...breakable(name)), " ", h("span", { dir: "auto" }, shorten(value, 60)))),
  );
}

/** @param {Thing[]} members @param {Thing} beside what they are compared with @returns {HTMLElement} rows of a table in a button, a column for each */
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

/** @param {string | undefined} one @param {string | undefined} two @returns {"agrees" | "differs" | "differs close"} "close": numbers that hardly differ */
export function difference(one, two) {
  if (one === two) return "agrees";
  const [a, b] = [Number(one || NaN), Number(two || NaN)];
  return Math.abs(a - b) <= CLOSE * Math.max(Math.abs(a), Math.abs(b)) ? "differs close" : "differs";
}

/** @param {string} name @returns {(Node | string)[]} a name that may break after its joints */
export function breakable(name) {
  return name.split(/(?<=[_/.:-])/u).flatMap((part, index) => (index ? [document.createElement("wbr"), part] : [part]));
}

/** @param {Thing} thing @returns {string} what a screen reader says of a small one */
export function spoken(thing) {
  const title = oneLine(thing);
  if (thing.text !== null && !thing.picture) return `${title}: ${shorten(thing.text, MINI_TEXT)}`;
  if (!thing.picture && thing.fields.length) {
    return `${title}: ${thing.fields.slice(0, MINI_FIELDS).map(([name, value]) => `${name} ${shorten(value, 40)}`).join(", ")}`;
  }
  return title;
}

/** @param {Thing} thing @returns {HTMLElement[]} all of a thing, for a dialog or the head of a line-up */
export function whole(thing) {
  const image = picture(thing, "large");
  const parts = [];
  if (image) parts.push(h("div", { class: "stage" }, image));
  if (thing.text !== null) parts.push(foldable([thing.text || "(empty)"], thing.text.length));
  if (thing.fields.length) {
    parts.push(
      h(
        "table",
        { class: "fields" },
        h("tbody", {}, ...thing.fields.map(([name, value]) =>
          h("tr", {}, h("th", { scope: "row", dir: "auto" }, ...breakable(name)), h("td", { dir: "auto" }, shorten(value, 2000))))),
      ),
    );
  }
  return parts;
}
