// Reaching into a model: parts are cut, weights held, places patched from another text. The changed
// model is one more of the page's; it stands beside the one it was made from, so that every view
// shows the difference.

const reaching = {
  of: null,  // the model that is changed, and the place of the changed one
  place: null,
  list: [],  // {kind: "cut", "held" or "patched", part as in "1.0:7>4", weight of what is held}
  from: "",  // the text that patches come from
  isChosen: false,  // whether a person wrote it
  former: null,     // what stood beside before the first change
  newest: null,     // the change that was made last; it goes if the engine refuses it
  busy: false,
  again: false,
};

// The model without changes: that of the page, or the one behind the changed one.
const baseOf = (scene) => live.names.get(scene.model)?.base ?? scene.model;

// Why nothing can be changed now, or "".
function reachObstacle(scene) {
  const base = baseOf(scene), about = scene.source.models[base];
  if (!live.canRun(base)) return `The engine has no weights of ${modelName(about)}.`;
  if (about.single_head) return "A single head has no parts to cut: choose another model.";
  if (!scene.run) return "The engine has not read this text yet.";
  if (reaching.list.length === 0 || base === reaching.of) return "";
  return `The changes are made to ${
           modelName(scene.source.models[reaching.of])}. Take them back to ` +
    "change another model.";
}

// ---- what the engine is asked for
const positionsIn = (part) => [...part.matchAll(/[:>@](\d+)/g)].map(([, at]) => Number(at));
const fits = ({part}, text) => positionsIn(part).every((at) => at < text.words.length);

// The changes, of those that a text has the positions for.
function changesFor(text) {
  const of = (kind) => reaching.list.filter((one) => one.kind === kind && fits(one, text));
  const patched = of("patched").map(({part}) => part);
  return {
    cut: of("cut").map(({part}) => part),
    held: of("held").map(({part, weight}) => ({link: part, weight})),
    patched,
    ...(patched.length > 0 ? {from: reaching.from} : {}),
  };
}

function changeText({kind, part, weight}) {
  if (kind === "held") return `${partText(part)} held at ${fixed(weight, 2)}`;
  return kind === "cut" ? `${partText(part)} cut` : `${partText(part)} patched`;
}

// "1.0:7>4" in words.
function partText(part) {
  const [layer, rest] = part.split("."), [before, at] = part.split("@");
  if (part.startsWith("@")) return `position ${at}`;
  if (at) return `residual stream before layer ${before} at position ${at}`;
  if (rest === "attention") return `attention of layer ${layer}`;
  if (rest === "mlp") return `feed-forward of layer ${layer}`;
  const [head, link] = rest.split(":");
  return link ? `link ${layer}.${head}: ${link.replace(">", " → ")}` : `head ${layer}.${head}`;
}

function changedModel({models}) {
  const base = models[reaching.of], [first] = reaching.list, start = short(modelName(base), 18);
  const one = first.kind === "cut" ? `without ${first.part}` : `with ${first.part} ${first.kind}`;
  const what = reaching.list.length === 1 ? one : `with ${reaching.list.length} changes`;
  return {
    ...base,
    name: `${start} ${what}`,
    about: `${modelName(base)}; ${reaching.list.map(changeText).join(", ")}`
  };
}

// ---- changing
// Adds a change, or changes the weight of one that is there.
function addChange(app, change) {
  const {scene} = app, problem = reachObstacle(scene);
  if (problem) return sayReach(problem);
  const same = reaching.list.find(({kind, part}) => kind === change.kind && part === change.part);
  if (same && same.kind !== "held") return sayReach(`${changeText(same)}: this is so already.`);
  if (reaching.list.length === 0) {
    reaching.of = baseOf(scene);
    reaching.former = app.state.beside ?? null;
  }
  if (same) {
    same.weight = change.weight;
  } else {
    // A link is cut or held, not both.
    if (change.kind !== "patched") {
      reaching.list =
        reaching.list.filter(({kind, part}) => part !== change.part || kind === "patched");
    }
    reaching.list.push(reaching.newest = change);
  }
  return applyChanges(app);
}

function takeBack(app, change) {
  reaching.list = change ? reaching.list.filter((one) => one !== change) : [];
  return applyChanges(app);
}

// While the engine reads with some changes, only the newest of those made meanwhile wait.
async function applyChanges(app) {
  drawChanges(app);
  reaching.again = true;
  if (reaching.busy) return;
  reaching.busy = true;
  let problem = "";
  try {
    while (reaching.again) {
      reaching.again = false;
      if (reaching.list.length > 0)
        problem = await showChanged(app) || problem;
      else
        forgetChanged(app);
    }
    sayReach(problem);
  } finally {
    reaching.busy = false;
  }
}

async function showChanged(app) {
  const {source} = app, as = {
    ...live.names.get(reaching.of),
    base: reaching.of,
    changes: changesFor
  };
  if (reaching.place === null) {
    reaching.place = live.addModel(changedModel(source), as);
  } else {
    source.models[reaching.place] = changedModel(source);
    live.names.set(reaching.place, as);
  }
  forgetRuns(source);
  const problem = await readChanged(app.scene.text);
  if (problem && reaching.newest) {
    reaching.list = reaching.list.filter((one) => one !== reaching.newest);
    reaching.again = true;
    drawChanges(app);
  }
  reaching.newest = null;
  if (!reaching.again) app.set({model: reaching.of, beside: reaching.place});
  return problem;
}

// The changed model reads a text of the page. Resolves to what was wrong, or "".
async function readChanged(text) {
  if (reaching.list.length === 0) return "";
  let problem = "";
  try {
    await live.record([reaching.place], live.app.source.texts[text].given, text);
  } catch (error) {
    problem = error.message;
    live.wanted.set(`${reaching.place}.${text}`, problem);
  }
  sayReach(problem);
  drawChanges(live.app);
  return problem;
}

function forgetRuns(source) {
  source.forget({model: reaching.place});
  for (const key of [...live.wanted.keys()]) {
    if (key.startsWith(`${reaching.place}.`)) live.wanted.delete(key);
  }
}

function forgetChanged(app) {
  if (reaching.place === null) return;
  forgetRuns(app.source);
  live.names.delete(reaching.place);
  app.source.models[reaching.place] = {...app.source.models[reaching.place], isGone: true};
  app.set({model: reaching.of, beside: reaching.former});
}
