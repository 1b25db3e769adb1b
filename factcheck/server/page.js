"use strict";
const at = (id) => document.getElementById(id);
const KINDS = {
  entailed: ["good", "✓", "kept"],
  contradicted: ["bad", "≠", "distorted"],
  neutral: ["warn", "–", "dropped"],
  undefined: ["unknown", "?", "undecided"],
};
const labels = new Map(); // rows of labels.jsonl, by text and fact
const names = stored(); // of the jobs that this browser submitted, by their ids
let running = null; // what cancels the check in progress
let found = null; // the last line of a check: report and page
let asked = {}; // the body of that check
let timer = 0;
let isSaved = true;

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
function stored() {
  try {
    return localStorage;
  } catch {
    return {}; // the browser blocks it with cookies
  }
}
function visible(text) {
  return text.replace(/[^\P{C}\n\t]/gu, (one) => `\\u${one.codePointAt(0).toString(16).padStart(4, "0")}`);
}
function say(text, tone = "", place = "said") {
  at(place).textContent = text;
  at(place).className = tone;
}
const fail = (error) => say(error.message, "bad");
const failJob = (error) => say(error.message, "bad", "job-said");

async function ask(path, options = {}) {
  const key = at("key").value;
  const headers = { ...options.headers, ...(key && { Authorization: `Bearer ${key}` }) };
  const answer = await fetch(path, { ...options, headers });
  if (answer.ok) return answer;
  if (answer.status === 401) {
    at("ask").hidden = false;
    at("key").focus();
    throw new Error(key ? "This service does not know that API key." : "This service needs an API key.");
  }
  const problem = await answer.json().catch(() => ({}));
  throw new Error(problem.detail ?? `The service answered with status ${answer.status}.`);
}
async function* linesOf(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) yield JSON.parse(part);
  }
}

function request() {
  const body = { source: at("source").value, summary: at("summary").value, judge: at("judge").value || null };
  return at("both").checked ? { ...body, direction: "both" } : body;
}
async function check() {
  running?.abort();
  const mine = (running = new AbortController());
  found = null;
  asked = request();
  at("facts").replaceChildren();
  at("report").hidden = at("saves").hidden = true;
  at("cancel").hidden = false;
  say("Extracting the facts …");
  try {
    const headers = { "Content-Type": "application/json" };
    const options = { method: "POST", headers, body: JSON.stringify(asked), signal: mine.signal };
    for await (const line of linesOf(await ask("v1/coverage/stream", options))) {
      if (line.problem) throw new Error(line.problem.detail);
      if (line.facts) list(line.facts);
      if (line.results) colour(line.results);
      if (line.report) finish(line);
    }
    if (!found) throw new Error("The connection ended before the report; check again.");
  } catch (error) {
    if (running === mine) say(mine.signal.aborted ? "Cancelled." : error.message, "bad");
  }
  if (running === mine) {
    running = null;
    at("cancel").hidden = true;
  }
}
function list(facts) {
  const items = facts.map((fact) => {
    const parts = [
      element("span", { className: "mark", textContent: "·" }),
      element("span", { className: "id", textContent: visible(fact.id) }),
      element("div", { textContent: visible(fact.text) }),
    ];
    const item = element("li", { className: fact.core === null ? "" : "detail" }, ...parts);
    item.dataset.id = fact.id;
    return item;
  });
  at("facts").replaceChildren(...items);
  say(`${facts.length} facts, none checked yet.`);
}
function colour(results) {
  for (const { fact, label } of results) {
    const item = [...at("facts").children].find((one) => one.dataset.id === fact.id);
    const [tone, mark, name] = KINDS[label];
    item.classList.add(tone);
    item.firstChild.textContent = mark;
    item.firstChild.title = name;
  }
  const total = at("facts").children.length;
  const done = Object.values(KINDS).map(([tone, , name]) => [at("facts").querySelectorAll(`.${tone}`).length, name]);
  const checked = done.reduce((sum, [n]) => sum + n, 0);
  const counts = done.filter(([n]) => n).map(([n, name]) => `${n} ${name}`);
  say(`${checked} of ${total} facts checked: ${counts.join(", ")}.`);
}
function finish(line) {
  found = line;
  const shown = new DOMParser().parseFromString(line.page, "text/html").querySelector("main");
  at("report").replaceChildren(...shown.childNodes);
  for (const item of all(at("report"), "li[data-k^='f']")) item.lastChild.append(questions(item));
  at("facts").replaceChildren();
  at("report").hidden = at("saves").hidden = false;
}

function questions(item) {
  const { fact } = found.report.results[item.dataset.k.slice(1) - 1];
  const origin = found.report.facts.source_digest ?? "";
  const key = JSON.stringify([asked.summary, fact.text]);
  const buttons = [true, false].map((label) => element("button", { textContent: label ? "stated" : "not stated" }));
  const show = () =>
    buttons.forEach((one, n) => one.setAttribute("aria-pressed", labels.get(key)?.label === (n === 0)));
  buttons.forEach((button, n) => {
    button.onclick = () => {
      const label = n === 0;
      if (labels.get(key)?.label === label) labels.delete(key);
      else labels.set(key, { document: origin, text: asked.summary, fact: fact.text, label });
      isSaved = false;
      at("labels").hidden = !labels.size;
      show();
      say(`${labels.size} labelled. Label right verdicts, too: wrong ones alone say nothing of the rest.`);
    };
  });
  show();
  return element("p", { className: "label" }, "Wrong? The fact is ", ...buttons);
}

function save(name, type, ...parts) {
  const link = element("a", { download: name, href: URL.createObjectURL(new Blob(parts, { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
at("html").onclick = () => save("factcheck.html", "text/html", found.page);
at("json").onclick = () => save("factcheck.json", "application/json", JSON.stringify(found.report));
at("labels").onclick = () => {
  save("labels.jsonl", "application/jsonl", ...[...labels.values()].map((row) => `${JSON.stringify(row)}\n`));
  isSaved = true;
};
addEventListener("beforeunload", (event) => isSaved || event.preventDefault());

async function copy(code) {
  at("code").textContent = code;
  at("code").hidden = false;
  try {
    await navigator.clipboard.writeText(code);
    say("Copied.");
  } catch {
    say("This browser does not allow pages to copy: select the code below.");
  }
}
at("curl").onclick = () => {
  const key = at("key").value ? ' -H "Authorization: Bearer $FACTCHECK_KEY"' : "";
  const body = JSON.stringify(request()).replaceAll("'", "'\\''");
  const url = new URL("v1/coverage", location.href);
  return copy(`curl -s ${url} -H 'Content-Type: application/json'${key} \\\n    -d '${body}'`);
};
at("python").onclick = () => {
  const given = Object.entries(request()).filter(([, value]) => value !== null);
  const body = given.map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`);
  const key = at("key").value ? ', headers={"Authorization": f"Bearer {os.environ[\'FACTCHECK_KEY\']}"}' : "";
  const url = JSON.stringify(new URL("v1/coverage", location.href));
  return copy(
    `${key && "import os\n\n"}import factcheck\nimport httpx\n\n` +
      `body = {\n${body.join("")}}\nanswer = httpx.post(${url}, json=body, timeout=150${key})\n` +
      `report = factcheck.CoverageReport.from_json(answer.raise_for_status().text)\nprint(report)`,
  );
};

async function showJobs() {
  clearTimeout(timer);
  const jobs = await (await ask("v1/jobs")).json();
  const focused = document.activeElement.id;
  at("list").replaceChildren(...jobs.map(jobItem));
  if (focused) at(focused)?.focus();
  if (jobs.some(isOpen)) timer = setTimeout(() => showJobs().catch(failJob), 1000);
}
const isOpen = (job) => job.state === "queued" || job.state === "running";
function jobItem(job) {
  const path = `v1/jobs/${job.id}`;
  const act = (name, work) => {
    const click = () => work().then(showJobs).catch(failJob);
    return element("button", { id: `${name}-${job.id}`, textContent: name, onclick: click });
  };
  const get = async (part) => (await ask(`${path}/${part}`)).text();
  const failed = job.failed ? `, ${job.failed} without a report` : "";
  const bar = element("progress", { max: job.records, value: job.rows, ariaLabel: "Progress" });
  const name = names[job.id] ?? `job ${job.id}`;
  const head = ` ${job.state}, ${job.rows} of ${job.records} records${failed}, judge ${job.judge}`;
  const end = isOpen(job)
    ? act("Cancel", () => ask(`${path}/cancel`, { method: "POST" }))
    : act("Delete", async () => (await ask(path, { method: "DELETE" })) && delete names[job.id]);
  return element(
    "li",
    {},
    element("p", {}, element("b", { textContent: visible(name) })),
    element("p", {}, bar, head),
    element("p", { className: "note", textContent: job.problem }),
    element(
      "p",
      { className: "row" },
      act("Report", async () => view(await get("page"))),
      act("Rows", async () => save("rows.jsonl", "application/jsonl", await get("rows"))),
      end,
    ),
  );
}
function view(html) {
  const href = URL.createObjectURL(new Blob([html], { type: "text/html" }));
  element("a", { href, target: "_blank" }).click();
}
async function submit(file) {
  const { judge, direction = "coverage" } = request();
  const query = new URLSearchParams({ direction, ...(judge && { judge }) });
  at("records").value = ""; // or the same file could not be chosen again
  say("", "", "job-said");
  const job = await (await ask(`v1/jobs?${query}`, { method: "POST", body: file })).json();
  names[job.id] = `${file.name}, ${new Date().toLocaleString()}`;
  await showJobs();
}
at("records").onchange = () => at("records").files[0] && submit(at("records").files[0]).catch(failJob);

async function fill(box, file) {
  const bytes = await file.arrayBuffer();
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.includes("\0")) throw new TypeError("binary");
    box.value = text;
  } catch {
    throw new Error(`${file.name} is not a text in UTF-8; paste its text instead.`);
  }
}
addEventListener("dragover", (event) => event.dataTransfer.types.includes("Files") && event.preventDefault());
addEventListener("drop", (event) => {
  const [file] = event.dataTransfer.files;
  if (!file) return;
  event.preventDefault(); // or the browser leaves the page
  if (event.target.closest("textarea")) fill(event.target, file).catch(fail);
  else if (event.target.closest("#jobs")) submit(file).catch(failJob);
});

// the script of reports takes every other button for the head of a column
document.body.addEventListener("click", (event) => event.target.closest("button") && event.stopPropagation());

async function start() {
  const { data } = await (await ask("v1/models")).json();
  at("judge").replaceChildren(...data.map(({ id }) => element("option", { textContent: id })));
  if (!running) say("");
  if (!at("jobs").hidden) await showJobs();
}
function example() {
  for (const name of ["source", "summary"]) at(name).value = at(`${name}-example`).content.textContent;
}
at("form").onsubmit = (event) => {
  event.preventDefault();
  check();
};
at("form").onkeydown = (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) at("form").requestSubmit();
};
at("cancel").onclick = () => running?.abort();
at("example").onclick = example;
at("key").onchange = () => start().catch(fail);
if (!at("ask").hidden) say("This service needs an API key.");
else
  start()
    .then(() => {
      if (location.hash !== "#demo") return;
      example();
      at("form").requestSubmit();
    })
    .catch(fail);
