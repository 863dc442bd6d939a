/** Who is at this page, what they may do, and how far the project is open. */

import { ApiError, call, shareToken } from "./api.js";

const ROLES = ["answer", "review", "own"];
const SILENT = "samekind does not answer. The terminal in which it runs says why.";
const LOOK_AGAIN_MS = 400;
const ASK_AGAIN_MS = 2000;

/** @type {import("./types.js").Me} who: null where people have no links */
export const me = {
  part_of: null,
  who: "",
  role: "answer",
  state: "opening",
  doing: "Loading",
  share: 0,
};
document.body.dataset.role = me.role; // until the server has said more

/** @param {string} role @returns {boolean} whether one may do what this role may */
export function may(role) {
  return ROLES.indexOf(me.role) >= ROLES.indexOf(role);
}

/** @type {() => void} */
let tellKnown;
/** Resolves once the server has said who this is, or that it does not know. @type {Promise<void>} */
export const known = new Promise((resolve) => (tellKnown = resolve));

/**
 * Resolves once the project is open, or the server does not know this page.
 *
 * @param {() => void} changed is called whenever `me` says something else
 */
export async function opened(changed) {
  for (;;) {
    try {
      Object.assign(me, await call("GET", "/api/about"));
      document.body.dataset.role = me.role;
      if (me.who === null) shareToken();
      tellKnown();
      changed();
      if (me.state === "ready") return;
      await pause(me.state === "failed" ? ASK_AGAIN_MS : LOOK_AGAIN_MS);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!error.retry || error.locked) return tellKnown();
      Object.assign(me, { state: "failed", share: 0, doing: SILENT });
      changed();
      await pause(ASK_AGAIN_MS);
    }
  }
}

/** @param {number} ms */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
