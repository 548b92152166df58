// The workbench: rules on the left, the return of a tool in the middle, and its result on the right.

import { latest, request } from "./api.js";
import { createEditor } from "./rule_editor.js";
import { addTooltip, appendText, createTree, make, stepClass } from "./tree.js";
import { keysOf, offers, pathsOf } from "./yaml_steps.js";

const RUN_DELAY = 20;
const CHECK_DELAY = 500;
const MAX_NAMES = 8;
const element = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en");
const counted = (value, noun, plural = `${noun}s`) => `${number(value)} ${value === 1 ? noun : plural}`;

const state = {
  folder: "", whyNot: "", rules: [], tools: [], schema: {},
  // The open rule: the text and version on disk, and the sample that is saved with a draft.
  name: null, saved: "", version: "", sample: null,
  // The return, as in the API: its number, or the text of a sample.
  content: null, returns: [], patterns: "", tree: null, paths: new Map(),
};

const editor = createEditor(element("editor"), document.querySelector("meta[name=nonce]").nonce || document.querySelector("meta[name=nonce]").content, {
  changed() {
    keepDraft();
    showStatus();
    run();
    check();
  },
  moved: () => highlight(),
  save: () => save(),
  schema: () => state.schema,
  paths: () => state.paths,
});

// --- drafts, which survive a reload

const draftKey = (name) => `reducer:${state.folder}:${name}`;
const isChanged = () => state.name !== null && editor.text() !== state.saved;

function keepDraft() {
  if (state.name === null) return;
  if (!isChanged()) return localStorage.removeItem(draftKey(state.name));
  const { version, sample } = state;
  try {
    localStorage.setItem(draftKey(state.name), JSON.stringify({ text: editor.text(), version, sample }));
  } catch {
    notice("The browser has no room for this draft: save it before you reload the page.");
  }
}

function draftOf(name) {
  return JSON.parse(localStorage.getItem(draftKey(name)) ?? "null");
}

function draftNames() {
  const prefix = draftKey("");
  return Object.keys(localStorage).filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
}

// --- rules

async function loadRules() {
  const { folder, why_not: whyNot, rules } = await request("GET", "rules");
  Object.assign(state, { folder, whyNot, rules });
  const { tools, skipped } = await request("GET", "tools");
  Object.assign(state, { tools });
  if (skipped.length) notice(skipped.join("\n"));
  element("folder").textContent = folder;
  showRules();
}

function showRules() {
  const names = state.rules.map((rule) => rule.name);
  const unsaved = draftNames().filter((name) => !names.includes(name));
  const missing = state.tools.filter((tool) => tool.rule === null);
  const option = (value, text) => make("option", { value, selected: value === `open ${state.name}` }, text);
  const groups = [
    ["Rules", names.map((name) => option(`open ${name}`, `${name}${draftOf(name) ? " •" : ""}`))],
    ["Not saved yet", unsaved.map((name) => option(`open ${name}`, `${name} •`))],
    ["Draft a rule for a tool without one", missing.map(({ tool, returns, characters }) =>
      option(`draft ${tool}`, `${tool}: ${counted(returns, "return")}, ${number(characters)} characters`))],
  ];
  element("rules").replaceChildren(...groups.filter(([, options]) => options.length).map(([label, options]) =>
    make("optgroup", { label }, ...options)));
  if (state.name === null) element("rules").prepend(make("option", { selected: true, value: "" }, "Choose a rule or a tool"));
}

async function openRule(name) {
  const isOnDisk = state.rules.some((rule) => rule.name === name);
  const { text, version } = isOnDisk ? await request("GET", "rule", { name }) : { text: "", version: "" };
  const draft = draftOf(name);
  Object.assign(state, { name, saved: text, version: draft?.version ?? version, sample: draft?.sample ?? null });
  editor.open(draft?.text ?? text);
  if (draft && draft.version !== version) notice(`${name} has changed on disk since you edited it. Save to compare the two.`);
  localStorage.setItem(draftKey("").slice(0, -1), name);
  shown();
}

function shown() {
  showRules();
  showStatus();
  element("tests").replaceChildren();
  run();
  check();
}

async function newRule(tool) {
  if (!tool) return notice("Choose a return, or paste a sample, to draft a rule for it.");
  const draft = await request("POST", "draft", { tool, content: state.content });
  Object.assign(state, { name: draft.name, saved: "", version: "" });
  state.sample = { sample_name: draft.sample_name, sample: draft.sample };
  editor.open(draft.text);
  keepDraft();
  const sample = draft.sample_name ? ` Saving also writes ${draft.sample_name}, a real answer: check it for confidential content.` : "";
  notice(`Drafted from this return. Read each step and change what it should not remove.${sample}`);
  shown();
}

async function save() {
  if (state.name === null || state.whyNot || !isChanged()) return showStatus();
  const text = editor.text();
  const { name, version } = state;
  try {
    const answer = await request("PUT", "rule", { name, text, version, ...state.sample });
    Object.assign(state, { saved: text, version: answer.version, sample: null });
    keepDraft();
    notice("");
    await loadRules();
    shown();
    showStatus("saved");
  } catch (error) {
    if (error.status === 409) resolveConflict(text, error);
    else fail(error);
  }
}

function resolveConflict(text, { text: theirs, version }) {
  const dialog = element("conflict");
  element("mine").value = text;
  element("theirs").value = theirs;
  dialog.returnValue = "";
  dialog.onclose = () => {
    if (!dialog.returnValue) return;
    Object.assign(state, { saved: theirs, version });
    if (dialog.returnValue === "theirs") editor.replace(theirs);
    keepDraft();
    showStatus();
    if (dialog.returnValue === "mine") save();
  };
  dialog.showModal();
}

function showStatus(text = "") {
  const isUnsaved = isChanged();
  element("save").disabled = !isUnsaved || Boolean(state.whyNot);
  element("save").title = state.whyNot || "Ctrl-S";
  element("discard").hidden = !isUnsaved;
  element("status").textContent = text || (state.whyNot ? `read-only: ${state.whyNot}` : isUnsaved ? "not saved" : "");
}

function notice(text) {
  element("notice").textContent = text;
  element("notice").hidden = !text;
}

function fail(error) {
  notice(error.message);
}

// --- returns

async function showReturns(patterns) {
  state.patterns = patterns.join("\n");
  const { returns } = await request("POST", "returns", { tools: patterns });
  state.returns = returns;
  const isShown = typeof state.content === "string" || returns.some((one) => one.number === state.content);
  if (!isShown) state.content = returns.length ? longest(returns).number : null;
  showReturnList();
  if (!isShown) run();
}

function longest(returns) {
  return returns.reduce((found, one) => (one.characters > found.characters ? one : found));
}

function showReturnList() {
  const options = state.returns.map(({ number: value, tool, call, file, characters }) =>
    make("option", { value, selected: value === state.content }, `${tool} ${call} · ${number(characters)} · ${file}`));
  if (typeof state.content === "string") options.unshift(make("option", { value: "sample", selected: true }, "your sample"));
  if (!options.length) options.push(make("option", { value: "" }, "no returns of this tool; paste a sample"));
  element("returns").replaceChildren(...options);
}

function choose(value) {
  if (value === "" || value === "sample") return;
  state.content = Number(value);
  run();
}

function move(by) {
  const at = state.returns.findIndex((one) => one.number === state.content);
  const next = state.returns[Math.min(Math.max(at + by, 0), state.returns.length - 1)];
  if (!next || next.number === state.content) return;
  state.content = next.number;
  showReturnList();
  run();
}

function useSample(text) {
  if (!text.trim()) return;
  state.content = text;
  element("sample").hidden = true;
  showReturnList();
  run();
}

// --- running the rule

const run = latest(RUN_DELAY, () => {
  if (state.content === null) return { problems: [], tools: null, did: null, tree: null };
  return request("POST", "run", { name: state.name ?? "new.yaml", text: state.name === null ? "" : editor.text(), content: state.content });
}, showRun, fail);

const check = latest(CHECK_DELAY, () => {
  if (state.name === null) return null;
  return request("POST", "check", { name: state.name, text: editor.text() });
}, showCheck, fail);

function showRun({ problems, tools, did, tree }) {
  const isBroken = problems.some((problem) => problem.severity === "error");
  if (state.name !== null) showProblems(problems);
  if (tools && state.name !== null && tools.join("\n") !== state.patterns) showReturns(tools).catch(fail);
  // While the rule has errors, the result of its last valid text stays.
  element("result").classList.toggle("old", isBroken && state.name !== null);
  if (did === null && isBroken && state.tree?.content === state.content) return;
  state.tree = tree && { ...tree, content: state.content };
  state.paths = tree ? pathsOf(tree.node) : new Map();
  showTrees(tree);
  element("did").replaceChildren(...(did ? effects(did) : []));
  element("sizes").textContent = did ? savings(did.characters) : "";
}

function showProblems(problems) {
  editor.show(problems);
  const lines = problems.map((problem) => {
    const go = make("button", { type: "button", className: problem.severity, onclick: () => editor.goTo(problem.line) }, `Line ${problem.line}`);
    return make("li", {}, go, ` ${problem.message}`);
  });
  element("problems").replaceChildren(...(lines.length ? [make("ul", {}, ...lines)] : []));
}

function savings({ before, after, saved }) {
  return `${number(before)} → ${number(after)} characters, ${((saved ?? 0) * 100).toFixed(1)}% saved`;
}

function effects(did) {
  const rows = did.steps.map((step) => {
    const { before, after } = step.characters;
    const missing = step.missing.map((one) => one.help).join("; ");
    const why = step.ran ? missing : "its `when` does not hold";
    const go = step.line ? { onclick: () => editor.goTo(step.line) } : { disabled: true };
    const name = make("button", { type: "button", className: `link step-${((step.number ?? did.steps.length) - 1) % 8}`, ...go }, step.name);
    const cells = [number(step.places), number(before - after), number(after)].map((text) => make("td", { className: "number" }, text));
    return make("tr", {}, make("th", { scope: "row" }, name, why ? make("div", { className: "why" }, why) : ""), ...cells);
  });
  const heads = ["Step", "Places", "Removed", "Left"].map((text) => make("th", { scope: "col", className: text === "Step" ? "" : "number" }, text));
  const lost = did.lost_entities;
  const facts = [
    did.why && did.status !== "reduced" ? `Unchanged: ${did.why}.` : "",
    did.restored ? `Restored ${number(did.restored)} characters: ${did.restorations.slice(0, MAX_NAMES).map((one) => one.path).join(", ")}.` : "",
    did.over ? `${number(did.over)} characters above max_chars.` : "",
    lost.length ? `Lost ${counted(lost.length, "entity", "entities")}: ${lost.slice(0, MAX_NAMES).map((one) => one.value).join(", ")}${lost.length > MAX_NAMES ? ", …" : ""}` : "No entities lost.",
  ].filter(Boolean);
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
  return [...(rows.length ? [table] : []), make("ul", { className: "facts" }, ...facts.map((text) => make("li", {}, text)))];
}

function showCheck(answer) {
  if (!answer) return;
  showProblems(answer.problems);
  const items = answer.tests.map(({ name, line, failures, before, after }) => {
    const isGreen = failures.length === 0;
    const sizes = before === undefined ? "" : ` ${number(before)} → ${number(after)}`;
    const go = make("button", { type: "button", className: "link", onclick: () => editor.goTo(line) }, name);
    const details = failures.map((one) => make("li", {}, [one.message, one.expected && `expected ${one.expected}`, one.found && `found ${one.found}`, one.help].filter(Boolean).join("; ")));
    return make("li", { className: isGreen ? "green" : "red" }, isGreen ? "✓ passed: " : "✗ failed: ", go, sizes, details.length ? make("ul", {}, ...details) : "");
  });
  const unsaved = state.sample?.sample_name ? "The test runs when the rule is saved: its sample is written too." : "This rule has no tests.";
  const list = items.length && !state.sample ? make("ul", {}, ...items) : make("p", {}, unsaved);
  element("tests").replaceChildren(make("h3", {}, "Tests"), list);
}
