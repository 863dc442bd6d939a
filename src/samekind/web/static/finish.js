/** The end: what was found in short, exports, import, and the way back. */

import { ApiError, call, located } from "./api.js";
import { byId, count, h, number, toast } from "./dom.js";

const EXPORTS = [
  ["clusters.csv", "Table with the kind of every row (CSV)"],
  ["clusters.parquet", "The same as Parquet"],
  ["clusters.json", "The same as JSON"],
  ["report.html", "Report: one page that needs no internet"],
  ["answers.csv", "Your answers, which can be imported again (CSV)"],
  ["clusters.npz", "Centres and members, for samekind in Python"],
];
const FOR_OTHERS = [
  ["dataset.parquet", "For datasets of Hugging Face, and for Argilla"],
  ["label-studio.json", "Tasks for Label Studio, with annotations and predictions"],
  ["label-studio.xml", "The labelling interface that goes with them"],
  ["prodigy.jsonl", "Tasks for Prodigy"],
];
const OF_RECORDS = [
  ["entities.csv", "Your table with the entity of every record (CSV)"],
  ["golden.csv", "One record for each entity: the most frequent value of each field (CSV)"],
  ["pairs.csv", "Pairs that may match, how likely that is, and what was answered (CSV)"],
  ["splink.csv", "Your answers as Splink's table of labels (CSV)"],
  ["dedupe.json", "Your answers as dedupe's training file (JSON)"],
];
const PICTURES = [["pictures.zip", "The pictures, in a folder for each kind"]];
const LARGEST = 16_000_000;

/** @param {string} text @returns {(Node | string)[]} with options of the command line that do not break */
export function unbroken(text) {
  return text.split(/(--\w+)/u).map((part) => (part.startsWith("--") ? h("span", { class: "unbroken" }, part) : part));
}

/** @param {import("./types.js").Status} state @returns {string} why nothing more is asked */
export function whyDone(state) {
  if (state.stop_reason === "budget") {
    return `The budget of ${count(state.budget ?? state.presses, "press", "presses")} is spent. Start samekind with a larger --budget to go on.`;
  }
  return state.stop_text || "There are no more questions.";
}

export class Finish {
  /** @param {import("./project.js").Project} project @param {(view: string) => void} goto */
  constructor(project, goto) {
    this.project = project;
    this.goto = goto;
    this.shown = "";
    project.addEventListener("state", () => byId("finish").offsetParent && this.show());
  }

  show() {
    const state = this.project.state;
    const now = JSON.stringify(state);
    if (!state || now === this.shown) return; // what is pressed must not vanish under the finger
    this.shown = now;
    byId("finish-body").replaceChildren(
      h("p", { class: "lead" }, ...(state.done
        ? unbroken(whyDone(state))
        : ["You can stop at any time, close this page, and go on another day: every answer is saved."])),
      this.#summary(state),
      h("p", { id: "finish-stopping" }),
      h("p", { id: "finish-promise", class: "hint" }),
      h("p", { class: "buttons" }, ...this.#buttons(state)),
      h(
        "section",
        { class: "block", "aria-labelledby": "export-title" },
        h("h3", { id: "export-title" }, "Export"),
        this.#files([...(state.records ? OF_RECORDS : []), ...(state.medium === "image" ? PICTURES : []), ...EXPORTS]),
        h("h4", {}, "For other tools"),
        this.#files(FOR_OTHERS),
      ),
      this.#import(),
    );
    this.#promise();
  }

  /** @param {string[][]} files @returns {HTMLElement} */
  #files(files) {
    return h("ul", { class: "exports" }, ...files.map(([name, what]) =>
      h("li", {}, h("a", { href: located(`/api/export/${name}`), download: name }, name), h("span", { class: "muted" }, what))));
  }

  /** @param {import("./types.js").Status} state */
  #summary(state) {
    const tile = (/** @type {string} */ value, /** @type {string} */ label) => h("div", {}, h("dt", {}, label), h("dd", {}, value));
    return h(
      "dl",
      { class: "tiles" },
      tile(number(state.clusters), state.clusters === 1 ? "kind found" : "kinds found"),
      tile(number(state.presses), state.budget ? `of ${count(state.budget, "press", "presses")}` : state.presses === 1 ? "press" : "presses"),
      tile(number(state.questions), state.questions === 1 ? "question answered by it" : "questions answered by them"),
      tile(`${number(state.known_rows)}`, `of ${number(state.n_rows)} rows known`),
    );
  }

  /** @param {import("./types.js").Status} state @returns {HTMLElement[]} */
  #buttons(state) {
    const back = h("button", {
      type: "button",
      class: state.done ? "" : "primary",
      onclick: async () => {
        if (state.done && !(await this.project.perform(() => call("POST", "/api/resume", { body: {} })))) return;
        const now = this.project.state;
        if (now?.done) toast(`There is nothing to go on with: ${whyDone(now)}`);
        else if (document.body.dataset.view === "finish") this.goto("question"); // they may be elsewhere by now
      },
    }, "Go on");
    const end = h("button", { type: "button", onclick: () => this.project.perform(() => call("POST", "/api/finish", { body: {} })) }, "Finish here");
    if (!state.done) return [back, end];
    return state.stop_reason === "budget" ? [] : [back];
  }

  async #promise() {
    try {
      const { certificate, stopping } = await call("GET", "/api/clusters?members=1");
      const [advice, place] = [byId("finish-stopping"), byId("finish-promise")];
      if (advice) advice.textContent = stopping.text;
      if (certificate && place) place.textContent = certificate.text;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  #import() {
    const file = /** @type {HTMLInputElement} */ (h("input", { id: "import-file", type: "file", accept: ".csv,text/csv" }));
    const send = async () => {
      const csv = file.files?.[0];
      if (!csv) return toast("Choose a CSV file first.", { bad: true });
      if (csv.size > LARGEST) return toast("The file is larger than 16 MB. Split it into several.", { bad: true });
      const reply = await this.project.perform(() => call("POST", "/api/answers/import", { csv }));
      const both = reply?.contradictory ? ` ${count(reply.contradictory, "pair")} had both answers in the file: the last one counts.` : "";
      if (reply) toast(`${count(reply.imported, "answer")} imported.${both}`);
      return undefined;
    };
    return h(
      "section",
      { class: "block", "aria-labelledby": "import-title" },
      h("h3", { id: "import-title" }, "Import answers"),
      h("p", { class: "hint" }, "A CSV file with the columns a, b and answer (same, different or unsure). a and b are row numbers, from 0, or values of a column of yours that has each only once."),
      h("p", { class: "buttons" }, h("label", { for: "import-file", class: "hidden" }, "CSV file of answers"), file, h("button", { type: "button", onclick: send }, "Import")),
    );
  }
}
