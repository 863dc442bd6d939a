/** Who is at this page, what they may do, and how far the project is open. */

import { call, shareToken } from "./api.js";

const ROLES = ["answer", "review", "own"];
const LOOK_AGAIN_MS = 400;
const ASK_AGAIN_MS = 2000;

/** @type {{who: string | null, role: string, state: string, doing: string, share: number}} who: null where people have no links */
export const me = { who: "", role: "answer", state: "opening", doing: "Loading", share: 0 };
document.body.dataset.role = me.role; // till the server has said more

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
 * @param {(text: string) => void} say is told what the server is doing meanwhile
 */
export async function opened(say) {
  for (;;) {
    try {
      Object.assign(me, await call("GET", "/api/about"));
      document.body.dataset.role = me.role;
      if (me.who === null) shareToken();
      tellKnown();
      if (me.state === "ready") return;
      say(me.state === "failed" ? me.doing : `${me.doing} …`);
      await pause(me.state === "failed" ? ASK_AGAIN_MS : LOOK_AGAIN_MS);
    } catch (error) {
      if (!error.retry || error.locked) return tellKnown();
      me.share = 0;
      say("samekind does not answer. The terminal in which it runs says why.");
      await pause(ASK_AGAIN_MS);
    }
  }
}

/** @param {number} ms */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
