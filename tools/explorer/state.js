// What the page shows is written in its address (#view=map&layer=1), so that a finding can be
// passed on. Whatever an address says is checked: unknown names and impossible values are ignored.

const viewNames = ["heads", "all", "map", "why", "next", "lens", "scores"];

const number = /^\d{1,6}$/;
const forms = {
  // what a value may look like
  view: {test: (text) => viewNames.includes(text)},
  model: number,
  text: number,
  layer: number,
  head: number,
  heads: /^\d{1,6}(,\d{1,6}){0,63}$/,  // of the head view
  query: number,
  key: number,
  beside: /^(\d{1,6}|text\d{1,6})$/,            // a model, or the same model with another text
  window: /^\d{1,6}-\d{1,6},\d{1,6}-\d{1,6}$/,  // queries, keys
  pattern: number,
  colours: /^largest$/,
  sort: /^-?[a-z0-9]{1,12}$/,
};

function parseState(hash) {
  const state = {};
  for (const part of hash.replace(/^#/, "").slice(0, 2000).split("&")) {
    const [name, value = ""] = part.split("=");
    if (Object.hasOwn(forms, name) && forms[name].test(value)) state[name] = value;
  }
  return state;
}

function printState(state) {
  return "#" +
    Object.keys(forms)
      .filter((name) => state[name] !== undefined && state[name] !== null)
      .map((name) => `${name}=${state[name]}`)
      .join("&");
}

// Writes the state into the address. Browsers refuse many changes within a second (a slider makes
// them), so all but the first wait a little.
const address = {
  timer: 0,
  last: 0,
  waiting: null,

  write(state, isNewView) {
    const text = printState(state);
    if (isNewView) {
      this.flush();
      if (text !== location.hash) history.pushState(null, "", text);
      return;
    }
    this.waiting = text;
    const wait = this.last + 200 - performance.now();
    if (wait <= 0)
      this.flush();
    else if (!this.timer)
      this.timer = setTimeout(() => this.flush(), wait);
  },

  flush() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.waiting !== null && this.waiting !== location.hash) {
      history.replaceState(null, "", this.waiting);
    }
    this.waiting = null;
    this.last = performance.now();
  },
};
