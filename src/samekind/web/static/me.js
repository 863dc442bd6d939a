/** Who is at this page, and what they may do: of a link's owner the server says it, else everybody may do everything. */

import { call, served } from "./api.js";

const ROLES = ["answer", "review", "own"];
const ASK_AGAIN_MS = 2000;

export const me = { who: "", role: served ? "answer" : "own" };
document.body.dataset.role = me.role; // till the server has said more

/** @param {string} role @returns {boolean} whether one may do what this role may */
export function may(role) {
  return ROLES.indexOf(me.role) >= ROLES.indexOf(role);
}

/** Resolves once the server has said who this is, or that it does not know. */
export const known = served ? learn() : Promise.resolve();

/** @returns {Promise<void>} */
async function learn() {
  for (;;) {
    try {
      Object.assign(me, await call("GET", "/api"));
      document.body.dataset.role = me.role;
      return;
    } catch (error) {
      if (!error.retry || error.locked) return;
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    }
  }
}
