/** One magnification for several pictures: what is done to one is done to all, so that they stay comparable. */

import { html, useRef } from "./vendor/preact.js";
import { Picture } from "./items.js";
import { keys } from "./keys.js";
import { Button } from "./parts.js";

const MOST = 12;
const STEP = 1.4;
const TOGGLE = 2.5;

export class Zoom {
  constructor() {
    /** @type {HTMLElement[]} */
    this.pictures = [];
    this.scale = 1;
    // How far the pictures are moved, as a share of their frames.
    this.x = 0;
    this.y = 0;
    /** @type {Map<number, {x: number, y: number}>} fingers and mice that are down */
    this.pointers = new Map();
  }

  /** @param {HTMLElement} frame @param {HTMLElement} picture */
  attach(frame, picture) {
    this.pictures.push(picture);
    frame.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.by(Math.exp(-event.deltaY / 400), ...at(frame, event));
      },
      { passive: false },
    );
    frame.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (this.scale > 1) frame.setPointerCapture(event.pointerId);
    });
    frame.addEventListener("pointermove", (event) => this.#move(frame, event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      frame.addEventListener(end, (event) =>
        this.pointers.delete(/** @type {PointerEvent} */ (event).pointerId),
      );
    }
    frame.addEventListener("dblclick", (event) => this.toggle(...at(frame, event)));
  }

  /** @param {number} factor @param {number} [px] @param {number} [py] the point that stays, from the middle */
  by(factor, px = 0, py = 0) {
    const scale = Math.min(MOST, Math.max(1, this.scale * factor));
    const ratio = scale / this.scale;
    this.x = px - (px - this.x) * ratio;
    this.y = py - (py - this.y) * ratio;
    this.scale = scale;
    this.#apply();
  }

  /** @param {number} [px] @param {number} [py] */
  toggle(px = 0, py = 0) {
    this.by(this.scale > 1 ? 1 / this.scale : TOGGLE, px, py);
  }

  /** @param {HTMLElement} frame @param {PointerEvent} event */
  #move(frame, event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    const now = { x: event.clientX, y: event.clientY };
    const box = frame.getBoundingClientRect();
    if (other) {
      const spread = (/** @type {{x: number, y: number}} */ p) =>
        Math.hypot(p.x - other.x, p.y - other.y);
      const middle = { clientX: (now.x + other.x) / 2, clientY: (now.y + other.y) / 2 };
      this.by(spread(now) / Math.max(1, spread(before)), ...at(frame, middle));
    } else if (this.scale > 1) {
      this.x += (now.x - before.x) / box.width;
      this.y += (now.y - before.y) / box.height;
      this.#apply();
    }
    this.pointers.set(event.pointerId, now);
  }

  #apply() {
    const room = (this.scale - 1) / 2;
    this.x = Math.min(room, Math.max(-room, this.x));
    this.y = Math.min(room, Math.max(-room, this.y));
    const transform = `translate(${this.x * 100}%, ${this.y * 100}%) scale(${this.scale})`;
    for (const picture of this.pictures) {
      picture.style.setProperty("transform", transform);
      picture.parentElement?.classList.toggle("zoomed", this.scale > 1);
    }
  }
}

/** @param {HTMLElement} frame @param {{clientX: number, clientY: number}} event @returns {[number, number]} */
function at(frame, event) {
  const box = frame.getBoundingClientRect();
  return [
    (event.clientX - box.left) / box.width - 0.5,
    (event.clientY - box.top) / box.height - 0.5,
  ];
}

/** The buttons of a zoom. @param {{zoom: Zoom}} props */
export function ZoomTools({ zoom }) {
  const tool = (
    /** @type {string} */ sign,
    /** @type {string} */ name,
    /** @type {() => void} */ act,
  ) =>
    html`<${Button} class="tool stepper" aria-label=${name} title=${name} act=${act}>
      <span aria-hidden="true">${sign}</span>
    <//>`;
  const both = "Zoom in or show all";
  return html`${tool("−", "Zoom out", () => zoom.by(1 / STEP))}
    ${tool("+", "Zoom in", () => zoom.by(STEP))}
    <${Button} class="tool" aria-label=${both} title=${both} act=${() => zoom.toggle()}>
      <span aria-hidden="true">Zoom</span><kbd aria-hidden="true">${keys.label("zoom")}</kbd>
    <//>`;
}

/** A picture that can be moved and enlarged. @param {{item: import("./types.js").ItemView, zoom: Zoom}} props */
export function Stage({ item, zoom }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const attach = (/** @type {HTMLImageElement} */ image) => {
    if (frame.current) zoom.attach(frame.current, image);
  };
  return html`<div class="stage" ref=${frame}>
    <${Picture} item=${item} size="large" attach=${attach} />
  </div>`;
}
