// The workbench: a rule on the left, a return of its tool in the middle, and the result on the right.

import { latest, request } from "./api.js";
import { createEditor } from "./rule_editor.js";
import { addTooltip, byId, count, counted, createTree, make, safe, saved, stepClass } from "./tree.js";
import { keysOf, offers, pathsOf, pathText } from "./yaml_steps.js";

const RUN_DELAY = 20; // milliseconds
const CHECK_DELAY = 600;
const MAX_NAMES = 8;
const SAMPLE_BYTES = 16_000_000;

const state = {
  folder: "", whyNot: "", rules: [], tools: [], schema: {},
  // The open rule: its name, its text and version on disk, and the sample that is saved with a draft. Without a rule,
  // `tool` is the tool whose returns are shown.
  tool: "", name: null, saved: "", version: "", sample: null,
  // The return, as the API names it: a number, or the text of a sample, which may have the name of a file. `wanted` are
  // the tools and samples of the rule.
  content: null, sampleName: "", returns: [], wanted: { tools: [], samples: [] },
  // What is on the screen: the content that was run, its root and trees, and the path whose places are marked.
  shown: null, root: null, before: null, after: null, path: null, places: [],
};

const item = (text) => safe(text, "li");
const option = (label, value, selected) => safe(label, "option", { value, selected });

function button(label, run, attributes = {}) {
  const made = safe(label, "button", { type: "button", ...attributes });
  made.addEventListener("click", run);
  return made;
}

function notice(message) {
  byId("notice").replaceChildren(safe(message, "span"), button("Dismiss", () => notice("")));
  byId("notice").hidden = !message;
}

const fail = (error) => notice(error.message);
const tried = (action) => async (...given) => {
  try {
    await action(...given);
  } catch (error) {
    fail(error);
  }
};

// --- drafts, which survive a reload

const draftKey = (name) => `reducer:${state.folder}:${name}`;
const draftOf = (name) => JSON.parse(localStorage.getItem(draftKey(name)) ?? "null");
const isChanged = () => state.name !== null && (editor.text() !== state.saved || state.sample !== null);

function draftNames() {
  const prefix = draftKey("");
  return Object.keys(localStorage).filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
}

function keepDraft() {
  const { name, version, sample } = state;
  if (!isChanged()) return localStorage.removeItem(draftKey(name));
  try {
    localStorage.setItem(draftKey(name), JSON.stringify({ text: editor.text(), version, sample }));
  } catch {
    notice("The browser's storage is full, so this draft is not kept: save it before you reload the page.");
  }
}

// --- rules

async function loadRules() {
  const { folder, why_not: whyNot, rules } = await request("GET", "rules");
  Object.assign(state, { folder, whyNot, rules });
  const { tools, skipped } = await request("GET", "tools");
  state.tools = tools;
  byId("folder").replaceChildren(safe(folder));
  byId("skipped").replaceChildren(...skipped.map((why) => safe(`Not loaded: ${why}`, "div")));
  showRules();
}

function showRules() {
  const names = state.rules.map((rule) => rule.name);
  const drafts = draftNames();
  const chosen = state.name === null ? `show ${state.tool}` : `open ${state.name}`;
  const choice = (label, value) => option(label, value, value === chosen);
  const rule = (name) => choice(`${name}${drafts.includes(name) ? " (not saved)" : ""}`, `open ${name}`);
  const tool = ({ tool, returns, characters }) =>
    choice(`${tool}: ${counted(returns, "return")}, ${count(characters)} characters`, `show ${tool}`);
  const groups = {
    Rules: [...names, ...drafts.filter((name) => !names.includes(name))].map(rule),
    "Tools without a rule": state.tools.filter((one) => one.rule === null).map(tool),
  };
  const shown = Object.entries(groups).filter(([, options]) => options.length);
  const first = state.name === null && !state.tool ? [option("Choose a rule or a tool", "")] : [];
  const lists = shown.map(([label, options]) => make("optgroup", { label }, ...options));
  byId("rules").replaceChildren(...first, ...lists);
}

async function chooseRule(value) {
  const [action, name] = [value.slice(0, 4), value.slice(5)];
  if (action === "open") return openRule(name);
  close(name);
  await showReturns({ tools: [name], samples: [] });
  notice(`\`${name}\` has no rule. “New rule” drafts one from the return in the middle.`);
}

function close(tool = "") {
  Object.assign(state, { tool, name: null, saved: "", version: "", sample: null });
  editor.close();
  shown();
}

async function openRule(name) {
  const isOnDisk = state.rules.some((rule) => rule.name === name);
  const disk = isOnDisk ? await request("GET", "rule", { name }) : { text: "", version: "" };
  const draft = draftOf(name);
  const { version, sample } = draft ?? { ...disk, sample: null };
  Object.assign(state, { tool: "", name, saved: disk.text, version, sample });
  editor.open(draft?.text ?? disk.text);
  const isOld = draft !== null && draft.version !== disk.version;
  notice(isOld ? `${name} changed on disk since you edited it. Saving shows both versions.` : "");
  shown();
}

/** Show a rule that was opened, drafted or saved. */
function shown() {
  const last = `reducer-last:${state.folder}`;
  if (state.name === null) localStorage.removeItem(last);
  else localStorage.setItem(last, state.name);
  editor.show([]);
  byId("problems").replaceChildren();
  byId("tests").replaceChildren();
  byId("new").disabled = state.content === null;
  showRules();
  showStatus();
  run();
  check();
}

async function newRule() {
  const entry = state.returns.find((one) => one.number === state.content);
  const tool = entry?.tool ?? (state.tool || prompt("Name of the tool that returned this sample:"));
  if (!tool) return;
  const draft = await request("POST", "draft", { tool, content: state.content });
  const { name, sample_name, sample, saves } = draft;
  Object.assign(state, { tool: "", name, saved: "", version: "", sample: saves ? { sample_name, sample } : null });
  editor.open(draft.text);
  keepDraft();
  shown();
  notice(saves
    ? `The draft saves ${(saves * 100).toFixed(0)}%. Read each step, and change what it should not remove. `
      + `Saving also writes ${sample_name}, which is a real answer: check it for confidential content.`
    : "Nothing is obvious to remove, so the rule has no steps yet. Click a value in the middle to add one.");
}

async function save() {
  if (state.name === null || state.whyNot || !isChanged()) return;
  const { name, version, sample } = state;
  const mine = editor.text();
  try {
    const answer = await request("PUT", "rule", { name, text: mine, version, ...sample });
    localStorage.removeItem(draftKey(name));
    await loadRules();
    if (state.name !== name) return;
    Object.assign(state, { saved: mine, version: answer.version, sample: null });
  } catch (error) {
    if (error.status !== 409) throw error;
    return compare(mine, error);
  }
  keepDraft();
  notice("");
  showRules();
  showStatus(isChanged() ? "" : "saved");
  check();
}

/** Ask which text to keep of a file that another program changed. */
function compare(mine, { text: theirs, version }) {
  const dialog = byId("conflict");
  byId("mine").value = mine;
  byId("theirs").value = theirs;
  byId("mine").setSelectionRange(0, 0);
  dialog.returnValue = "";
  dialog.onclose = tried(async () => {
    if (!dialog.returnValue) return;
    Object.assign(state, { saved: theirs, version });
    if (dialog.returnValue === "mine") return save();
    editor.replace(theirs);
    keepDraft();
    showStatus();
  });
  dialog.showModal();
}

async function discard() {
  localStorage.removeItem(draftKey(state.name));
  if (state.rules.some((rule) => rule.name === state.name)) return openRule(state.name);
  close();
}

function showStatus(message = "") {
  const isUnsaved = isChanged();
  byId("save").disabled = !isUnsaved || state.whyNot !== "";
  byId("discard").hidden = !isUnsaved;
  const why = state.whyNot && `read-only: ${state.whyNot}`;
  byId("status").textContent = message || [isUnsaved ? "not saved" : "", why].filter(Boolean).join("; ");
}

// --- returns and samples

/** List the returns of these tools and these samples, and show one of them unless the user's sample is shown. */
async function showReturns(wanted) {
  state.wanted = wanted;
  const { returns } = await request("POST", "returns", { tools: wanted.tools });
  const longest = returns.reduce((found, one) => (one.characters > (found?.characters ?? -1) ? one : found), null);
  state.returns = returns;
  const { content, sampleName } = state;
  const isKept = typeof content === "string" ? !sampleName || wanted.samples.includes(sampleName)
    : returns.some((one) => one.number === content);
  showReturnList();
  if (!isKept) await chooseReturn(longest ? String(longest.number) : (wanted.samples[0] ?? ""));
}

function showReturnList() {
  const { content, sampleName, wanted } = state;
  const isSample = typeof content === "string";
  const options = [
    ...(isSample && !sampleName ? [option("Your sample", "", true)] : []),
    ...state.returns.map(({ number: value, tool, call, file, characters }) =>
      option(`${count(characters)} characters: ${tool} ${call} in ${file}`, value, value === content)),
    ...wanted.samples.map((name) => option(name, name, isSample && name === sampleName)),
  ];
  if (!options.length) options.push(option("No returns of this tool; paste or drop one", ""));
  byId("returns").replaceChildren(...options);
  byId("new").disabled = content === null;
}

/** Show the return with this number, or the sample with this name. */
async function chooseReturn(value) {
  const isNumber = /^\d+$/.test(value);
  const sample = value && !isNumber ? await readSample(value) : null;
  Object.assign(state, { content: isNumber ? Number(value) : sample, sampleName: isNumber ? "" : value });
  showReturnList();
  run();
}

async function readSample(name) {
  const isUnsaved = state.sample?.sample_name === name;
  return isUnsaved ? state.sample.sample : (await request("GET", "rule", { name })).text;
}

function useSample(sample) {
  if (!sample.trim()) return;
  byId("sample").hidden = true;
  Object.assign(state, { content: sample, sampleName: "" });
  showReturnList();
  run();
}

// --- running the rule

const run = latest(RUN_DELAY, () => {
  const { name, content } = state;
  return request("POST", "run", { name: name ?? "new.yaml", text: name === null ? "" : editor.text(), content });
}, showRun, fail);

function showRun({ problems, tools, samples, did, tree }) {
  const isBroken = state.name !== null && problems.some((problem) => problem.severity === "error");
  if (state.name !== null) showProblems(problems);
  const wanted = { tools, samples };
  if (tools.length && JSON.stringify(wanted) !== JSON.stringify(state.wanted)) tried(showReturns)(wanted);
  // While the rule has errors, the result of its last valid text stays.
  byId("result").classList.toggle("old", isBroken);
  if (isBroken && state.before && state.shown === state.content) return;
  showTrees(tree, did !== null);
  byId("sizes").textContent = did ? sizes(did.characters) : "";
  byId("facts").replaceChildren(...(did ? facts(did).map(item) : []));
  byId("steps").replaceChildren(...(did?.steps.length ? [stepTable(did.steps)] : []));
}

function showTrees(tree, isRun) {
  const isSame = state.shown === state.content;
  Object.assign(state, { shown: state.content, root: tree?.node ?? null });
  for (const side of ["before", "after"]) {
    const label = side === "before" ? "Return" : "Result";
    const opened = isSame ? state[side]?.opened() : undefined;
    const isThere = tree && (side === "before" || isRun);
    state[side] = isThere ? createTree(tree, { sides: [side], label, opened }) : null;
    byId(side).replaceChildren(state[side]?.element ?? safe(EMPTY[side], "p", { class: "empty" }));
  }
  if (isSame) return state.before?.mark(state.places);
  byId("offers").replaceChildren(safe("Click a value to add a step for it.", "span", { class: "quiet" }));
  state.path = null;
  highlight();
}

const EMPTY = {
  before: "Choose a rule or a tool at the top left, or paste or drop an answer of a tool here.",
  after: "The result of the rule appears here.",
};

/** Highlight the places of the path under the cursor. */
const highlight = latest(RUN_DELAY, async () => {
  const path = state.name === null ? null : editor.path();
  if (path === state.path || !state.before) return null;
  const { places } = path === null ? { places: [] } : await request("POST", "query", { path, content: state.content });
  return { path, places };
}, (answer) => {
  if (!answer || !state.before) return;
  Object.assign(state, { path: answer.path, places: answer.places.map(keysOf) });
  if (state.places[0]?.length) state.before.reveal(state.places[0])?.scrollIntoView({ block: "nearest" });
  state.before.mark(state.places);
}, fail);

/** Offer steps for a value of the return. */
function offer({ path }) {
  const steps = state.name === null ? [] : offers(state.root, path);
  const buttons = steps.map((step) => {
    const { path: place, action, value } = step;
    const label = Array.isArray(value) ? action : `${action} ${value}`;
    return button(label, () => editor.add(step), { title: `${action} ${value} at ${place}` });
  });
  const title = pathText(path);
  byId("offers").replaceChildren(safe(title, "code", { class: "one-line", title }), ...buttons);
}

// --- results

function showProblems(problems) {
  editor.show(problems);
  const lines = problems.map(({ line, severity, message, help }) =>
    make("li", {}, button(`Line ${line}`, () => editor.goTo(line), { class: severity }), " ", safe(message, "span"),
      ...(help ? [safe(help, "div", { class: "quiet" })] : [])));
  byId("problems").replaceChildren(...lines);
}

const sizes = (characters) =>
  `${count(characters.before)} → ${count(characters.after)} characters, ${saved(characters)} saved`;

function stepTable(steps) {
  const cells = (tag, values) => values.map((value) => make(tag, { class: "number" }, value));
  const rows = steps.map(({ name, line, places, characters: { before, after }, ran, nothing }, index) => {
    const why = ran ? nothing?.message ?? "" : "its `when` does not hold";
    const look = { class: `link ${stepClass(index + 1)}`, disabled: line === null };
    const go = button(name, () => editor.goTo(line), look);
    const head = make("th", { scope: "row" }, go, ...(why ? [safe(why, "div", { class: "why" })] : []));
    return make("tr", {}, head, ...cells("td", [places, before - after, after].map(count)));
  });
  const heads = [make("th", { scope: "col" }, "Step"), ...cells("th", ["Places", "Removed", "Left"])];
  return make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
}

function facts({ status, why, restored, restorations, over, lost_entities: lost }) {
  const listed = (names) => names.slice(0, MAX_NAMES).join(", ") + (names.length > MAX_NAMES ? ", …" : "");
  return [
    status === "reduced" ? "" : `Not reduced: ${why}`,
    restored ? `Restored ${counted(restored, "character")} at ${listed(restorations.map((one) => one.path))}` : "",
    over ? `${counted(over, "character")} above max_chars` : "",
    lost.length ? `Lost ${counted(lost.length, "entity", "entities")}: ${listed(lost.map((one) => one.value))}` : "",
    lost.length ? "" : "No entity is lost",
  ].filter(Boolean);
}

const check = latest(CHECK_DELAY, () => {
  if (state.name === null || state.sample) return null;
  return request("POST", "check", { name: state.name, text: editor.text() });
}, (answer) => {
  if (answer) showProblems(answer.problems);
  if (answer?.problems.some((problem) => problem.severity === "error")) return;
  const none = state.sample ? "The test runs once the rule and its sample are saved." : "This rule has no tests.";
  const items = answer?.tests.length ? answer.tests.map(testItem) : [safe(none, "li", { class: "quiet" })];
  byId("tests").replaceChildren(...(state.name === null ? [] : items));
}, fail);

function testItem({ name, line, failures }) {
  const reasons = failures.map(({ message, expected, found, help }) =>
    [message, expected && `expected ${expected}`, found && `found ${found}`, help].filter(Boolean).join("; "));
  const status = make("strong", {}, failures.length ? "✗ failed: " : "✓ passed: ");
  const go = button(name, () => editor.goTo(line), { class: "link" });
  return make("li", { class: failures.length ? "failed" : "passed" }, status, go, make("ul", {}, ...reasons.map(item)));
}

// --- start

const nonce = document.querySelector("meta[name=nonce]").content;
const editor = createEditor(byId("editor"), nonce, {
  changed() {
    if (state.name === null) return;
    keepDraft();
    showStatus();
    run();
    check();
    highlight();
  },
  moved: highlight,
  save: tried(save),
  schema: () => state.schema,
  paths: () => pathsOf(state.root),
});

function listen() {
  const on = (id, event, run) => byId(id).addEventListener(event, run);
  on("rules", "change", tried((event) => chooseRule(event.target.value)));
  on("new", "click", tried(newRule));
  on("save", "click", tried(save));
  on("discard", "click", tried(discard));
  on("returns", "change", tried(({ target }) => chooseReturn(target.value)));
  on("paste", "click", () => {
    byId("sample").hidden = false;
    byId("sample-text").focus();
  });
  on("close-sample", "click", () => (byId("sample").hidden = true));
  on("sample", "submit", tried((event) => {
    event.preventDefault();
    useSample(byId("sample-text").value);
  }));
  on("before", "choose", ({ detail }) => offer(detail));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", tried(async (event) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    if (file.size > SAMPLE_BYTES) throw new Error("This file is larger than 16 MB.");
    useSample(await file.text());
  }));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    tried(save)();
  });
  addTooltip();
}

async function start() {
  listen();
  editor.close();
  await loadRules();
  state.schema = await request("GET", "schema");
  const last = localStorage.getItem(`reducer-last:${state.folder}`);
  const names = [...state.rules.map((rule) => rule.name), ...draftNames()];
  const used = state.tools.find((tool) => tool.rule !== null)?.rule;
  const first = names.includes(last) ? last : (used ?? names[0]);
  if (first) await openRule(first);
  else if (state.tools.length) await chooseRule(`show ${state.tools[0].tool}`);
  else shown();
}

tried(start)();
