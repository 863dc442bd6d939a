/** The server's HTTP interface. Every call has the token, which does not stay in the address. */

import { ApiError } from "./api_error.js";
import { remembered } from "./settings.js";

export { ApiError };

const TIMEOUT_MS = 30_000;
const FRAGMENT = "#token=";
const KEPT = `samekind.token.${location.pathname}`;
let token = takeToken();

// A link that is opened where the page is open already changes the address alone.
addEventListener("hashchange", () => location.hash.startsWith(FRAGMENT) && location.reload());

/** Move the token of the address into the session, so that it is not copied with the address. @returns {string | null} */
function takeToken() {
  const given = location.hash.startsWith(FRAGMENT)
    ? decodeURIComponent(location.hash.slice(FRAGMENT.length))
    : null;
  try {
    if (given) sessionStorage.setItem(KEPT, given);
  } catch {
    return given; // No storage: leave it in the address, or a reload would lose it.
  }
  if (given) history.replaceState(history.state, "", location.pathname);
  return sessionStorage.getItem(KEPT) ?? remembersToken();
}

/** Let other tabs of this browser have the token, too. */
export function shareToken() {
  try {
    if (token) localStorage.setItem(KEPT, token);
  } catch {
    // Each tab needs the whole address.
  }
}

/** After a restart there is another token, which another tab may have been opened with. @returns {boolean} whether there is */
function adoptToken() {
  const other = remembersToken();
  if (!other || other === token) return false;
  token = other;
  sessionStorage.setItem(KEPT, other);
  return true;
}

/** @returns {string | null} */
function remembersToken() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

/** @param {string} path "/api/…" @returns {string} where the server has it: beside the page, also for links and pictures */
export function located(path) {
  return path.slice(1);
}

/** @param {string} name @returns {string} the page of another project that the same token opens */
export function pageOf(name) {
  return `../${name}/${token ? FRAGMENT + encodeURIComponent(token) : ""}`;
}

/** @param {HTMLImageElement} image let it show a picture @param {string} path where the server has it */
export function loadPicture(image, path) {
  image.src = located(path);
}

/**
 * Call the server.
 *
 * @param {string} method
 * @param {string} path
 * @param {{body?: any, csv?: Blob, etag?: string | null, key?: string, timeout?: number}} [options] key: repeated with it, nothing is done twice
 * @returns {Promise<any>} the reply; null if it has not changed since `etag`
 */
export async function call(method, path, options = {}) {
  const { body, csv, etag, key, timeout = TIMEOUT_MS } = options;
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  const who = remembered("who", "");
  if (who) headers["X-Samekind-Who"] = encodeURIComponent(who);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (csv) headers["Content-Type"] = "text/csv";
  if (etag) headers["If-None-Match"] = etag;
  if (key) headers["Idempotency-Key"] = key;
  let response;
  let text;
  try {
    response = await fetch(located(path), {
      method,
      headers,
      body: csv ?? (body === undefined ? undefined : JSON.stringify(body)),
      cache: "no-store",
      signal: AbortSignal.timeout(timeout),
    });
    text = await response.text();
  } catch {
    throw new ApiError("The server does not answer.", 0);
  }
  if (response.status === 304) return null;
  if (response.status === 401 && adoptToken()) return call(method, path, options);
  const reply = parse(text);
  if (!response.ok) throw new ApiError(explain(response.status, reply), response.status, reply);
  if (reply && typeof reply === "object") tags.set(reply, response.headers.get("ETag"));
  return reply;
}

/** @type {WeakMap<object, string | null>} the ETag of each reply */
const tags = new WeakMap();

/** @param {string} text @returns {any} */
function parse(text) {
  try {
    return text ? JSON.parse(text) : {};
  } catch {
    return {};
  }
}

/** @param {number} status @param {any} reply @returns {string} */
function explain(status, reply) {
  if (typeof reply?.error === "string") return reply.error;
  if (status === 401 || status === 403)
    return "The server does not know this page. Open the address again that samekind printed.";
  return `The server answered with the error ${status}.`;
}

/** @returns {string} a key that no other request has */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

/** Asks again only for what has changed. */
export class Cached {
  /** @param {string} path */
  constructor(path) {
    this.path = path;
    /** @type {any} */
    this.value = null;
  }

  /** @returns {Promise<boolean>} whether there is something new in `value` */
  async refresh() {
    const reply = await call("GET", this.path, { etag: this.value && tags.get(this.value) });
    if (reply === null) return false;
    this.value = reply;
    return true;
  }
}
