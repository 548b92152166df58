// The report of a run: totals, tools, what needs attention, and each tool return before and after.

import { addTooltip, appendText, baseName, createTree, labelOf, make, stepClass } from "./tree.js";

const ROWS = 200; // rows of the list that are added at once
const DETAILS = 200; // lines of a section
const COLUMNS = [
  { key: "number", title: "#", numeric: true },
  { key: "tool", title: "Tool" },
  { key: "name", title: "Call" },
  { key: "before", title: "Before", numeric: true },
  { key: "after", title: "After", numeric: true },
  { key: "saved", title: "Saved", numeric: true },
  { key: "lost", title: "Lost references", numeric: true },
  { key: "attention", title: "Attention" },
];

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const at = (id) => document.getElementById(id);
const count = (number) => Math.round(number).toLocaleString("en");
const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
const safe = (text, tag = "bdi") => appendText(make(tag), text);

/** Return a share as a percentage; it is 100% only if nothing is missing. */
function percent(part, whole) {
  if (!whole) return "–";
  return part === whole ? "100%" : `${(Math.min(part / whole, 0.999) * 100).toFixed(1)}%`;
}

const savedText = ({ before, after }) => (before ? `${(((before - after) / before) * 100).toFixed(1)}%` : "–");

// --- totals and tools

function showAbout({ histories, rules, as_in_agent }) {
  const names = histories.length === 1 ? histories[0] : counted(histories.length, "history", "histories");
  const result = as_in_agent
    ? "as in an agent, which also removes what it uses later"
    : "what later messages reference stays";
  const from = `${rules.from} (${counted(rules.files.length, "rule")})`;
  at("about").append(safe(names), " · rules from ", safe(from), ` · ${result}`);
}

function showTotals({ totals, measures, references }) {
  const { characters, tokens, calls, reduced } = totals;
  const cards = [
    ["Saved", savedText(characters), `${count(characters.before)} → ${count(characters.after)} characters`],
    ["Tokens, estimated", count(tokens.after), `of ${count(tokens.before)} (characters / 4)`],
    ["Tool returns", count(calls), `${count(reduced)} reduced`],
  ];
  if (measures?.references.novel) {
    const { novel, kept } = measures.references;
    cards.push(["References kept", percent(kept, novel), `${count(kept)} of ${count(novel)} values the agent used later`]);
  }
  const recalls = Object.values(measures?.entities.types ?? {});
  if (recalls.length) {
    const [kept, total] = [sum(recalls, "kept"), sum(recalls, "total")];
    cards.push(["Entities kept", percent(kept, total), `${count(kept)} of ${count(total)} in reduced returns`]);
  }
  if (measures?.cost.recorded.requests) {
    const { recorded, reduced: after } = measures.cost;
    const less = savedText({ before: recorded.cached, after: after.cached });
    const detail = `${count(recorded.cached / 4)} → ${count(after.cached / 4)} tokens at input price`;
    cards.push(["Cost with prompt cache", `−${less}`, detail]);
  }
  if (references.returns) {
    const detail = `in ${counted(references.returns, "return")}, because later messages reference them`;
    cards.push(["Characters kept", count(references.characters), detail]);
  }
  at("totals").append(
    ...cards.map(([title, value, detail]) =>
      make("div", { class: "card" }, make("h3", {}, title), make("strong", {}, value), make("p", {}, detail)),
    ),
  );
}

const sum = (entries, key) => entries.reduce((total, entry) => total + entry[key], 0);

function showTools(tools) {
  if (!tools.length) return;
  const most = Math.max(1, ...tools.map(({ characters }) => characters.before));
  const head = ["Tool", "Rule", "Returns", "Characters kept and removed", "Before", "After", "Saved"];
  const rows = tools.map((tool) => {
    const { characters, calls, untouched } = tool;
    const rule = tool.rule ? safe(baseName(tool.rule.file)) : untouched === calls ? "not reducible" : "no rule";
    const numbers = [count(characters.before), count(characters.after), savedText(characters)];
    return [safe(tool.tool), rule, count(calls), barOf(characters, most), ...numbers];
  });
  at("tools").append(tableOf(head, rows, [2, 4, 5, 6]));
  at("tools").hidden = false;
}

function barOf({ before, after }, most) {
  const bar = make("div", { class: "size-bar", role: "img", "aria-label": `${count(after)} of ${count(before)} kept` });
  const [kept, removed] = [make("span", { class: "kept" }), make("span", { class: "gone" })];
  kept.style.width = `${(after / most) * 100}%`;
  removed.style.width = `${(Math.max(0, before - after) / most) * 100}%`;
  bar.append(kept, removed);
  return bar;
}

function tableOf(head, rows, numeric) {
  const align = (column) => (numeric.includes(column) ? { class: "number" } : {});
  const titles = head.map((title, column) => make("th", { scope: "col", ...align(column) }, title));
  const body = rows.map((cells) => make("tr", {}, ...cells.map((cell, column) => make("td", align(column), cell))));
  return make("table", {}, make("thead", {}, make("tr", {}, ...titles)), make("tbody", {}, ...body));
}

// --- attention and costs

function showAttention(needs, titles) {
  const section = at("attention");
  if (!needs.length) section.append(make("p", { class: "quiet" }, "Nothing needs attention."));
  for (const [kind, title] of Object.entries(titles)) {
    const entries = needs.filter((need) => need.kind === kind);
    const lines = entries.map(({ where, message }) => `${where}: ${message}`);
    if (entries.length) section.append(detailsOf(title, entries.length, lines));
  }
}

function showCosts(measures) {
  if (!measures) return;
  const { references, entities, asked_again: again } = measures;
  const lost = references.lost.map(
    ({ value, tool, found, path, used, step }) =>
      `${value}: from ${tool} ${found} at ${path}, used in message ${used}, removed by ${step || "several steps"}`,
  );
  const gone = entities.lost.map(({ type, value, tool, step }) => `${type} ${value}: from ${tool}, removed by ${step || "several steps"}`);
  const repeats = again.first.map(({ tool, first, again: later }) => `${tool}: message ${first}, again in message ${later}`);
  const section = at("costs");
  const types = Object.entries(entities.types).map(([type, { kept, total }]) => `${type} ${count(kept)} of ${count(total)}`);
  if (types.length) section.append(make("p", { class: "types" }, `Entities kept: ${types.join(" · ")}`));
  if (lost.length) section.append(detailsOf("Lost references", references.novel - references.kept, lost));
  if (gone.length) section.append(detailsOf("Lost entities", gone.length, gone));
  if (again.calls) section.append(detailsOf("Calls that repeat an earlier one", again.calls, repeats));
  section.hidden = section.children.length < 2;
}

function detailsOf(title, number, lines) {
  const items = lines.slice(0, DETAILS).map((line) => safe(line, "li"));
  if (number > items.length) items.push(make("li", {}, `and ${count(number - items.length)} more`));
  const size = make("span", { class: "badge" }, count(number));
  return make("details", {}, make("summary", {}, `${title} `, size), make("ul", {}, ...items));
}

// --- the list of returns

/** Return what the list shows of each return, and the text that a search looks through. */
function entriesOf({ returns, measures }) {
  const lost = new Map();
  for (const { history, found } of measures?.references.lost ?? []) {
    const key = JSON.stringify([history, found]);
    lost.set(key, (lost.get(key) ?? 0) + 1);
  }
  return returns.map((data, index) => {
    const name = data.nth > 1 ? `${data.call_id}#${data.nth}` : data.call_id;
    const entry = {
      data,
      index,
      name,
      number: index + 1,
      tool: data.tool,
      before: data.characters.before,
      after: data.characters.after,
      saved: data.characters.saved ?? 0,
      lost: lost.get(JSON.stringify([data.history, name])) ?? 0,
      attention: problemsOf(data).join(", "),
    };
    entry.text = [data.tool, name, data.history, data.rule ?? "", data.status, entry.attention].join("\n").toLowerCase();
    return entry;
  });
}

function problemsOf({ status, over, lost, steps }) {
  const undone = steps.filter((step) => step.restored * 2 >= step.characters.before - step.characters.after && step.restored);
  return [
    status === "fault" && "not applied completely",
    status === "no rule" && "no rule",
    over > 0 && `${count(over)} above max_chars`,
    lost > 0 && `${counted(lost, "entity", "entities")} beyond preserve`,
    undone.length > 0 && "preserve undoes a step",
  ].filter(Boolean);
}

function showReturns(report, trees) {
  const list = { entries: entriesOf(report), shown: [], trees, open: new Map(), sort: { key: "number", sign: 1 } };
  const section = at("returns");
  if (!list.entries.length) {
    const lines = sum(report.lines, "lines");
    const why = lines ? `JSON lines are only added up: ${counted(lines, "line")}. Run one history for its returns.` : "No tool returns.";
    section.querySelector(".bar").replaceChildren(make("h2", { id: "returns-title" }, "Tool returns"));
    section.append(make("p", { class: "quiet" }, why));
    return;
  }
  list.body = make("tbody");
  list.head = COLUMNS.map((column) => headOf(list, column));
  list.more = make("div", { class: "more" });
  section.append(make("table", { class: "returns" }, make("thead", {}, make("tr", {}, ...list.head)), list.body), list.more);
  new IntersectionObserver((seen) => seen[0].isIntersecting && addRows(list), { rootMargin: "600px" }).observe(list.more);
  at("search").addEventListener("input", () => update(list));
  at("filter").addEventListener("change", () => update(list));
  update(list);
  if (list.entries.length === 1) toggleReturn(list, list.entries[0], list.body.rows[0]);
}

function headOf(list, { key, title, numeric }) {
  const button = make("button", { type: "button" }, title);
  const head = make("th", { scope: "col", "data-key": key, class: numeric ? "number" : undefined }, button);
  button.addEventListener("click", () => {
    const first = numeric && key !== "number" ? -1 : 1;
    list.sort = { key, sign: list.sort.key === key ? -list.sort.sign : first };
    update(list);
  });
  return head;
}

/** Search, filter and sort the list, and show its beginning. */
function update(list) {
  const words = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = FILTERS[at("filter").value];
  const { key, sign } = list.sort;
  list.shown = list.entries.filter((entry) => wanted(entry) && words.every((word) => entry.text.includes(word)));
  list.shown.sort((one, other) => sign * compare(one[key], other[key]) || one.index - other.index);
  for (const head of list.head) {
    const order = head.dataset.key === key ? (sign > 0 ? "ascending" : "descending") : "none";
    head.setAttribute("aria-sort", order);
  }
  at("count").textContent = `${count(list.shown.length)} of ${counted(list.entries.length, "return")}`;
  list.body.replaceChildren();
  addRows(list);
  if (!list.shown.length) {
    const none = make("td", { colspan: COLUMNS.length, class: "quiet" }, "No return matches.");
    list.body.append(make("tr", {}, none));
  }
}

const FILTERS = {
  all: () => true,
  reduced: ({ data }) => data.status === "reduced",
  lost: ({ lost }) => lost > 0,
  attention: ({ attention }) => attention !== "",
};

function compare(one, other) {
  return typeof one === "number" ? one - other : one.localeCompare(other, "en");
}

/** Add the next rows; the rows of open returns are followed by their details. */
function addRows(list) {
  const done = list.body.querySelectorAll(":scope > tr.return").length;
  for (const entry of list.shown.slice(done, done + ROWS)) {
    const details = list.open.get(entry.index);
    list.body.append(returnRow(list, entry, details !== undefined), ...(details ? [details] : []));
  }
  list.more.hidden = done + ROWS >= list.shown.length;
}

function returnRow(list, entry, isOpen) {
  const button = make("button", { type: "button", class: "toggle", "aria-expanded": String(isOpen) }, safe(entry.tool));
  const cells = {
    tool: button,
    name: safe(entry.name),
    before: count(entry.before),
    after: count(entry.after),
    saved: entry.data.status === "reduced" ? savedText(entry) : make("span", { class: "quiet" }, entry.data.status),
    lost: entry.lost ? count(entry.lost) : "",
  };
  const row = make(
    "tr",
    { class: "return" },
    ...COLUMNS.map(({ key, numeric }) => make("td", { class: numeric ? `number ${key}` : key }, cells[key] ?? String(entry[key]))),
  );
  row.addEventListener("click", () => getSelection()?.type !== "Range" && toggleReturn(list, entry, row));
  return row;
}

// --- one return

function toggleReturn(list, entry, row) {
  const button = row.querySelector(".toggle");
  const details = list.open.get(entry.index);
  button.setAttribute("aria-expanded", String(!details));
  if (details) {
    details.remove();
    list.open.delete(entry.index);
    return;
  }
  const cell = make("td", { colspan: COLUMNS.length }, make("p", { class: "quiet" }, "Opening …"));
  const opened = make("tr", { class: "details" }, cell);
  list.open.set(entry.index, opened);
  row.after(opened);
  unpack(list.trees[entry.index]).then(
    (tree) => cell.replaceChildren(...paneOf(entry, tree)),
    (error) => cell.replaceChildren(make("p", { class: "notice" }, `This return cannot be shown: ${error.message}`)),
  );
}

/** Read a compressed tree. */
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

function paneOf({ data, tool, name, before, after }, tree) {
  const { why, message, part, history, rewritten, restored, referenced, rule } = data;
  const notes = [
    `${history}, message ${message + 1}, part ${part + 1}`,
    rule ?? "no rule",
    `${count(before)} → ${counted(after, "character")}`,
    rewritten > 0 && `JSON text without blanks: ${counted(rewritten, "character")} less`,
    restored > 0 && `restored by preserve, and markers: ${counted(restored, "character")} more`,
    referenced > 0 && `kept because later messages reference it: ${counted(referenced, "character")} more`,
  ].filter(Boolean);
  const about = make("p", { class: "quiet" }, ...notes.flatMap((note, at) => (at ? [" · ", safe(note)] : [safe(note)])));
  const heads = make("div", { class: "tree-head", "aria-hidden": "true" }, make("h3", {}, "Before"), make("h3", {}, "After"));
  const { element } = createTree(tree, { label: `${tool} ${name}, before and after` });
  const problem = why ? [safe(why, "p")] : [];
  return [about, ...problem, legendOf(data, tree), heads, element];
}

/** Describe the steps with their colours, and what each removed. */
function legendOf({ steps }, tree) {
  const items = tree.steps.map(({ number, name, line }, at) => {
    const step = steps[at];
    const size = step ? step.characters.before - step.characters.after : 0;
    const effect = !step ? "" : !step.ran ? "its `when` does not hold" : size ? `${count(size)} removed` : "nothing to remove";
    const again = step?.restored ? `, ${count(step.restored)} restored` : "";
    const where = line ? `${baseName(tree.file)}:${line}` : baseName(tree.file ?? "");
    const chip = make("span", { class: `chip ${stepClass(number)}` }, labelOf(tree, number));
    return make("li", { class: size ? "" : "quiet" }, chip, " ", safe(name), make("span", { class: "quiet" }, ` ${where} · ${effect}${again}`));
  });
  const families = { address: "address", hash: "hash", weakness: "vulnerability or technique", name: "actor, malware or tool" };
  const entities = Object.entries(families).map(([family, title]) => make("li", {}, make("span", { class: `entity ${family}` }, title)));
  const marks = make("li", {}, make("span", { class: "marker" }, "…[marker]"));
  const restored = make("li", {}, make("span", { class: "step step-1 restored" }, "restored"));
  return make("div", { class: "legends" }, ...(items.length ? [make("ul", { class: "legend", "aria-label": "Steps" }, ...items)] : []), make("ul", { class: "legend keys", "aria-label": "Colours" }, restored, marks, ...entities));
}

const { titles, ...report } = read("report");
showAbout(report);
showTotals(report);
showTools(report.tools);
showAttention(report.attention, titles);
showCosts(report.measures);
showReturns(report, read("trees"));
addTooltip();
