// The page: one state, one scene made from it, and everything drawn from the scene.

const views = [headsView, allView, mapView, whyView, nextView, lensView, scoresView];

const app = {
  source: null,
  state: {},
  scene: null,

  // Changes the state and draws everything anew. null takes a value back to its default.
  set(changes, {focus} = {}) {
    const isNewView = changes.view !== undefined && changes.view !== this.scene?.view;
    const again = focus ?? focusedPart();
    this.change(changes);
    // What was pointed at is gone.
    if (isNewView) this.say("");
    this.draw();
    address.write(this.state, isNewView);
    if (again === null) return;
    const target = isNewView && !focus ? null : document.querySelector(again);
    (target ?? byId(`tab-${this.scene.view}`)).focus();
  },

  // Changes the query and key while the view stays as it is: a cell that has the focus keeps it.
  note(changes) {
    this.change(changes);
    this.scene = {...makeScene(this.source, this.state, this.scene.paint), app: this};
    if (this.scene.run) markTokens(this.scene);
    live.watchers.forEach((watch) => watch(this.scene));
    address.write(this.state, false);
  },

  change(changes) {
    for (const [name, value] of Object.entries(changes)) {
      if (value === null)
        delete this.state[name];
      else if (forms[name]?.test(String(value)))
        this.state[name] = String(value);
    }
  },

  draw() {
    try {
      this.scene = {...makeScene(this.source, this.state, currentPaint()), app: this};
      drawPage(this.scene, this);
      showProblem("");
    } catch (error) {
      for (const panel of byId("panels").children) panel.replaceChildren();
      const isDamage = error instanceof Damaged;
      showProblem(isDamage ? error.message : `The page cannot draw this: ${error.message}.`);
      if (!isDamage) throw error;
    }
  },

  // What is pointed at, in words.
  say(text) {
    byId("status").textContent = text;
  },
};

// What is drawn anew loses the focus. This finds the element in its place: by its id, or as a cell.
// null if the focus is elsewhere.
function focusedPart() {
  const element = document.activeElement, at = positionOf(element);
  if (!byId("view").contains(element)) return null;
  const cell = at ? `[data-row="${at[0]}"][data-column="${at[1]}"]` : "";
  return element.id ? `#${element.id}` : cell ? `#panels ${cell}` : "#no-such-part";
}

const currentPaint = () =>
  matchMedia("(prefers-color-scheme: dark)").matches ? paints.dark : paints.light;

function showProblem(text) {
  byId("problem").textContent = text;
  byId("problem").hidden = text === "";
}

function drawPage(scene, app) {
  drawChoosers(scene);
  drawTokens(scene, app);
  markTabs(scene);
  drawTraining(scene, app);
  drawWindow(scene, app);
  live.watchers.forEach((watch) => watch(scene));
  const view = views.find(({id}) => id === scene.view), panel = byId(`panel-${view.id}`);
  const empty = emptyText(scene, view);
  byId("save-svg").disabled = byId("save-csv").disabled = empty !== "";
  byId("shown").textContent = shownText(scene);
  for (const one of byId("panels").children) one.replaceChildren();
  if (empty) return panel.append(html("p", {class: "empty"}, empty));
  panel.append(html("p", {class: "intro"}, view.intro(scene)));
  view.draw(scene, panel, app);
}

// Why there is nothing to show, or "".
function emptyText(scene, view) {
  if (!scene.run) {
    if (live.canRun(scene.model)) return live.want(scene.model, scene.text);
    return `This page holds no numbers of ${
             modelName(scene.source.models[scene.model])} for this ` +
      "text. Choose another text or model.";
  }
  return view.empty?.(scene) ?? "";
}

function shownText(scene) {
  const {models} = scene.source, about = models[scene.model];
  const of = about.kind === "snapshot" ? `${modelName(models[about.of])}, ` : "";
  const name = of + modelName(about);
  return ["next", "lens", "scores", "all"].includes(scene.view) ?
    name :
    `${name} · layer ${scene.layer} · head ${scene.head}`;
}

// ---- saving
function wireSaving(app) {
  const viewNow = () => views.find(({id}) => id === app.scene.view);
  byId("save-svg").addEventListener("click", () => {
    const scene = {...app.scene, paint: paints.light};
    const text = `${shownText(scene)} · ${textName(scene.source.texts[scene.text])}`;
    const element = captioned(viewNow().picture(scene), text, scene.paint);
    download(fileName(scene, "svg"), "image/svg+xml", svgFile(element));
    app.say(`Saved ${fileName(app.scene, "svg")}.`);
  });
  byId("save-csv").addEventListener("click", () => {
    download(fileName(app.scene, "csv"), "text/csv", csvFile(viewNow().numbers(app.scene)));
    app.say(`Saved ${fileName(app.scene, "csv")}.`);
  });
}

// ---- keys
const keyList = [
  ["Tab", "to the next control, table or picture"],
  ["Arrow keys", "within the tabs, the words, a map, a table of heads"],
  ["Home, End", "to the first and the last of a row; with Ctrl, of all"],
  ["Enter", "open what is chosen: a head's map, a weight's arithmetic"],
  ["1 to 7", "the views from Heads to Scores"],
  ["[ and ]", "the layer before, the layer after"],
  [", and .", "the head before, the head after"],
  ["- and +", "the step of training before, the step after"],
  ["?", "this list"],
];

function showKeys() {
  const dialog = byId("keys"), list = html("dl", {});
  for (const [key, text] of [...keyList, ...live.keys])
    list.append(html("dt", {}, html("kbd", {}, key)), html("dd", {}, text));
  const close = html("button", {type: "button", click: () => dialog.close()}, "Close");
  const made = `Made by ${short(app.source.program ?? "tapestry", 60)}. The page holds all its ` +
    "numbers and connects to no other machine.";
  dialog.replaceChildren(
    html("h2", {id: "keys-title"}, "Keyboard"), list, html("p", {class: "note"}, made), close);
  if (!dialog.open) dialog.showModal();
}

function onKey(event) {
  const isTyping =
    /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
  if (isTyping && event.key !== "?") return;
  if (event.ctrlKey || event.altKey || event.metaKey || byId("keys").open || !app.scene) return;
  const {layer, head, source, model} = app.scene, {layers, heads} = source.models[model];
  const turn = (name, to, count) => app.set({[name]: (to + count) % count, heads: null, key: null});
  const stepBy = (by) => goToStep(app, Number(byId("step").value) + by);
  const actions = {
    "?": showKeys,
    "[": () => turn("layer", layer - 1, layers),
    "]": () => turn("layer", layer + 1, layers),
    ",": () => turn("head", head - 1, heads),
    ".": () => turn("head", head + 1, heads),
    "-": () => stepBy(-1),
    "+": () => stepBy(1),
  };
  views.forEach((view, i) => {
    actions[i + 1] = () => app.set({view: view.id}, {focus: `#tab-${view.id}`});
  });
  if (!Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  actions[event.key]();
}

// ---- the start
function start() {
  byId("starting").hidden = true;
  try {
    app.source = readRecording();
  } catch (error) {
    showProblem(error.message);
    return location.hash === "#self-test" ? report(`self-test failed: ${error.message}`) : null;
  }
  document.title = `${modelName(app.source.models[0])} · Tapestry explorer`;
  byId("app").hidden = byId("show-keys").hidden = false;
  makeTabs(views, app);
  wireChoosers(app);
  wireTokens(app);
  wireTraining(app);
  wireSaving(app);
  wireLive(app);
  wireTape(app);
  byId("show-keys").addEventListener("click", showKeys);
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("view").focus();
  });
  document.addEventListener("keydown", onKey);
  addEventListener("error", onError);
  addEventListener("hashchange", readAddress);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app.draw());
  redrawOnResize();
  readAddress();
}

// Numbers that are needed first when something is pointed at may turn out to be damaged.
function onError(event) {
  if (!(event.error instanceof Damaged)) return;
  event.preventDefault();
  showProblem(event.error.message);
}

// Only for another width: a telephone changes the height whenever its own bars come and go.
function redrawOnResize() {
  let timer = 0, width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(timer);
    timer = setTimeout(() => app.draw(), 150);
  });
}

function readAddress() {
  if (location.hash === "#self-test") {
    app.draw();
    return selfTest(app);
  }
  app.state = parseState(location.hash);
  app.draw();
}

document.addEventListener("DOMContentLoaded", start);
