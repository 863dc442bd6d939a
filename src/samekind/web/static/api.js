/** The server's HTTP interface. Every call says who asks; a token, if there is one, never stays in the address. */

import { ApiError } from "./api_error.js";
import { remembered } from "./settings.js";

export { ApiError };

const TIMEOUT_MS = 30_000;

/** Where the project's interface is, if the server has several projects and people have links of their own. */
const base = document.documentElement.dataset.api;
export const served = base !== undefined;

const FRAGMENT = "#token=";
const token = takeToken();

// A link that is opened where the page is open already changes the address alone.
addEventListener("hashchange", () => location.hash.startsWith(FRAGMENT) && location.reload());

/** Move the token of the address into the session, so that it is not copied with the address. */
function takeToken() {
  const address = new URL(location.href);
  const inFragment = address.hash.startsWith(FRAGMENT);
  const given = inFragment ? decodeURIComponent(address.hash.slice(FRAGMENT.length)) : address.searchParams.get("token");
  const kept = served ? `samekind.token.${base}` : "samekind.token";
  try {
    if (given) sessionStorage.setItem(kept, given);
  } catch {
    return given; // No storage: leave it in the address, or a reload would lose it.
  }
  if (given) {
    address.searchParams.delete("token");
    if (inFragment) address.hash = "";
    history.replaceState(history.state, "", address);
  }
  return sessionStorage.getItem(kept);
}

/** @param {string} path @returns {string} as the server has it */
function located(path) {
  return served ? `${base}${path.slice("/api".length)}` : path;
}

/** @param {string} path one of the server's own @returns {string} for links and pictures, which a browser fetches by itself */
export function withToken(path) {
  if (served) return located(path); // a cookie that the page was given is sent with it
  if (!token) return path;
  return `${path}${path.includes("?") ? "&" : "?"}token=${encodeURIComponent(token)}`;
}

/** @param {HTMLImageElement} image let it show a picture @param {string} path where the server has it */
export function loadPicture(image, path) {
  image.src = withToken(path);
}

/**
 * Call the server.
 *
 * @param {string} method
 * @param {string} path
 * @param {{body?: any, csv?: Blob, etag?: string | null, key?: string}} [options] key: repeated with it, nothing is done twice
 * @returns {Promise<any>} the reply; null if it has not changed since `etag`
 */
export async function call(method, path, { body, csv, etag, key } = {}) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  const who = served ? "" : remembered("who", "");
  if (who) headers["X-Samekind-Who"] = encodeURIComponent(who);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (method !== "GET") headers["X-Samekind"] = "1";
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
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    text = await response.text();
  } catch {
    throw new ApiError("The server does not answer.", 0);
  }
  if (response.status === 304) return null;
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
  if (status === 401 || status === 403) return "The server does not know this page. Open the address again that samekind printed.";
  return `The server answered with the error ${status}.`;
}

/** @returns {string} a key that no other request has */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
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
