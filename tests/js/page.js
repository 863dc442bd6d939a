/** What the page's modules need of a browser, for tests in Node. */

const listeners = new Map();

class Storage {
  #kept = new Map();

  getItem(name) {
    return this.#kept.get(name) ?? null;
  }

  setItem(name, value) {
    this.#kept.set(name, String(value));
  }
}

globalThis.location = { pathname: "/p/rows/", hash: "", reload() {} };
globalThis.history = { state: null, replaceState() {} };
globalThis.sessionStorage = new Storage();
globalThis.localStorage = new Storage();
globalThis.addEventListener = (name, act) => listeners.set(name, act);
globalThis.document = { body: { dataset: {} }, documentElement: { dataset: {} } };

/** @param {string} name let something happen to the window */
export function happen(name) {
  listeners.get(name)?.({ preventDefault() {} });
}

/** @param {(request: {method: string, path: string, body: any, key: string}) => any} reply answer what is fetched */
export function serve(reply) {
  globalThis.fetch = async (path, { method, headers, body }) => {
    const key = headers["Idempotency-Key"];
    const found = await reply({ method, path, body: body && JSON.parse(body), key });
    if (found === null) throw new TypeError("no network");
    const { code: status = 200, ...rest } = found;
    return {
      status,
      ok: status < 400,
      headers: { get: () => null },
      text: async () => JSON.stringify(rest),
    };
  };
}

/** @param {() => boolean} holds @returns {Promise<void>} resolves once it does */
export async function until(holds) {
  for (let turn = 0; turn < 400; turn += 1) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`never: ${holds}`);
}
