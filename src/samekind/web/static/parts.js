/** Parts that many components are made of. */

import { html, useEffect, useState } from "./vendor/preact.js";
import { ApiError, call } from "./api.js";

/** @param {{act: (event: Event) => void, children: any} & Record<string, any>} props */
export function Button({ act, children, ...more }) {
  return html`<button type="button" onclick=${act} ...${more}>${children}</button>`;
}

/** A part of a screen with a title. @param {{id: string, title: string, hint?: any, children: any}} props */
export function Block({ id, title, hint, children }) {
  return html`<section class="block" aria-labelledby=${`${id}-title`}>
    <h3 id=${`${id}-title`} tabindex="-1">${title}</h3>
    ${hint && html`<p class="hint">${hint}</p>`}${children}
  </section>`;
}

/**
 * Fetch something, and again whenever its path or what it depends on changes.
 *
 * @param {string | null} path null: nothing
 * @param {...unknown} given
 * @returns {{found: any, error: string}} what was found last
 */
export function useFetched(path, ...given) {
  const [{ found, error }, set] = useState({ found: /** @type {any} */ (null), error: "" });
  useEffect(() => {
    let isCurrent = path !== null;
    const told = (/** @type {Error} */ failure) => {
      if (!(failure instanceof ApiError)) throw failure;
      if (isCurrent) set((now) => ({ ...now, error: failure.message }));
    };
    if (path)
      call("GET", path).then((reply) => isCurrent && set({ found: reply, error: "" }), told);
    return () => {
      isCurrent = false;
    };
  }, [path, ...given]);
  return { found, error };
}
