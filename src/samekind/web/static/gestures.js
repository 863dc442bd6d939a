/** The wheel, drags, pinches and clicks on an element, as zooms and moves in its pixels. */

const DRAG = 4; // pixels after which a press is no click

/** @typedef {{x: number, y: number}} Place */

/**
 * @param {HTMLElement} element
 * @param {object} does
 * @param {(event: WheelEvent) => boolean} does.wheels whether the wheel zooms, or scrolls the page
 * @param {() => boolean} does.captures whether a drag may leave the element
 * @param {(factor: number, at: Place) => void} does.zoom
 * @param {(from: Place, to: Place) => void} does.move
 * @param {(at: Place) => void} does.click
 * @param {(at: Place) => void} [does.double]
 */
export function listenToGestures(element, does) {
  /** @type {Map<number, Place>} fingers and mice that are down */
  const pointers = new Map();
  let start = { x: 0, y: 0 };
  let isDrag = false;
  const place = (/** @type {MouseEvent} */ event) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const wheel = (/** @type {WheelEvent} */ event) => {
    if (!does.wheels(event)) return;
    event.preventDefault();
    does.zoom(Math.exp(-event.deltaY / 400), place(event));
  };
  element.addEventListener("wheel", wheel, { passive: false });
  element.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    if (does.captures()) element.setPointerCapture(event.pointerId);
    start = place(event);
    pointers.set(event.pointerId, start);
    isDrag = pointers.size > 1;
  });
  element.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = place(event);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    isDrag ||= Math.hypot(now.x - start.x, now.y - start.y) > DRAG;
    if (other) {
      const spread = (/** @type {Place} */ one) => Math.hypot(one.x - other.x, one.y - other.y);
      const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
      does.zoom(spread(now) / Math.max(1, spread(before)), middle);
    } else if (isDrag) does.move(before, now);
    pointers.set(event.pointerId, now);
  });
  element.addEventListener("pointerup", (event) => {
    if (pointers.delete(event.pointerId) && !isDrag) does.click(place(event));
  });
  element.addEventListener("dblclick", (event) => does.double?.(place(event)));
  for (const end of /** @type {const} */ (["pointercancel", "lostpointercapture"])) {
    element.addEventListener(end, (event) => pointers.delete(event.pointerId));
  }
}
