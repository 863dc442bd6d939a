/**
 * Numbers and colours of clusters. A cluster goes by the row that stands for it; people see a small number instead, which
 * it keeps for as long as the tab is open, a reload included.
 */

/** @typedef {import("./types.js").ClusterRef} ClusterRef */

const COLORS = 20; // see colors.js

/** @type {Map<number, number>} */
const numbers = new Map();
/** @type {Map<number, number>} the place of a cluster among the colours */
const places = new Map();
let key = "";

/** @param {string} project take up the numbers that this tab has given before */
export function recall(project) {
  if (key) return;
  key = `samekind.kinds.${project}`;
  try {
    for (const [cluster, number, place] of JSON.parse(sessionStorage.getItem(key) ?? "[]")) {
      numbers.set(cluster, number);
      places.set(cluster, place);
    }
  } catch {
    // They are given anew.
  }
}

/** @param {ClusterRef[]} clusters all there are: number those that are new, in this order */
export function meet(clusters) {
  const there = new Set(clusters.map(({ cluster }) => cluster));
  const fresh = [...there].filter((cluster) => !numbers.has(cluster));
  if (!fresh.length) return;
  let last = Math.max(0, ...numbers.values());
  for (const cluster of fresh) numbers.set(cluster, ++last);
  const taken = new Set([...places].filter(([cluster]) => there.has(cluster)).map(([, place]) => place));
  for (const cluster of fresh.filter((cluster) => !places.has(cluster)).sort((a, b) => a - b)) {
    places.set(cluster, freePlace(cluster, taken));
    taken.add(placeOf(cluster));
  }
  try {
    sessionStorage.setItem(key, JSON.stringify([...numbers].map(([cluster, number]) => [cluster, number, placeOf(cluster)])));
  } catch {
    // They hold until the page is left.
  }
}

/** @param {number} cluster @param {Set<number>} taken @returns {number} its own place, or the next that no other cluster has */
function freePlace(cluster, taken) {
  for (let round = 0; ; round += COLORS) {
    for (let step = 0; step < COLORS; step += 1) {
      const place = round + ((cluster + step) % COLORS);
      if (!taken.has(place)) return place;
    }
  }
}

/** @param {number} cluster @returns {number} */
export function placeOf(cluster) {
  return places.get(cluster) ?? cluster % COLORS;
}

/** @param {ClusterRef} cluster @returns {string} its name or its number; empty if it has neither yet */
export function knownAs({ cluster, name }) {
  return name || (numbers.has(cluster) ? `kind ${numbers.get(cluster)}` : "");
}

/** @param {ClusterRef} cluster @returns {string} what to call it in any case */
export function clusterName(cluster) {
  return knownAs(cluster) || "kind without a name";
}
