// What stands above the views: the choosers, the words of the text, the tabs.

function setOptions(select, options, value) {
  const text = JSON.stringify(options);
  if (select.dataset.options !== text) {
    select.dataset.options = text;
    select.replaceChildren(...options.map(optionElement));
  }
  select.value = value;
}

// A list of [value, text], or {group, options}.
function optionElement(given) {
  if (Array.isArray(given)) return html("option", {value: given[0], dir: "auto"}, given[1]);
  return html("optgroup", {label: given.group}, ...given.options.map(optionElement));
}

const countTo = (n) => Array.from({length: n}, (_, i) => [String(i), String(i)]);

function drawChoosers(scene) {
  const {models, texts} = scene.source, about = models[scene.model];
  const whole = models.map((model, i) => [String(i), modelName(model), model])
                  .filter(([, , model]) => model.kind !== "snapshot" && !model.isGone)
                  .map(([i, name]) => [i, name]);
  const shown = about.kind === "snapshot" ? about.of : scene.model;
  setOptions(byId("choose-model"), whole, String(shown));
  setOptions(
    byId("choose-text"), texts.map((text, i) => [String(i), textName(text)]), String(scene.text));
  setOptions(byId("choose-layer"), countTo(about.layers), String(scene.layer));
  setOptions(byId("choose-head"), countTo(about.heads), String(scene.head));
  setOptions(byId("choose-beside"), besideOptions(scene), scene.beside ? scene.state.beside : "");
  byId("about").textContent = modelText(about);
}

function besideOptions(scene) {
  const {models, texts} = scene.source;
  const named = models.map((model, i) => [String(i), modelName(model), model.kind])
                  .filter(([i]) => Number(i) !== scene.model && !models[i].isGone);
  const whole = named.filter(([, , kind]) => kind !== "snapshot").map(([i, name]) => [i, name]);
  const steps = named.filter(([, , kind]) => kind === "snapshot").map(([i, name]) => [i, name]);
  const others =
    texts.map((text, i) => [`text${i}`, textName(text)]).filter(([i]) => i !== `text${scene.text}`);
  return [
    ["", "nothing"],
    ...(whole.length ? [{group: "Another model", options: whole}] : []),
    ...(others.length ? [{group: "Another text", options: others}] : []),
    ...(steps.length ? [{group: "A step of training", options: steps}] : []),
  ];
}

function modelText(model) {
  const kinds = {
    untrained: "untrained: random weights, the same sizes",
    snapshot: `as it was after step ${grouped(model.step ?? 0)} of training`,
  };
  const about = model.about ? short(model.about, 200) : "";
  return [about, kinds[model.kind]].filter(Boolean).join(" · ");
}

// ---- the words of the text
function drawTokens(scene, app) {
  const root = byId("tokens"), key = JSON.stringify(scene.words);
  if (root.dataset.text !== key) {
    root.dataset.text = key;
    root.replaceChildren(...scene.words.map(
      (word, i) => html(
        "button", {type: "button", "data-position": i, tabindex: "-1"}, wordElement(word),
        html("small", {"aria-hidden": "true"}, String(i)))));
  }
  markTokens(scene);
  const unit = unitOf(scene), last = scene.length - 1;
  byId("tokens-help").textContent =
    `Choose the query, the ${unit} that looks. The bar under a ${unit} is the weight on it in ` +
    `layer ${scene.layer}, head ${scene.head}; the number is its position, as in @${last}.` +
    (scene.words.some((word) => word.includes("␣")) ? " ␣ is a space." : "");
}

// Marks the query, and draws its weights under the words.
function markTokens(scene) {
  const {run, layer, head, query} = scene, row = run ? run.row(layer, head, query) : null;
  byId("tokens").querySelectorAll("button").forEach((button, i) => {
    const isQuery = i === query;
    button.setAttribute("aria-pressed", String(isQuery));
    button.tabIndex = isQuery ? 0 : -1;
    button.style.setProperty("--weight", row ? String(row[i]) : "0");
    if (isQuery) bringIntoSight(byId("tokens"), button);
  });
}

// Scrolls a box so that an element in it is seen; unlike scrollIntoView it never moves the page.
// covered: so many pixels of the box, above and below, lie under rows that stay.
function bringIntoSight(box, element, covered = 0) {
  const [outer, inner] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
  const shift = (low, high, first, last) =>
    (low < first   ? low - first :
       high > last ? high - last :
                     0);
  box.scrollTop += shift(inner.top, inner.bottom, outer.top + covered, outer.bottom - covered);
  if (inner.width > outer.width) return;
  box.scrollLeft += shift(inner.left, inner.right, outer.left, outer.right);
}

function wireTokens(app) {
  const root = byId("tokens");
  const choose = (button) => app.set({query: button.dataset.position, key: null});
  const say = (event) => {
    const button = event.target.closest("button"), {run, layer, head, query} = app.scene;
    if (!button || !run) return;
    const j = Number(button.dataset.position);
    app.say(weightText(run, layer, head, query, j) + shortWhy(run, layer, head, query, j));
  };
  root.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) choose(button);
  });
  root.addEventListener("pointerover", say);
  makeRow(root, "button", choose);
}

// ---- tabs and choosers
function makeTabs(views, app) {
  const root = byId("tabs");
  for (const {id, name} of views) {
    root.append(html(
      "button", {
        type: "button",
        role: "tab",
        id: `tab-${id}`,
        "aria-controls": `panel-${id}`,
        "data-view": id
      },
      name));
    byId("panels").append(html(
      "div", {role: "tabpanel", id: `panel-${id}`, hidden: true, "aria-labelledby": `tab-${id}`}));
  }
  const choose = (tab) => app.set({view: tab.dataset.view});
  root.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab) choose(tab);
  });
  makeRow(root, "[role=tab]", choose);
}

function markTabs(scene) {
  for (const tab of byId("tabs").children) {
    const isChosen = tab.dataset.view === scene.view;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
    byId(`panel-${tab.dataset.view}`).hidden = !isChosen;
    if (isChosen) bringIntoSight(byId("tabs"), tab);
  }
}

function wireChoosers(app) {
  const on = (id, change) =>
    byId(id).addEventListener("change", (event) => app.set(change(event.target.value)));
  on("choose-model", (model) => ({model}));
  on("choose-text", (text) => ({text, query: null, key: null, window: null}));
  on("choose-beside", (beside) => ({beside: beside || null}));
  on("choose-layer", (layer) => ({layer, key: null}));
  on("choose-head", (head) => ({head, heads: null, key: null}));
}
