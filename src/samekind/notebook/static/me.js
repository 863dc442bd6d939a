/** There are no roles in a notebook: its owner may do everything. */

/** @type {import("../../web/static/types.js").Me} */
export const me = {
  part_of: null,
  who: "",
  role: "own",
  state: "ready",
  doing: "",
  share: 1,
};
export const known = Promise.resolve();

/** @returns {boolean} */
export function may() {
  return true;
}
