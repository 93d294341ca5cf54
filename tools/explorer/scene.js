// A scene is what a view draws: the state, checked against what the source has.

const exactSize = 64;  // longer texts are pooled, and shown exactly in windows of this size

function asIndex(text, count, otherwise) {
  const index = text === undefined || text === null ? NaN : Number(text);
  return Number.isInteger(index) && index >= 0 && index < count ? index : otherwise;
}

function makeScene(source, state, paint) {
  const model = asIndex(state.model, source.models.length, 0);
  const text = asIndex(state.text, source.texts.length, 0);
  const run = source.run(model, text), about = source.models[model];
  const layer = asIndex(state.layer, about.layers, 0), head = asIndex(state.head, about.heads, 0);
  const view = state.view ?? "heads";
  const scene = {source, view, paint, model, text, run, layer, head, state};
  scene.words = run ? run.words : source.texts[text].words;  // models may split it differently
  scene.length = scene.words.length;
  scene.query = asIndex(state.query, scene.length, scene.length - 1);
  scene.heads = chosenHeads(state, about, head);
  scene.range = chosenRange(state, scene);
  scene.beside = run ? chosenBeside(scene) : null;
  scene.key = asIndex(state.key, scene.length, 0);
  if (run && asIndex(state.key, scene.length, -1) < 0) {
    scene.key = strongest(run.row(layer, head, scene.query));
  }
  return scene;
}

// The heads of the head view: those in the address, or the chosen one.
function chosenHeads(state, model, head) {
  const heads = (state.heads ?? "")
                  .split(",")
                  .filter((text) => text !== "")
                  .map(Number)
                  .filter((h) => h < model.heads);
  return heads.length > 0 ? [...new Set(heads)].sort((a, b) => a - b) : [head];
}

// The part of the text that is shown exactly: queries first..last and keys first..last.
function chosenRange(state, scene) {
  const n = scene.length, first = Math.max(0, scene.query - exactSize + 1);
  const parts = (state.window ?? "").split(",").map((part) => part.split("-").map(Number));
  const isGood = ([a, b]) => a <= b && b < n;
  const cut = ([a, b]) => [a, Math.min(b, a + exactSize - 1)];
  if (n <= exactSize) return {isPart: false, queries: [0, n - 1], keys: [0, n - 1]};
  if (parts.length === 2 && parts.every(isGood)) {
    return {isPart: true, queries: cut(parts[0]), keys: cut(parts[1])};
  }
  const around = [first, first + exactSize - 1];  // those that end with the query
  return {isPart: true, queries: around, keys: around};
}

// What stands beside: {run, name, isSameLength, sameWords}, or {problem}, or null.
function chosenBeside(scene) {
  const given = scene.state.beside ?? "", isText = given.startsWith("text");
  const index = asIndex(
    given.replace("text", "") || undefined,
    isText ? scene.source.texts.length : scene.source.models.length, -1);
  const same = isText ? scene.text : scene.model;
  if (index < 0 || index === same) return null;
  const model = isText ? scene.model : index, text = isText ? index : scene.text;
  const run = scene.source.run(model, text);
  const name =
    isText ? textInQuotes(scene.source.texts[text]) : modelName(scene.source.models[model]);
  if (!run) {
    const isComing = live.canRun(model);
    return {
      name,
      problem: isComing ? live.want(model, text) :
                          `This page holds no numbers of ${name} for this text.`
    };
  }
  return {
    run,
    name,
    isSameLength: run.length === scene.length,
    sameWords: text === scene.text,
  };
}

// What to change so that `run` is the one shown: nothing, or it changes places with the one beside.
function asShown({beside, state, model, text}, run) {
  if (run !== beside?.run) return {};
  return beside.sameWords ? {model: state.beside, beside: model} :
                            {text: state.beside.slice(4), beside: `text${text}`};
}

function modelName(model) {
  const name = short(model.name, 40);
  return model.kind === "snapshot" ? `step ${grouped(model.step)}` : name;
}

const textInQuotes = (text) => `the text “${textName(text)}”`;

// What A is: the model, or the text if another text stands beside.
const shownName = ({source, beside, run, text}) =>
  (beside.sameWords ?? true) ? modelName(run.model) : textInQuotes(source.texts[text]);

const textName = (text) => short(text.given || text.words.join(" "), 60);

// Why there is no difference between the two runs, or "".
function noDifference(scene, layer = scene.layer, head = scene.head) {
  const {run, name, isSameLength} = scene.beside;
  if (!run.has(layer, head)) {
    return `There is no layer ${layer}, head ${head} in ${name}.`;
  }
  return isSameLength ? "" : "The two texts differ in length, so there is no difference to show.";
}

// What a position holds: a word, character or token.
const unitOf = (scene) => (scene.run?.model.unit ?? "words").replace(/s$/, "");

// "query cat@2 -> key the@1: weight 0.1234"
function weightText(run, layer, head, i, j) {
  const start = `query ${place(run, i)} -> key ${place(run, j)}: `;
  if (!run.sees(layer, i, j)) return start + "masked, weight 0" + whyMasked(run, i, j);
  return start + `weight ${four(run.weight(layer, head, i, j))}`;
}

function whyMasked(run, i, j) {
  return run.model.causal && j > i ? " (this model sees no later words)" :
                                     " (outside of the layer's window)";
}

// The short version of the arithmetic, for a hover.
function shortWhy(run, layer, head, i, j) {
  const {seen, sum, score} = scoreSteps(run, layer, head, i, j);
  if (!seen) return "";
  return `; q · k = ${four(sum)}, score ${four(score)}`;
}
