/** The colours of clusters: those of the report, which eyes blind to red or green can tell apart, too. */

import { placeOf } from "./cluster_names.js";

const COLORS = [
  "#3771d1", "#fe6a00", "#2eb27a", "#b82989", "#876114", "#c780f7", "#9d7995", "#098356", "#4ea4ca", "#de394b",
  "#ac984b", "#e87da9", "#8256af", "#8472fe", "#6c9173", "#357090", "#ba5db3", "#bb6802", "#7087d5", "#aa5478",
];
const NO_CLUSTER = "#8b9098";

/** @param {number | null} cluster @returns {string} */
export function colorOf(cluster) {
  return cluster === null ? NO_CLUSTER : COLORS[placeOf(cluster) % COLORS.length];
}

/** @param {HTMLElement} chip paint it in the colour of a cluster @param {number} cluster */
export function paint(chip, cluster) {
  chip.style.setProperty("background-color", colorOf(cluster));
  return chip;
}
