// In a page without the engine nothing is live (live.js, tape.js, reach_panel.js).

const live = {
  engine: null,
  watchers: [],
  parts: [],
  keys: [],
  canRun: () => false,
  wantBaselines() {},
};

const wireLive = () => {};
const wireTape = () => {};
const reachButtons = () => "";
