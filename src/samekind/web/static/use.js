/** How components read the store. */

import { useLayoutEffect, useReducer, useRef } from "./vendor/preact.js";
import { state, subscribe } from "./store.js";

/**
 * Draw the component again whenever what it reads has changed.
 *
 * @template T
 * @param {(state: import("./types.js").State) => T} select
 * @returns {T}
 */
export function useStore(select) {
  const [, redraw] = useReducer((/** @type {number} */ turn) => turn + 1, 0);
  const latest = useRef({ select, value: select(state) });
  latest.current = { select, value: select(state) };
  useLayoutEffect(
    () =>
      subscribe(() => {
        const { select, value } = latest.current;
        if (select(state) !== value) redraw(undefined);
      }),
    [],
  );
  return latest.current.value;
}

/** @returns {import("./types.js").State} all of it; the component is drawn again after every change */
export function useAll() {
  const [, redraw] = useReducer((/** @type {number} */ turn) => turn + 1, 0);
  useLayoutEffect(() => subscribe(() => redraw(undefined)), []);
  return state;
}
