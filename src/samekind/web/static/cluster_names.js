/**
 * What clusters are called. The server gives each a number for life, a name if somebody gave it one, and else a name that
 * it proposes from the cluster's own words. Programs know a cluster by a row that stands for it.
 */

/** @typedef {import("./types.js").ClusterRef} ClusterRef */

/** @type {Map<number, number>} the number of each cluster that was seen */
const numbers = new Map();

/** @param {ClusterRef[]} clusters note their numbers, which are also their colours */
export function meet(clusters) {
  for (const { cluster, number } of clusters) numbers.set(cluster, number);
}

/** @param {number} cluster @returns {number} its place among the colours, from 0 */
export function placeOf(cluster) {
  return (numbers.get(cluster) ?? cluster + 1) - 1;
}

/** @param {ClusterRef} cluster @returns {string} the name that it has, or the one that is proposed */
export function clusterName({ cluster, name, proposed_name: proposed }) {
  return name || proposed || (numbers.has(cluster) ? `kind ${numbers.get(cluster)}` : "kind without a name");
}

/** @param {ClusterRef} cluster @returns {string} */
export const knownAs = clusterName;

/** @param {ClusterRef} cluster @returns {string} with its number, where that is not the name */
export function numberedName(cluster) {
  const name = clusterName(cluster);
  return name === `kind ${cluster.number}` ? name : `${name} (${cluster.number})`;
}
