/** What an item is called in words. */

import { andCopies, shorten } from "./format.js";

/** @typedef {import("./types.js").ItemView} ItemView */

const BRIEF = 60;
const SPOKEN = 140;
const SPOKEN_FIELDS = 4;

/** @param {ItemView} item @returns {string} one line that names an item */
export function oneLine(item) {
  return item.title || `row ${item.row}`;
}

/** @param {ItemView} item @returns {string} the same, and how many rows hold the same */
export function titled(item) {
  return oneLine(item) + andCopies(item.copies);
}

/** @param {ItemView} item @param {number} [most] @returns {string} a few words: what it says, or its title */
export function brief(item, most = BRIEF) {
  if (item.has_picture) return shorten(oneLine(item), most);
  const words = (item.text ?? item.fields.map(([, value]) => value).join(", "))
    .replace(/\s+/gu, " ")
    .trim();
  return words ? `“${shorten(words, most)}”` : oneLine(item);
}

/** @param {ItemView} item @returns {string} for a screen reader */
export function spoken(item) {
  const title = titled(item);
  if (item.text !== null) return `${title}: ${shorten(item.text, SPOKEN)}`;
  if (!item.fields.length) return title;
  const fields = item.fields.slice(0, SPOKEN_FIELDS);
  return `${title}: ${fields.map(([name, value]) => `${name} ${shorten(value, 40)}`).join(", ")}`;
}

/** @param {string | undefined} one @param {string | undefined} two */
export function difference(one, two) {
  if (one === two) return "agrees";
  if (!one || !two) return "absent"; // one has no value, which says nothing
  const [a, b] = [Number(one), Number(two)];
  const isClose = Math.abs(a - b) <= 0.1 * Math.max(Math.abs(a), Math.abs(b));
  return isClose ? "differs close" : "differs";
}
