"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const storage = `factcheck review ${data.id}`;
const VERDICTS = { 1: true, k: true, 2: false, x: false, 3: null, d: null };
let given = data.facts.flatMap((fact, place) => (fact.label === null ? [] : [[place, fact.label]]));
try {
  given = JSON.parse(localStorage.getItem(storage)) ?? given;
} catch {
  given = [...given];
}

const GRAMMAR = /^(the|and|are|was|were|has|had|have|for|from|with|that|this|its|his|her|their|not)$/;

function marked(text, fact) {
  const found = fact.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) || [];
  const words = new Set(found.filter((word) => !GRAMMAR.test(word)));
  return text.split(/([\p{L}\p{N}]+)/u).map((piece) => {
    if (!words.has(piece.toLowerCase())) return piece;
    const mark = document.createElement("mark");
    mark.textContent = piece;
    return mark;
  });
}
function show() {
  const done = new Map(given);
  const fact = data.facts.find((_, place) => !done.has(place));
  const labels = given.filter(([, label]) => label !== null).length;
  at("count").textContent = `${done.size} of ${data.facts.length} seen, ${labels} labelled`;
  at("fact").textContent = fact ? fact.shown : "Done: press S to save the labels.";
  at("text").replaceChildren(...(fact ? marked(data.texts[fact.text].shown, fact.shown) : []));
  at("text").hidden = !fact;
}
function keep() {
  try {
    localStorage.setItem(storage, JSON.stringify(given));
  } catch {
    at("kept").textContent = "This browser keeps nothing: save the labels before you close the page.";
  }
  show();
  scrollTo(0, 0);
}
function save() {
  const done = new Map(given);
  const reached = new Map(); // by document, the key up to which its facts were seen
  data.facts.forEach((fact, place) => done.has(place) && reached.set(fact.document, fact.next));
  const rows = data.facts.flatMap((fact, place) => {
    const label = done.get(place) ?? null;
    if (label === null) return [];
    const next = reached.get(fact.document);
    const chance = next === null ? 1 : -Math.expm1(-fact.weight * next);
    const { document, system } = fact;
    const own = { document, system, text: data.texts[fact.text].text, fact: fact.fact };
    return [`${JSON.stringify({ ...own, label, chance })}\n`];
  });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(rows, { type: "application/jsonl" }));
  link.download = "labels.jsonl";
  link.click();
  URL.revokeObjectURL(link.href);
}
function press(key) {
  const place = data.facts.findIndex((_, n) => !given.some(([one]) => one === n));
  if (key === "s") save();
  else if (key === "u" || key === "backspace") given.pop();
  else if (key in VERDICTS && place >= 0) given.push([place, VERDICTS[key]]);
  else return;
  if (key !== "s") keep();
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  press(event.key.toLowerCase());
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-key]");
  if (button) press(button.dataset.key);
});
show();
