/** When two are of the same kind, in one sentence, above every question; anybody may change it. */

import { call } from "./api.js";
import { byId, h, openDialog } from "./dom.js";
import { may } from "./me.js";

/** @param {import("./project.js").Project} project */
export function showCriterion(project) {
  const place = byId("criterion");
  const text = h("span", { class: "criterion-text", dir: "auto" });
  const button = h("button", { type: "button", class: "link", "data-needs": "own", onclick: () => edit(project) });
  place.append(text, button);
  project.addEventListener("state", () => {
    const now = project.state?.criterion ?? "";
    place.hidden = !project.state || project.state.done || (!now && !may("own"));
    text.textContent = now;
    text.title = now;
    button.textContent = now ? "Edit" : "Say what counts as the same kind";
    button.setAttribute("aria-label", now ? "Edit what counts as the same kind" : button.textContent);
  });
}

/** @param {import("./project.js").Project} project */
function edit(project) {
  const field = /** @type {HTMLInputElement} */ (h("input", {
    id: "criterion-field", maxlength: 200, dir: "auto", value: project.state?.criterion ?? "", placeholder: "same intent of the customer",
  }));
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    dialog.close();
    await project.perform(() => call("PUT", "/api/criterion", { body: { criterion: field.value } }));
  };
  const dialog = openDialog("What counts as the same kind?", [
    h("form", { class: "criterion-form", onsubmit: save },
      h("label", { for: "criterion-field" }, "In one sentence, for everybody who answers:"),
      field,
      h("p", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Save"), h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"))),
  ]);
  field.focus();
}
