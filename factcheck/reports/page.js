"use strict";
const all = (root, selector) => [...root.querySelectorAll(selector)];
const keysOf = (element) => element.dataset.k.split(" ");

function light(element) {
  const desk = element.closest(".desk");
  const keys = new Set(keysOf(element));
  const moved = new Set([element.closest(".pane")]);
  for (const one of all(desk, "[data-k]")) {
    const lit = keysOf(one).some((key) => keys.has(key));
    one.classList.toggle("lit", lit);
    const pane = one.closest(".pane");
    if (lit && pane && !moved.has(pane)) {
      moved.add(pane);
      const above = one.getBoundingClientRect().top - pane.getBoundingClientRect().top;
      if (above < 0 || above > pane.clientHeight - 40) pane.scrollTop += above - pane.clientHeight / 3;
    }
  }
}
for (const kind of ["mouseover", "focusin"]) {
  document.addEventListener(kind, (event) => {
    const found = event.target.closest?.(".desk [data-k]");
    if (found) light(found);
  });
}
document.addEventListener("click", (event) => {
  const mark = event.target.closest?.("mark[data-k]");
  if (!mark) return;
  const keys = keysOf(mark);
  const item = all(mark.closest(".desk"), "li[data-k]").find((one) => keys.includes(one.dataset.k));
  if (!item) return;
  item.closest("details").open = true;
  item.focus({ preventScroll: true });
  item.scrollIntoView({ block: "nearest" });
});

function sortBy(header) {
  const place = header.cellIndex;
  const up = header.getAttribute("aria-sort") !== "ascending";
  const body = header.closest("table").tBodies[0];
  const value = (row) => {
    const text = row.cells[place].textContent.trim();
    const number = parseFloat(text.replace(/[<>,]/g, ""));
    return header.classList.contains("name") || Number.isNaN(number) ? text : number;
  };
  const rows = [...body.rows].map((row) => [value(row), row]);
  rows.sort(([a], [b]) => {
    let order = typeof a === "string" ? -1 : 1; // "no report" and "undecided" before numbers
    if (typeof a === typeof b)
      order = typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
    return up ? order : -order;
  });
  for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", up ? "ascending" : "descending");
  body.append(...rows.map(([, row]) => row));
}

async function open(button) {
  const dialog = document.querySelector("dialog");
  const packed = document.getElementById("packed").textContent.trim().split("\n");
  const bytes = Uint8Array.from(atob(packed[button.dataset.open]), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const shown = dialog.querySelector(".shown");
  shown.innerHTML = await new Response(stream).text();
  dialog.opener = button;
  dialog.setAttribute("aria-label", button.textContent);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}
function step(dialog, sibling) {
  const row = dialog.opener.closest("tr")[sibling];
  if (row) open(row.querySelector("[data-open]"));
}
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button");
  if (!button) return;
  const dialog = button.closest("dialog");
  if (button.dataset.open !== undefined) open(button);
  else if (button.dataset.step) step(dialog, button.dataset.step);
  else if (dialog) dialog.close();
  else sortBy(button.closest("th"));
});
document.addEventListener("close", (event) => event.target.opener?.focus(), true);
