// Which lines of two texts differ.

import { safe } from "./tree.js";

const MAX_CELLS = 4_000_000; // of the table that compares the lines in the middle

/** Show two texts in two elements, with the lines marked that the other one does not have at this place. */
export function showDifference(one, other, [mine, theirs]) {
  const [lines, others] = [mine.split("\n"), theirs.split("\n")];
  const [kept, keptOthers] = commonLines(lines, others);
  one.replaceChildren(...lines.map((line, at) => lineOf(line, kept.has(at))));
  other.replaceChildren(...others.map((line, at) => lineOf(line, keptOthers.has(at))));
}

const lineOf = (line, isCommon) => safe(line, isCommon ? "span" : "mark", { class: "line" });

/** Return the indices of the lines that both lists have in the same order. */
function commonLines(lines, others) {
  const [kept, keptOthers] = [new Set(), new Set()];
  const keep = (at, otherAt) => void (kept.add(at), keptOthers.add(otherAt));
  let [start, end, otherEnd] = [0, lines.length, others.length];
  while (start < Math.min(end, otherEnd) && lines[start] === others[start]) keep(start, start++);
  while (end > start && otherEnd > start && lines[end - 1] === others[otherEnd - 1]) keep(--end, --otherEnd);
  if ((end - start) * (otherEnd - start) > MAX_CELLS) return [kept, keptOthers];
  const longest = longestBelow(lines.slice(start, end), others.slice(start, otherEnd));
  let [at, otherAt] = [start, start];
  while (at < end && otherAt < otherEnd) {
    const length = (row, column) => longest[row - start][column - start];
    if (lines[at] === others[otherAt]) keep(at++, otherAt++);
    else if (length(at + 1, otherAt) >= length(at, otherAt + 1)) at++;
    else otherAt++;
  }
  return [kept, keptOthers];
}

/** Return the number of common lines from each pair of positions on. */
function longestBelow(lines, others) {
  const table = Array.from({ length: lines.length + 1 }, () => new Uint32Array(others.length + 1));
  for (let row = lines.length - 1; row >= 0; row--) {
    for (let column = others.length - 1; column >= 0; column--) {
      const isSame = lines[row] === others[column];
      const best = Math.max(table[row + 1][column], table[row][column + 1]);
      table[row][column] = isSame ? table[row + 1][column + 1] + 1 : best;
    }
  }
  return table;
}
