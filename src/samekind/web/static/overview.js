/** Fetches what was found when the person pauses, and only while it can be seen. */

import { ApiError, Cached } from "./api.js";
import { may } from "./me.js";
import { set, state, subscribe } from "./store.js";

const IDLE_MS = 1200; // the panel waits until the person pauses
const LONGEST_MS = 8000; // but not longer than this
const MAP_MS = 2000; // between two looks whether a better map is made

const overview = new Cached("/api/clusters?members=8");
const map = new Cached("/api/map");
const past = new Cached("/api/history");

let revision = -1; // that is shown
let due = 0;
let isBusy = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** @type {unknown} */
let seenStatus = null;
/** @type {unknown} */
let seenQueue = null;

/** @returns {boolean} */
function isVisible() {
  const found = document.getElementById("found");
  return may("review") && found !== null && found.offsetParent !== null;
}

/** Follow the store. */
export function watchOverview() {
  subscribe(() => {
    if (state.status === seenStatus && state.queue === seenQueue) return;
    [seenStatus, seenQueue] = [state.status, state.queue];
    schedule();
  });
}

/** Refresh when the person pauses. */
function schedule() {
  if (!state.status || state.status.revision === revision) return;
  const now = performance.now();
  due ||= now + LONGEST_MS;
  again(revision < 0 ? 0 : Math.max(0, Math.min(IDLE_MS, due - now)));
}

/** @param {number} ms */
function again(ms) {
  clearTimeout(timer);
  timer = setTimeout(refreshOverview, ms);
}

/** Fetch what has changed. @returns {Promise<void>} */
export async function refreshOverview() {
  clearTimeout(timer);
  due = 0;
  if (isBusy || !state.status) return;
  if (!isVisible()) {
    if (state.map?.pending) again(MAP_MS);
    return;
  }
  isBusy = true;
  const wanted = state.status.revision;
  try {
    await overview.refresh();
    const found = /** @type {import("./types.js").Overview} */ (overview.value);
    set({ overview: found, stopping: found.stopping, foundError: "" });
    await past.refresh();
    await map.refresh();
    set({ history: past.value, map: map.value });
    revision = wanted;
    if (map.value.pending) again(MAP_MS);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    set({ foundError: error.message });
    again(LONGEST_MS);
    return;
  } finally {
    isBusy = false;
  }
  schedule();
}
