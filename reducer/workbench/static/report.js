// The report of a run: totals, tools, what needs attention, and each tool return before and after.

import {
  appendText, byId, count, counted, createTree, make, namesOf, percent, placeOf, safe, stepClass,
} from "./tree.js";

const ROWS = 200; // rows of the list that are added at once
const LINES = 200; // lines of a section

const read = (id) => JSON.parse(byId(id).textContent);
const td = (name, ...content) => make("td", { class: name }, ...content);

/** Return a share that was kept as a percentage; it is 100% only if nothing is missing. */
const keptShare = ({ missing, share }) => (missing ? percent(Math.min(share, 0.999)) : "100%");

// --- the whole run

function showAbout({ histories, rules, as_in_agent: asInAgent, references, made }) {
  const names = histories.length === 1 ? histories[0] : counted(histories.length, "history", "histories");
  const kept = `${counted(references.characters, "character")} kept because later messages reference them`;
  const result = asInAgent ? "as in an agent, where content that later messages reference is also removed" : kept;
  byId("about").append(safe(names), " · ", safe(rules.from), ` (${counted(rules.files.length, "rule")}) · ${result}`);
  byId("about").append(" · ", safe(made.by), ", ", safe(made.on));
}

function showTotals({ totals: { characters, tokens, calls, reduced }, measures }) {
  addCard("Saved", percent(characters.saved), `${count(characters.before)} → ${count(characters.after)} characters`);
  addCard("Tokens, estimated", count(tokens.after), `of ${count(tokens.before)} (characters / 4)`);
  addCard("Tool returns", count(calls), `${count(reduced)} reduced`);
  if (!measures) return;
  const { references, entities, cost: { recorded, reduced: reducedCost, saved } } = measures;
  const used = `${count(references.kept)} of ${count(references.novel)} values used later`;
  if (references.novel) addCard("References kept", keptShare(references), used);
  const found = `${count(entities.kept)} of ${count(entities.total)} in reduced returns`;
  if (entities.total) addCard("Entities kept", keptShare(entities), found);
  const price = `${count(recorded.cached_tokens)} → ${count(reducedCost.cached_tokens)} tokens at input price`;
  if (saved !== null) addCard("Cost with prompt cache", `${percent(saved)} less`, price);
}

function addCard(title, value, detail) {
  const card = make("div", { class: "card" }, make("h2", {}, title), make("strong", {}, value), make("p", {}, detail));
  byId("totals").append(card);
}

function showTools({ tools, returns }) {
  const listed = new Set(returns.map((data) => data.tool));
  byId("tools").closest("section").hidden = !tools.length;
  const most = tools[0]?.characters.before || 1; // the largest tool is the first
  for (const { tool, rules, calls, untouched, characters } of tools) {
    const none = untouched === calls ? "not reducible" : "no rule";
    const file = rules.map((rule) => placeOf(rule.file)).join(", ") || none;
    const { before, after } = characters;
    const label = `${count(after)} of ${count(before)} characters kept`;
    const bar = make("div", { class: "size-bar", role: "img", "aria-label": label });
    bar.style.setProperty("--after", `${(Math.min(before, after) / most) * 100}%`);
    bar.style.setProperty("--before", `${(before / most) * 100}%`);
    const numbers = [count(before), count(after), percent(characters.saved)].map((number) => td("number", number));
    const first = [td("", listed.has(tool) ? linkToTool(tool) : safe(tool)), td("", safe(file)), td("number", count(calls))];
    byId("tools").append(make("tr", {}, ...first, td("", bar), ...numbers));
  }
}

/** Return a button that lists the returns of a tool. */
function linkToTool(tool) {
  const button = make("button", { type: "button", class: "link" }, safe(tool));
  button.addEventListener("click", () => {
    byId("filter").value = "all";
    byId("search").value = `tool:${tool}`;
    byId("search").dispatchEvent(new Event("input"));
    byId("search").scrollIntoView();
    byId("search").focus();
  });
  return button;
}

/** Show the text of each rule that was chosen for a return. */
function showRules({ texts }) {
  for (const [file, text] of Object.entries(texts)) {
    const lines = text.split(/\r?\n/).flatMap((line) => [safe(line), "\n"]);
    const code = make("pre", { tabindex: "0", "aria-label": `The rule ${placeOf(file)}` }, ...lines);
    byId("rules").append(make("details", {}, make("summary", {}, safe(file)), code));
  }
  byId("rules").hidden = !byId("rules").querySelector("details");
}

function showAttention({ attention, titles }) {
  const section = byId("attention");
  if (!attention.length) section.append(make("p", { class: "quiet" }, "Nothing needs attention."));
  for (const [kind, title] of Object.entries(titles)) {
    const needs = attention.filter((need) => need.kind === kind);
    addDetails(section, title, needs.length, needs.map(({ where, message }) => `${where}: ${message}`));
  }
}

function showCosts({ measures }) {
  if (!measures) return;
  const { references, entities } = measures;
  const by = (step) => `removed by ${step || "several steps"}`;
  const lost = references.lost.map(({ value, tool, found, path, used, step }) =>
    `${value}: from ${tool} ${found} at ${path}, used in message ${used}, ${by(step)}`);
  const gone = entities.lost.map(({ type, value, tool, step }) => `${type} ${value}: from ${tool}, ${by(step)}`);
  const types = Object.entries(entities.types).map(([type, { kept, total }]) => `${type}: ${kept} of ${total} kept`);
  addDetails(byId("costs"), "Lost references", references.missing, lost);
  addDetails(byId("costs"), "Types of entities", types.length, types);
  addDetails(byId("costs"), "Lost entities", entities.missing, gone);
  byId("costs").hidden = byId("costs").children.length === 1;
}

function addDetails(section, title, number, lines) {
  if (!number) return;
  const items = lines.slice(0, LINES).map((line) => safe(line, "li"));
  if (number > items.length) items.push(make("li", {}, `and ${count(number - items.length)} more`));
  const summary = make("summary", {}, `${title} `, make("span", { class: "tag" }, count(number)));
  section.append(make("details", {}, summary, make("ul", {}, ...items)));
}

// --- the list of returns

const FILTERS = {
  all: () => true,
  reduced: ({ data }) => data.status === "reduced",
  lost: ({ lost }) => lost > 0,
  attention: ({ attention }) => attention !== "",
};

/** Return what the list shows of each return, and the text that a search looks through. */
function entriesOf({ returns }) {
  return returns.map((data, index) => {
    const name = data.call;
    const attention = problemsOf(data).join(", ");
    return {
      data, index, name, attention, number: index + 1, tool: data.tool, ...data.characters,
      lost: data.lost_references, gone: data.lost_entities,
      text: [data.tool, name, data.history, data.rule, data.status, attention].join("\n").toLowerCase(),
    };
  });
}

function problemsOf({ status, over, lost, is_emptied: isEmptied }) {
  return [
    status === "fault" && "not applied completely",
    isEmptied && "no values left",
    status === "no rule" && "no rule",
    over > 0 && `${count(over)} above max_chars`,
    lost > 0 && `${counted(lost, "entity", "entities")} beyond preserve`,
  ].filter(Boolean);
}

function showReturns(report) {
  const list = { entries: entriesOf(report), trees: read("trees"), open: new Map(), key: "number", sign: 1 };
  if (!list.entries.length) {
    byId("returns").parentElement.hidden = true;
    byId("none").textContent = report.lines.length ? "Lines and rows are only added up." : "No tool returns.";
    byId("none").hidden = false;
    return;
  }
  for (const head of document.querySelectorAll("th[data-key]")) {
    head.firstChild.addEventListener("click", () => sortBy(list, head.dataset.key, head.className === "number"));
  }
  for (const id of ["search", "filter"]) byId(id).addEventListener("input", () => update(list));
  const onScroll = ([seen]) => seen.isIntersecting && addReturns(list);
  update(list);
  new IntersectionObserver(onScroll, { rootMargin: "600px" }).observe(byId("more"));
  if (list.entries.length === 1) toggleReturn(list, list.entries[0], byId("returns").firstChild);
}

function sortBy(list, key, isNumber) {
  list.sign = list.key === key ? -list.sign : isNumber && key !== "number" ? -1 : 1;
  list.key = key;
  update(list);
}

/** Search, filter and sort the list, and show its beginning. */
function update(list) {
  const query = byId("search").value;
  const words = query.toLowerCase().split(/\s+/);
  const { key, sign, entries } = list;
  const isFound = ({ tool, text }) => query === `tool:${tool}` || words.every((word) => text.includes(word));
  list.shown = entries.filter((entry) => FILTERS[byId("filter").value](entry) && isFound(entry));
  list.shown.sort((one, other) => sign * compare(one[key], other[key]));
  for (const head of document.querySelectorAll("th[data-key]")) {
    head.ariaSort = head.dataset.key !== key ? "none" : sign > 0 ? "ascending" : "descending";
  }
  byId("count").textContent = `${count(list.shown.length)} of ${counted(entries.length, "return")}`;
  byId("none").hidden = list.shown.length > 0;
  byId("returns").replaceChildren();
  list.done = 0;
  addReturns(list);
}

function compare(one, other) {
  return typeof one === "string" ? one.localeCompare(other, "en") : one - other;
}

/** Add the next rows; the rows of open returns are followed by their details. */
function addReturns(list) {
  for (const entry of list.shown.slice(list.done, list.done + ROWS)) {
    byId("returns").append(returnRow(list, entry), ...[list.open.get(entry)].filter(Boolean));
  }
  list.done += ROWS;
  byId("more").hidden = list.done >= list.shown.length;
}

function returnRow(list, entry) {
  const { number, tool, name, before, after, lost, gone, attention, data } = entry;
  const toggle = { type: "button", class: "toggle", "aria-expanded": String(list.open.has(entry)) };
  const row = make("tr", { class: "return" },
    td("number", String(number)),
    td("tool", make("button", toggle, safe(tool))),
    td("name", safe(name)),
    td("before", count(before)),
    td("after", count(after)),
    td("saved", data.status === "reduced" ? percent(entry.saved) : data.status),
    td("lost", lost ? count(lost) : ""),
    td("gone", gone ? count(gone) : ""),
    td("attention", attention));
  row.addEventListener("click", () => getSelection().type !== "Range" && toggleReturn(list, entry, row));
  return row;
}

// --- one return

function toggleReturn(list, entry, row) {
  const { open, trees } = list;
  const details = open.get(entry);
  row.querySelector(".toggle").ariaExpanded = !details;
  if (details) {
    details.remove();
    open.delete(entry);
    return;
  }
  const cell = make("td", { colspan: row.cells.length }, make("p", { class: "quiet" }, "Opening …"));
  open.set(entry, make("tr", { class: "details" }, cell));
  row.after(open.get(entry));
  unpack(trees[entry.index]).then(
    (tree) => cell.replaceChildren(...opened(list, entry, tree)),
    (error) => cell.replaceChildren(make("p", { class: "notice" }, `This return cannot be shown: ${error.message}`)),
  );
}

/** Read a compressed tree. */
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

/** Return the elements that show an open return. */
function opened(list, { data, tool, name, before, after }, tree) {
  const { why, history, message, part, rule, rewritten, restored, referenced, steps } = data;
  const fragment = byId("opened").content.cloneNode(true);
  const place = history === name ? history : `${history}, message ${message + 1}, part ${part + 1}`;
  const more = [
    [rewritten, "saved by writing compact JSON"],
    [restored, "restored by `preserve`, including markers"],
    [referenced, "kept because later messages reference them"],
    [data.repeats, "left out because earlier returns show them"],
  ].filter(([size]) => size > 0).map(([size, what]) => ` · ${counted(size, "character")} ${what}`);
  const sizes = [` · ${count(before)} → ${counted(after, "character")}`, ...more];
  fragment.querySelector(".about").append(safe(place), " · ", safe(rule ?? "no rule"), ...sizes);
  const links = data.repeats_of.map((call) => linkTo(list, call));
  if (links.length) fragment.querySelector(".about").append(" · shown by ", ...links);
  appendText(fragment.querySelector(".why"), why);
  fragment.querySelector(".steps").append(...steps.map((step, index) => legendOf(step, index + 1, tree)));
  fragment.append(createTree(tree, { label: `${tool} ${name}, before and after` }).element);
  return fragment.childNodes;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone surrogate
  }
}

/** Return a button that opens the return of a call, which is named as in a marker: `read_file (call_7)`. */
function linkTo(list, call) {
  const [tool, name] = call.slice(0, -1).split(" (").map(decoded);
  const button = make("button", { type: "button", class: "link" }, safe(`${tool} ${name}`));
  button.addEventListener("click", () => {
    byId("search").value = name;
    byId("filter").value = "all";
    update(list);
    const index = list.shown.findIndex((entry) => entry.tool === tool && entry.name === name);
    const row = byId("returns").querySelectorAll("tr.return")[index];
    if (!row) return;
    if (!list.open.has(list.shown[index])) toggleReturn(list, list.shown[index], row);
    row.scrollIntoView();
  });
  return button;
}

/** Describe a step with its colour, its line and what it removed. */
function legendOf({ name, line, ran, skipped, removed, restored }, number, tree) {
  const removal = removed > 0 ? `${count(removed)} removed` : "nothing to remove";
  const again = restored ? `, ${count(restored)} restored` : "";
  const chip = make("span", { class: `chip ${stepClass(number)}` }, namesOf(tree, number)[0]);
  const idle = skipped ? "not applied, because a second pass would change the result" : "its `when` does not hold";
  const effect = ran ? `${removal}${again}` : idle;
  const about = make("span", { class: "quiet" }, ` ${placeOf(tree.file, line)} · ${effect}`);
  return make("li", { class: removed > 0 ? "" : "quiet" }, chip, " ", safe(name), about);
}

const report = read("report");
for (const show of [showAbout, showTotals, showTools, showRules, showAttention, showCosts, showReturns]) show(report);
