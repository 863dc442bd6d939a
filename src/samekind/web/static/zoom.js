/** One magnification for several pictures: what is done to one is done to all, so that they stay comparable. */

import { html, useRef } from "./vendor/preact.js";
import { listenToGestures } from "./gestures.js";
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
  }

  /** @param {HTMLElement} frame @param {HTMLElement} picture */
  attach(frame, picture) {
    this.pictures.push(picture);
    /** @returns {[number, number]} from the middle, as shares of the frame */
    const share = (/** @type {{x: number, y: number}} */ { x, y }) => [
      x / frame.clientWidth - 0.5,
      y / frame.clientHeight - 0.5,
    ];
    listenToGestures(frame, {
      wheels: () => true,
      captures: () => this.scale > 1,
      zoom: (factor, at) => this.by(factor, ...share(at)),
      move: (from, to) => this.#moveBy(from, to, frame),
      click: () => {},
      double: (at) => this.toggle(...share(at)),
    });
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

  /** @param {{x: number, y: number}} from @param {{x: number, y: number}} to @param {HTMLElement} frame */
  #moveBy(from, to, frame) {
    if (this.scale === 1) return;
    this.x += (to.x - from.x) / frame.clientWidth;
    this.y += (to.y - from.y) / frame.clientHeight;
    this.#apply();
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

/** The buttons of a zoom. @param {{zoom: Zoom}} props */
export function ZoomTools({ zoom }) {
  const tools = /** @type {[string, string, () => void][]} */ ([
    ["−", "Zoom out", () => zoom.by(1 / STEP)],
    ["+", "Zoom in", () => zoom.by(STEP)],
  ]);
  const both = "Zoom in or show all";
  return html`${tools.map(
      ([sign, name, act]) =>
        html`<${Button} class="tool stepper" aria-label=${name} title=${name} act=${act}
          >${sign}<//
        >`,
    )}
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
