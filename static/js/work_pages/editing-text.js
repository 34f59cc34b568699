// Reading the answer for the eye: where citations stand, and marks behind the text field.
// What counts is the checklist, which the server computes with every save.
"use strict";

const BRACKETS = /\[([^[\]\n]{0,300})\]/g;
const SEPARATOR = /\s*(?:[,;&/]|\band\b)\s*/i;
const PIECE = /^(?:(?:(?:arguments?|args?\.?|no\.?)\s*)?#?(\d{1,4})(?:\s*[-–—]\s*(\d{1,4}))?)?\s*(generated(?: arguments?)?(?:\s*x? ?\d{1,2})?)?$/i;
const LONGEST_RANGE = 100;

// Start, end, cited numbers and whether something is marked as generated: the grammar of
// annotation/answers/methods/answer_text.py, and a test holds the two together.
function findCitations(text) {
  const found = [];
  for (const match of text.matchAll(BRACKETS)) {
    const read = readCitation(match[1]);
    if (read) found.push({ start: match.index, end: match.index + match[0].length, ...read });
  }
  return found;
}

function readCitation(inside) {
  const numbers = new Set();
  let isGenerated = false;
  const pieces = inside.trim().split(SEPARATOR).filter(Boolean);
  for (const piece of pieces) {
    const match = PIECE.exec(piece);
    if (!match) return null;
    isGenerated = isGenerated || match[3] !== undefined;
    if (match[1] === undefined) continue;
    const [low, high] = [Number(match[1]), Number(match[2] ?? match[1])];
    if (high < low || high - low >= LONGEST_RANGE) return null;
    for (let number = low; number <= high; number += 1) numbers.add(number);
  }
  return pieces.length ? { numbers: [...numbers], isGenerated } : null;
}

// A word as annotation/answers/methods/answer_text.py reads it, and what may follow a citation directly.
const WORD = /[\p{L}\p{N}_]+(?:['’.-][\p{L}\p{N}_]+)*/gu;
const MAY_FOLLOW = /^(?:$|[\s.,;:!?…)\]}'"’”»])/;

// Where a new citation goes and with which spaces: never into a word, one space before it and,
// unless punctuation follows, one after it.
function placeCitation(text, caret, number) {
  let at = caret;
  for (const { index, 0: word } of text.matchAll(WORD)) {
    if (index >= caret) break;
    if (caret < index + word.length) at = index + word.length;
  }
  const before = /(?:^|[\s([{])$/.test(text.slice(0, at)) ? "" : " ";
  const after = MAY_FOLLOW.test(text.slice(at)) ? "" : " ";
  return { at, inserted: `${before}[${number}]${after}` };
}

// The server counts characters, the browser counts an emoji as two.
function toUnits(text, places) {
  const units = [0];
  for (const character of text) units.push(units.at(-1) + character.length);
  return places.map(([start, end]) => [units[start] ?? text.length, units[end] ?? text.length]);
}

// A copy of the text behind the field, invisible but for its marks. Both stand in one grid cell
// with the same type, so the copy also makes the field as high as its text.
class Mirror {
  constructor(element) { this.element = element; }

  // Ranges are {start, end, kind, numbers}; they may overlap.
  paint(text, ranges) {
    const cuts = new Set([0, text.length]);
    for (const { start, end } of ranges) cuts.add(start).add(end);
    const places = [...cuts].sort((a, b) => a - b);
    const parts = places.slice(1).map((end, index) => this.#part(text, places[index], end, ranges));
    // The last line keeps its height though nothing stands on it.
    this.element.replaceChildren(...parts, document.createTextNode("​"));
  }

  #part(text, start, end, ranges) {
    const over = ranges.filter((range) => range.start <= start && range.end >= end);
    const content = text.slice(start, end);
    if (!over.length) return document.createTextNode(content);
    const mark = document.createElement("mark");
    mark.className = over.map((range) => range.kind).join(" ");
    mark.textContent = content;
    mark.dataset.start = start;
    const citation = over.find((range) => range.numbers);
    if (citation) mark.dataset.numbers = citation.numbers.join(" ");
    return mark;
  }

  // The citation under a pointer; the field lies above it and gets the events.
  at(x, y) {
    return document.elementsFromPoint(x, y)
      .find((element) => element.dataset.numbers && this.element.contains(element));
  }

  marks(selector) { return [...this.element.querySelectorAll(selector)]; }
}
