// The workbench: a rule on the left, a return of its tool in the middle, and the result on the right.

import { latest, request, whenBusy } from "./api.js";
import { download, readBundle } from "./bundle.js";
import { showDifference } from "./difference.js";
import { find, resultItems } from "./find.js";
import { createEditor } from "./rule_editor.js";
import { byId, count, counted, createTree, make, percent, safe, stepClass } from "./tree.js";

const [RUN_DELAY, MARK_DELAY, CHECK_DELAY] = [20, 100, 600]; // milliseconds
const MAX_NAMES = 8;
const SAMPLE_BYTES = 16_000_000;

const state = {
  folder: "", whyNot: "", rules: [], tools: [], schema: null,  // `rules` are names with the tools of each rule
  // The open rule: its name, its text and version on disk, and the sample that is saved with a draft. Without a rule,
  // `tool` is the tool whose returns are shown.
  tool: "", name: null, saved: "", version: "", sample: null,
  // The return, as the API names it: a number, or the text of a sample, which may have the name of a file. `wanted` are
  // the tools and samples of the rule.
  content: null, sampleName: "", returns: [], wanted: { tools: [], samples: [] },
  // What is on the screen: the content that was run, the root and the trees of its result, and the marked places.
  shown: null, root: null, before: null, after: null, places: [],
  // What `check` found, for this text and content.
  checked: null,
};

const item = (text) => safe(text, "li");
const option = (label, value, selected) => safe(label, "option", { value, selected });
const isRule = () => state.name !== null;
/** Return the return as the API names it. A file is read by its name, as `check` reads it. */
const contentOf = ({ content, sampleName } = state) => (sampleName ? [sampleName, content] : content);
const isOnDisk = (name) => state.rules.some((rule) => rule.name === name);

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
const tried = (action) => (...given) => action(...given).catch(fail);

// --- drafts, which survive a reload

const draftKey = (name) => `reducer:${state.folder}:${name}`;
const draftOf = (name) => JSON.parse(localStorage.getItem(draftKey(name)) ?? "null");
const isChanged = () => isRule() && (editor.text() !== state.saved || state.sample !== null);

/** Return the names of all rules: those on disk, and drafts of new ones. */
function namesOfRules() {
  const drafts = Object.keys(localStorage).filter((key) => key.startsWith(draftKey("")));
  return new Set([...state.rules.map((rule) => rule.name), ...drafts.map((key) => key.slice(draftKey("").length))]);
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
  const { folder, why_not: whyNot, rules, tools, skipped } = await request("GET", "rules");
  Object.assign(state, { folder, whyNot, rules, tools });
  byId("folder").replaceChildren(safe(folder));
  byId("skipped").replaceChildren(...skipped.map((why) => safe(`Not loaded: ${why}`, "div")));
}

function showRules() {
  const chosen = isRule() ? `open ${state.name}` : `show ${state.tool}`;
  const choice = (label, value) => option(label, value, value === chosen);
  const labelOf = (name) => `${name}${draftOf(name) ? " (not saved)" : ""}`;
  const isFound = searched();
  const names = [...namesOfRules()].filter((name) => isFound(name, toolsOf(name)));
  const rules = names.map((name) => choice(labelOf(name), `open ${name}`));
  const tools = state.tools.filter((one) => one.rule === null && isFound(one.tool)).map(({ tool, count: returns, characters }) =>
    choice(`${tool}: ${counted(returns, "return")}, ${count(characters)} characters`, `show ${tool}`));
  const group = (label, options) => (options.length ? [make("optgroup", { label }, ...options)] : []);
  const isListed = [...rules, ...tools].some((one) => one.selected);
  const found = byId("filter").value ? `${count(rules.length + tools.length)} found` : "Choose a rule or a tool";
  const first = isListed ? [] : [option(found, "", true)];
  byId("rules").replaceChildren(...first, ...group("Rules", rules), ...group("Tools without a rule", tools));
}

const toolsOf = (name) => state.rules.find((rule) => rule.name === name)?.tools ?? [];

/** Return a function that tells whether the search for rules finds a name of a file or of one of its tools. */
function searched() {
  const word = byId("filter").value.trim().toLowerCase();
  return (name, tools = []) => [name, ...tools].some((one) => one.toLowerCase().includes(word));
}

/** Open the first rule or tool that the search finds. */
function openFound() {
  const first = [...byId("rules").options].find((one) => one.value);
  if (byId("filter").value && first) return chooseRule(first.value);
}

async function chooseRule(value) {
  if (!value) return;
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
  const none = { text: "", version: "", samples: [] };
  const disk = isOnDisk(name) ? await request("GET", "rule", { name }) : none;
  const draft = draftOf(name);
  Object.assign(state, { tool: "", name, saved: disk.text, version: disk.version, sample: null }, draft);
  editor.open(draft?.text ?? disk.text);
  const isOld = draft !== null && draft.version !== disk.version;
  notice(isOld ? `${name} changed on disk since you edited it. Saving shows both versions.` : "");
  shown();
  const tools = state.tools.filter((one) => one.rule === name).map((one) => one.tool);
  return showReturns({ tools, samples: disk.samples });
}

/** Show a rule that was opened or drafted. */
function shown() {
  localStorage.setItem(`reducer-last:${state.folder}`, state.name ?? "");
  showProblems([]);
  byId("tests").replaceChildren();
  showRules();
  showStatus();
  run();
}

async function newRule() {
  const entry = state.returns.find((one) => one.number === state.content);
  const tool = entry?.tool ?? (state.tool || prompt("Name of the tool that returned this sample:"));
  if (!tool) return;
  const { name, text, saves, ...sample } = await request("POST", "draft", { tool, content: contentOf() });
  const of = state.content;
  Object.assign(state, { tool: "", name, saved: "", version: "", sample: saves ? { ...sample, of } : null });
  editor.open(text);
  keepDraft();
  if (saves) want({ samples: [sample.sample_name] });
  shown();
  notice(saves
    ? `The draft saves ${(saves * 100).toFixed(0)}%. Read each step, and change what it should not remove. `
      + `Saving also writes ${sample.sample_name}, which is a real return: check it for confidential content.`
    : "Nothing is obvious to remove, so the rule has no steps yet. Click a value in the middle to add one.");
}

async function save() {
  if (state.whyNot || !isChanged()) return;
  const { name, version } = state;
  const { of, ...sample } = state.sample ?? {};
  const text = editor.text();
  try {
    const answer = await request("PUT", "rule", { name, text, version, ...sample });
    localStorage.removeItem(draftKey(name));
    await loadRules();
    if (state.name === name) Object.assign(state, { saved: text, version: answer.version, sample: null });
  } catch (error) {
    if (error.status !== 409) throw error;
    return compare(text, error);
  }
  keepDraft();
  notice("");
  showRules();
  showStatus("saved");
  check();
}

/** Ask which text to keep of a file that another program changed. */
function compare(mine, { text: theirs, version }) {
  const dialog = byId("conflict");
  showDifference(byId("mine"), byId("theirs"), [mine, theirs]);
  dialog.returnValue = "";
  dialog.onclose = tried(async () => {
    if (!dialog.returnValue) return;
    Object.assign(state, { saved: theirs, version });
    if (dialog.returnValue === "mine") return save();
    editor.replace(theirs);
  });
  dialog.showModal();
}

// --- the menu of a rule

/** Ask for a name that no rule has. */
function askName(question, proposed) {
  const name = prompt(question, proposed);
  if (name && namesOfRules().has(name)) throw new Error(`${name} exists already.`);
  return name;
}

async function renameRule() {
  const to = askName("New name of this rule:", state.name);
  if (!to) return;
  if (isChanged()) throw new Error("Save or discard your changes first.");
  await request("POST", "rename", { name: state.name, version: state.version, to });
  await loadRules();
  return openRule(to);
}

async function duplicateRule() {
  const to = askName("Name of the copy:", state.name.replace(/(\.ya?ml)$/, "_copy$1"));
  if (to) openDraft(to, editor.text());
}

async function deleteRule() {
  if (!confirm(`Delete ${state.name}? Its samples stay.`)) return;
  await request("POST", "delete", { name: state.name, version: state.version });
  localStorage.removeItem(draftKey(state.name));
  await loadRules();
  close();
}

/** Open a new rule that is not saved. */
function openDraft(name, text) {
  Object.assign(state, { tool: "", name, saved: "", version: "", sample: null });
  editor.open(text);
  keepDraft();
  shown();
}

async function exportRule() {
  const { name, content } = state;
  const isRecorded = typeof content === "number";
  download(name, editor.text(), isRecorded ? (await request("GET", "return", { number: content })).text : content);
}

/** Open the text of a file: an exported rule with its return, or a sample. */
function openText(text) {
  const bundle = readBundle(text);
  if (!bundle) {
    use(text);
    return showWhich(state.tool);
  }
  const isNew = !namesOfRules().has(bundle.name);
  openDraft(isNew ? bundle.name : bundle.name.replace(/(\.ya?ml)$/, `_${Date.now()}$1`), bundle.text);
  if (bundle.sample !== null) use(bundle.sample);
}

/** Say which rules apply to the return, by the name of its tool, if that is known or entered, or by its shape. */
async function whichRule() {
  const { content } = state;
  if (content === null) throw new Error("Choose, paste or drop a return first.");
  const entry = state.returns.find((one) => one.number === content);
  const tool = entry?.tool ?? (state.tool || prompt("Name of the tool, if you know it:"));
  if (tool !== null) return showWhich(tool);
}

async function showWhich(tool) {
  const { content } = state;
  const { rules } = await request("POST", "which", { tool, content: contentOf() });
  if (state.content !== content) return;
  notice(rules.length ? "These rules apply:" : "No rule applies to this return.");
  byId("notice").lastChild.before(...rules.map(ruleFound));
}

function ruleFound({ name, is_own: isOwn, by }) {
  const label = `${name} (by its ${by})`;
  if (!isOwn) return safe(`built-in ${label}`, "span");
  return button(label, tried(() => openRule(name)), { class: "link" });
}

async function discard() {
  localStorage.removeItem(draftKey(state.name));
  if (isOnDisk(state.name)) return openRule(state.name);
  close();
}

function showStatus(message = "") {
  for (const id of ["rename", "delete"]) byId(id).disabled = state.whyNot !== "" || !isOnDisk(state.name);
  for (const id of ["duplicate", "export"]) byId(id).disabled = !isRule();
  const isUnsaved = isChanged();
  byId("save").disabled = !isUnsaved || state.whyNot !== "";
  byId("discard").hidden = !isUnsaved;
  const texts = [isUnsaved ? "not saved" : message, state.whyNot && `read-only: ${state.whyNot}`];
  byId("status").textContent = texts.filter(Boolean).join("; ");
}

// --- returns and samples

/** List the returns of these tools and these samples, and show one of them unless the user's sample is shown. */
async function showReturns(wanted) {
  const isWanted = ({ tool }) => wanted.tools.includes(tool);
  const tools = state.tools.filter(isWanted);
  const returns = tools.flatMap(({ tool, returns: all }) => all.map((one) => ({ tool, ...one })));
  const longest = returns.reduce((found, one) => (one.characters > (found?.characters ?? -1) ? one : found), null);
  Object.assign(state, { wanted, returns });
  const { content, sampleName } = state;
  const isKept = typeof content === "string" ? !sampleName || wanted.samples.includes(sampleName)
    : returns.some((one) => one.number === content);
  if (!isKept) await chooseReturn(longest ? String(longest.number) : (wanted.samples[0] ?? ""));
  else showReturnList();
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
  use(isNumber ? Number(value) : value ? await readSample(value) : null, isNumber ? "" : value);
}

async function readSample(name) {
  const isUnsaved = state.sample?.sample_name === name;
  return isUnsaved ? state.sample.sample : (await request("GET", "rule", { name })).text;
}

/** Run the rule on a return, or on the text of a sample. */
function use(content, sampleName = "") {
  Object.assign(state, { content, sampleName });
  showReturnList();
  run();
}

// --- running the rule

const run = latest(RUN_DELAY, () => {
  const text = isRule() ? editor.text() : "";
  const off = isRule() ? editor.off() : [];
  return request("POST", "run", { name: state.name ?? "new.yaml", text, content: contentOf(), off });
}, showRun, fail);

function showRun({ problems, tools, did, tree }) {
  if (!isChecked()) check(); // now, so that it does not slow the result down
  const isBroken = isRule() && problems.some((problem) => problem.severity === "error");
  // What `check` found for the same text is more.
  if (isRule() && !isChecked()) showProblems(problems);
  if (isRule() && !isBroken) want({ tools });
  // While the rule has errors, the result of its last valid text stays.
  byId("result").closest("section").classList.toggle("old", isBroken);
  if (isBroken && state.before && state.shown === state.content) return;
  showTrees(tree, did !== null);
  byId("sizes").textContent = did ? sizes(did.characters) : "";
  const off = isRule() ? editor.off() : [];
  byId("facts").replaceChildren(...(did ? [...facts(did), ...factsOff(off)].map(item) : []));
  byId("steps").replaceChildren(...stepRows(did?.steps ?? [], off));
}

/** List the returns of other tools or other samples of the rule. */
function want(wanted) {
  const all = { ...state.wanted, ...wanted };
  if (JSON.stringify(all) !== JSON.stringify(state.wanted)) tried(showReturns)(all);
}

const EMPTY = {
  before: "Choose a rule or a tool at the top left, or paste or drop a sample here.",
  after: "The result of the rule appears here.",
};

function showTrees(tree, isRun) {
  const isSame = state.shown === state.content;
  Object.assign(state, { shown: state.content, root: tree?.node ?? null, places: isSame ? state.places : [] });
  for (const side of ["before", "after"]) {
    const label = side === "before" ? "Return" : "Result";
    const opened = isSame ? state[side]?.opened() : undefined;
    const isThere = tree && (side === "before" || isRun);
    state[side] = isThere ? createTree(tree, { sides: [side], label, opened }) : null;
    byId(side).replaceChildren(state[side]?.element ?? safe(EMPTY[side], "p", { class: "quiet" }));
  }
  if (!isSame) offerNothing();
  if (!isSame) byId("answers").replaceChildren();
  state.before?.mark(state.places);
  highlight();
}

/** Highlight the places of the path under the cursor. */
const highlight = latest(MARK_DELAY, async () => {
  if (!isRule() || !state.before) return [];
  const fields = { text: editor.text(), line: editor.line(), content: contentOf() };
  return (await request("POST", "places", fields)).places.map(keysOf);
}, (places) => {
  if (JSON.stringify(places) === JSON.stringify(state.places)) return;
  state.places = places;
  state.before?.mark(places);
  if (places[0]?.length) state.before?.reveal(places[0]);
}, fail);

/** Read the keys and indexes of a place, such as `hosts[3].name`. */
function keysOf(place) {
  const tokens = place === "@" ? [] : place.match(/"(?:[^"\\]|\\.)*"|\w+|\[\d+\]/g);
  return tokens.map((one) => (one[0] === "[" ? Number(one.slice(1, -1)) : one[0] === '"' ? JSON.parse(one) : one));
}

/** Offer steps for the value at these keys, until the text of the rule changes. */
async function offer(keys) {
  if (!isRule()) return;
  offerNothing();
  const old = editor.text();
  const fields = { text: old, keys, content: contentOf(), name: state.name, sample_name: fileOfReturn() };
  const { path, steps, test } = await request("POST", "steps", fields);
  if (editor.text() !== old) return;
  const buttons = steps.map(({ label, at, text }) =>
    button(label, () => editor.replace(text), { title: `${label} at ${at}` }));
  const title = "Add a test that the result contains this value";
  if (test) buttons.push(button("test that it stays", () => addTest(test), { title }));
  byId("offers").replaceChildren(safe(path, "code", { class: "one-line", title: path }), ...buttons);
}

/** Return the name of the file of the return, which may be saved with the rule, or an empty text. */
function fileOfReturn() {
  const { sample, content, sampleName } = state;
  return sample && (sample.of === content || sample.sample_name === sampleName) ? sample.sample_name : sampleName;
}

/** Add a test. The return becomes a sample that is saved with the rule, unless it is one already. */
function addTest({ text, ...sample }) {
  if (sample.sample && state.sample) return notice("Save this rule first: its other test starts from another return.");
  if (sample.sample) state.sample = { ...sample, of: state.content };
  editor.replace(text);
}

function offerNothing() {
  byId("offers").replaceChildren(make("span", { class: "quiet" }, "Click a value to add a step for it."));
}

/** Try an expression, and search the tree. */
async function ask() {
  const text = byId("ask").value.trim();
  if (!text || state.content === null) return byId("answers").replaceChildren();
  const rule = isRule() ? editor.text() : "";
  const answer = await find(text, { root: state.root, text: rule, content: contentOf() });
  byId("answers").replaceChildren(...resultItems(answer, (target, path) => {
    const keys = typeof target === "string" ? keysOf(target) : target;
    state.before?.mark([keys]);
    state.before?.reveal(keys);
    navigator.clipboard?.writeText(path).catch(() => {});
  }));
}

// --- results

function showProblems(problems) {
  editor.show(problems);
  byId("problems").replaceChildren(...problems.map(problemItem));
}

function problemItem(problem) {
  const { line, severity, message, help, fix } = problem;
  const go = button(`Line ${line}`, () => editor.goTo(line), { class: severity });
  const fixes = fix.length ? [" ", button("Fix", () => editor.fix(problem), { title: `Fix: ${help || message}` })] : [];
  const more = help ? [safe(help, "div", { class: "quiet" })] : [];
  return make("li", {}, go, " ", safe(message, "span"), ...fixes, ...more);
}

function sizes({ before, after, saved }) {
  return `${count(before)} → ${count(after)} characters, ${percent(saved)} saved`;
}

/** Return the rows of the steps that ran and of those that are switched off, in their order in the rule. */
function stepRows(steps, off) {
  const rows = steps.map((step, index) => [step.line ?? Infinity, stepRow(step, index)]);
  const rowsOff = off.map((line) => [line, rowOff(line)]);
  return [...rows, ...rowsOff].sort(([one], [other]) => one - other).map(([, row]) => row);
}

/** Return the row of a step that is switched off. */
function rowOff(line) {
  const go = button(`Line ${line}`, () => editor.goTo(line), { class: "link step" });
  const first = make("div", { class: "step-row" }, go, make("span", { class: "why" }, "switched off"), stepTools(line, false));
  const head = make("th", { scope: "row" }, first);
  return make("tr", {}, head, ...["", "", ""].map((none) => make("td", {}, none)));
}

/** Return the buttons that switch a step off or on and move it. */
function stepTools(line, isOn) {
  const tools = [button(isOn ? "off" : "on", () => switchStep(line), { "aria-label": `Switch step in line ${line}` })];
  const moves = { "↑": -1, "↓": 1 };
  for (const [label, by] of Object.entries(moves)) {
    const name = `Move the step in line ${line} ${by < 0 ? "up" : "down"}`;
    tools.push(button(label, tried(() => moveStep(line, by)), { "aria-label": name, title: name }));
  }
  return make("span", { class: "step-tools" }, ...tools);
}

/** Run the rule without a step, or with it again. The text stays as it is. */
function switchStep(line) {
  editor.switchOff(line);
  run();
}

async function moveStep(line, by) {
  const old = editor.text();
  const { text } = await request("POST", "move", { text: old, line, by });
  if (editor.text() === old) editor.replace(text);
}

function stepRow({ name, line, places, after, removed, ran, skipped, nothing }, index) {
  const idle = skipped ? "not applied, because a second pass would change the result" : "its `when` does not hold";
  const why = ran ? nothing?.message ?? "" : idle;
  const look = { class: `link one-line ${stepClass(index + 1)}`, title: name, disabled: line === null };
  const go = button(name, () => editor.goTo(line), look);
  const first = make("div", { class: "step-row" }, go, ...(line === null ? [] : [stepTools(line, true)]));
  const reasons = why ? [safe(why, "div", { class: "why" })] : [];
  const head = make("th", { scope: "row" }, first, ...reasons);
  const numbers = [places, removed, after].map((number) => make("td", { class: "number" }, count(number)));
  return make("tr", {}, head, ...numbers);
}

function factsOff({ length }) {
  return length ? [`${counted(length, "step")} switched off: saving keeps ${length === 1 ? "it" : "them"} on`] : [];
}

function facts({ status, why, restored, restorations, over, is_emptied: isEmptied, lost_entities: lost }) {
  const listed = (names) => names.slice(0, MAX_NAMES).join(", ") + (names.length > MAX_NAMES ? ", …" : "");
  const entities = `Lost ${counted(lost.length, "entity", "entities")}: ${listed(lost.map((one) => one.value))}`;
  return [
    status === "reduced" ? "" : `Not reduced: ${why}`,
    restored ? `Restored ${counted(restored, "character")} at ${listed(restorations.map((one) => one.path))}` : "",
    isEmptied ? "No value is left" : "",
    over ? `${counted(over, "character")} above max_chars` : "",
    lost.length ? entities : "No entity is lost",
  ].filter(Boolean);
}

const checkedOf = () => JSON.stringify([state.name, editor.text(), state.content, state.sampleName]);
const isChecked = () => state.checked === checkedOf();

const check = latest(CHECK_DELAY, async () => {
  if (!isRule()) return null;
  const { name } = state;
  const { of, ...sample } = state.sample ?? {};
  const checked = checkedOf();
  // A file of the rule is a sample anyway.
  const content = state.wanted.samples.includes(fileOfReturn()) ? null : contentOf();
  return { checked, ...await request("POST", "check", { name, text: editor.text(), content, ...sample }) };
}, (answer) => {
  if (!answer) return;
  state.checked = answer.checked;
  showProblems(answer.problems);
  if (answer.problems.some((problem) => problem.severity === "error")) return;
  const unsaved = state.sample ? [state.sample.sample_name] : [];
  want({ samples: [...new Set([...answer.samples, ...unsaved])] });
  const none = safe("This rule has no tests.", "li", { class: "quiet" });
  byId("tests").replaceChildren(...(answer.tests.length ? answer.tests.map(testItem) : [none]));
}, fail);

function testItem({ name, line, failures }) {
  const reasons = failures.map(({ message, expected, found, help }) =>
    [message, expected && `expected ${expected}`, found && `found ${found}`, help].filter(Boolean).join("; "));
  const status = make("strong", {}, failures.length ? "✗ failed: " : "✓ passed: ");
  const go = button(name, () => editor.goTo(line), { class: "link" });
  return make("li", { class: failures.length ? "failed" : "passed" }, status, go, make("ul", {}, ...reasons.map(item)));
}

// --- start

const editor = createEditor(byId("editor"), document.querySelector("meta[name=nonce]").content, {
  changed() {
    if (!isRule()) return;
    keepDraft();
    offerNothing();
    showStatus();
    run();
  },
  moved: () => highlight(),
  schema: () => (state.schema ??= request("GET", "schema")),
  root: () => state.root,
});

function showBusy(isBusy) {
  document.querySelector("main").setAttribute("aria-busy", isBusy);
  byId("busy").hidden = !isBusy;
}

function listen() {
  whenBusy(showBusy);
  const on = (id, event, action) => byId(id).addEventListener(event, tried(action));
  on("rules", "change", ({ target }) => chooseRule(target.value));
  on("filter", "input", async () => showRules());
  on("filter", "change", async () => openFound());
  on("new", "click", newRule);
  on("save", "click", save);
  on("discard", "click", discard);
  on("returns", "change", ({ target }) => chooseReturn(target.value));
  const menu = { rename: renameRule, duplicate: duplicateRule, delete: deleteRule, export: exportRule, which: whichRule };
  for (const [id, action] of Object.entries(menu)) {
    on(id, "click", async () => {
      byId("menu").open = false;
      return action();
    });
  }
  on("ask", "change", ask);
  on("paste", "click", async () => byId("sample").showModal());
  on("sample", "submit", async ({ submitter }) => submitter.value && openText(byId("sample-text").value));
  on("before", "choose", ({ detail }) => offer(detail));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", tried(async (event) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    event.stopPropagation(); // the editor would insert the file
    if (file.size > SAMPLE_BYTES) throw new Error("This file is larger than 16 MB.");
    openText(await file.text());
  }), true);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    tried(save)();
  });
}

async function start() {
  listen();
  editor.close();
  await loadRules();
  const names = namesOfRules();
  const last = localStorage.getItem(`reducer-last:${state.folder}`);
  const used = state.tools.find((tool) => tool.rule !== null)?.rule;
  const first = names.has(last) ? last : (used ?? [...names][0]);
  if (first) await openRule(first);
  else if (state.tools.length) await chooseRule(`show ${state.tools[0].tool}`);
  else shown();
}

tried(start)();
