// Submissions on their way: kept in this browser from the press until the server has answered, and
// sent again by themselves, from the page of another sheet as well.
"use strict";

// After these a submission waits; whatever else the server says ends it.
const WAITING = ["again", "signed_out", "forbidden"];

class Submissions {
  constructor(prefix, sheet) {
    Object.assign(this, { prefix: `${prefix}submission:`, sheet });
  }

  get own() { return this.#read(this.prefix + this.sheet); }

  put(entry) {
    try {
      localStorage.setItem(this.prefix + this.sheet, JSON.stringify(entry));
    } catch { /* then it waits on this page alone */ }
  }

  drop(sheet = this.sheet) {
    try {
      localStorage.removeItem(this.prefix + sheet);
    } catch { /* nothing was stored there */ }
  }

  // What other pages of this kind left, as [sheet, entry].
  others() {
    try {
      return Object.keys(localStorage).filter((name) => name.startsWith(this.prefix))
        .map((name) => [name.slice(this.prefix.length), this.#read(name)])
        .filter(([sheet, entry]) => entry && sheet !== this.sheet);
    } catch {
      return [];
    }
  }

  #read(name) {
    try {
      return JSON.parse(localStorage.getItem(name));
    } catch {
      return null;
    }
  }
}
