/** The interface of the kernel: what the page asks its server over HTTP is asked here by messages of the widget. */

import { ApiError } from "./api_error.js";

export { ApiError };

/** @type {any} the widget's model, which carries messages */
let model = null;
let asked = 0;
const own = Math.random().toString(36).slice(2); // several views of one widget hear each other's replies

/** @type {Map<string, {resolve: (body: any) => void, reject: (error: ApiError) => void}>} */
const waiting = new Map();

/** @param {any} given @returns {() => void} what ends it */
export function connect(given) {
  model = given;
  model.on("msg:custom", hear);
  return () => model.off("msg:custom", hear);
}

/** @param {any} message */
function hear(message) {
  const asker = waiting.get(message?.reply);
  if (!asker) return;
  waiting.delete(message.reply);
  const { status, body } = message;
  if (status < 400) asker.resolve(body);
  else asker.reject(new ApiError(body.error, status, body));
}

/**
 * Ask the kernel. While it runs a cell it answers nothing, so that there is no time after which to give up.
 *
 * @param {string} method
 * @param {string} path
 * @param {{body?: any}} [options]
 * @returns {Promise<any>}
 */
export function call(method, path, { body } = {}) {
  const id = `${own}-${++asked}`;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    model.send({ call: id, method, path, body: body ?? null });
  });
}

/** @returns {string} a key that no other request has; no message is lost and sent again, so nothing depends on it */
export function newKey() {
  return `${own}-${++asked}`;
}

/** @param {string} path @returns {string} */
export function located(path) {
  return path;
}

/** @param {HTMLImageElement} image let it show a picture @param {string} path how the page asks for it */
export async function loadPicture(image, path) {
  try {
    image.src = (await call("GET", path)).url;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    image.dispatchEvent(new Event("error"));
  }
}
