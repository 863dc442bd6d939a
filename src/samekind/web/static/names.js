/** What kinds are called, and their colours, which are those of the report. */

/** @typedef {import("./types.js").ClusterRef} ClusterRef */

const COLORS = [
  "#3771d1",
  "#fe6a00",
  "#2eb27a",
  "#b82989",
  "#876114",
  "#c780f7",
  "#9d7995",
  "#098356",
  "#4ea4ca",
  "#de394b",
  "#ac984b",
  "#e87da9",
  "#8256af",
  "#8472fe",
  "#6c9173",
  "#357090",
  "#ba5db3",
  "#bb6802",
  "#7087d5",
  "#aa5478",
];
const NO_KIND = "#8b9098";

/** @param {ClusterRef} kind @returns {string} the name that it has, or the one that is proposed */
export function nameOf(kind) {
  return kind.name || kind.proposed_name || `kind ${kind.number}`;
}

/** @param {ClusterRef} kind @returns {string} with its number, to tell it from others of its name */
export function numberedName(kind) {
  return kind.name ? `${kind.name} (${kind.number})` : nameOf(kind);
}

/** @param {number | null} number of a kind, from 1 @returns {string} */
export function colorOf(number) {
  return number === null ? NO_KIND : COLORS[(number - 1) % COLORS.length];
}
