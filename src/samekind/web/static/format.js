/** Numbers and texts in words. */

/** @param {number} value @returns {string} with thousands set apart */
export function number(value) {
  return value.toLocaleString("en");
}

/** @param {number} value @param {string} one @param {string} [many] @returns {string} "1 kind" */
export function count(value, one, many = `${one}s`) {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** @param {number} [copies] @returns {string} "and 12 copies", where there are any */
export function andCopies(copies) {
  return copies ? ` and ${count(copies, "copy", "copies")}` : "";
}

/** @param {number} share @returns {string} */
export function percent(share) {
  return `${(100 * share).toLocaleString("en", { maximumFractionDigits: 1 })} %`;
}

/** @param {string} text @param {number} most @returns {string} */
export function shorten(text, most) {
  return text.length <= most ? text : `${text.slice(0, most).trimEnd()}…`;
}

/** @param {number | null} seconds since 1970 @returns {string} */
export function moment(seconds) {
  return seconds === null ? "" : new Date(1000 * seconds).toLocaleString();
}

/** @param {number | null} seconds since 1970 @returns {string} */
export function day(seconds) {
  return seconds === null ? "never" : new Date(1000 * seconds).toLocaleDateString();
}
