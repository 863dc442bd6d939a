/** There are no roles in a notebook: its owner may do everything. */

export const me = { who: "", role: "own" };
export const known = Promise.resolve();

/** @returns {boolean} */
export function may() {
  return true;
}
