// Heads made by hand: each does what a phrase says, or what the numbers of its matrices say. The
// engine makes the model and scores it; the page shows it as any other.

const handPhrases = [
  ["", "nothing"],
  ["previous word", "previous word"],
  ["first word", "first word"],
  ["same word", "same word"],
  ["what followed the same word", "what followed the same word"],
];
const handTasks = ["induction", "copy", "reverse", "sort", "majority", "brackets", "grammar"];

const hand = {
  app: null,
  text: null,         // the place of its task's text, if the page needed one
  model: null,        // its place among the models of the page
  edited: new Map(),  // "0.1": {phrase, rows, query, key, value} whose numbers were changed
  open: null,         // of the head whose numbers stand below
  busy: false,
};

const handPlaces = ["0.0", "0.1", "1.0", "1.1"];
const handId = (place) => `hand-${place.replace(".", "-")}`;

function handPart(app) {
  hand.app = app;
  const part = html(
    "details", {id: "hand", class: "live-part"},
    html("summary", {}, "Build heads by hand: you say what each one looks for"),
    html(
      "p", {class: "note"},
      "Nobody trains this model: you say what each head finds. The page turns this into the " +
        "matrices W_Q, W_K and W_V, runs them, and shows the model under Beside. Try “previous " +
        "word” in layer 0 and “what followed the same word” in layer 1: together they are an " +
        "induction head, which goes on with what followed a word before. Only " +
        "that last phrase says which word comes next. Compare the maps with those of a " +
        "learned model in the view All heads: its heads may have learned the same in other places."),
    html(
      "form", {id: "hand-form", novalidate: true}, handHeads(),
      html("label", {}, "Task that it is scored on ", handTaskList()), handSharpness(),
      html("button", {type: "submit", id: "hand-build"}, "Build")),
    html("p", {id: "hand-problem", class: "note", role: "status"}),
    html("div", {id: "hand-scores"}), html("div", {id: "hand-numbers"}));
  part.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    buildHand();
  });
  return part;
}

function handHeads() {
  const rows = [0, 1].map(
    (layer) => html(
      "fieldset", {class: "heads"}, html("legend", {}, `Layer ${layer}`),
      ...[0, 1].map((head) => handHead(`${layer}.${head}`))));
  return html("div", {class: "hand-heads"}, ...rows);
}

function handHead(place) {
  const select = html("select", {id: handId(place), "data-place": place});
  const presets = {"0.0": "previous word", "1.0": "what followed the same word"};
  setOptions(select, handPhrases, presets[place] ?? "");
  select.addEventListener("change", () => {
    hand.edited.delete(place);
    if (hand.open === place) closeNumbers();
    markEdited(place);
  });
  return html(
    "span", {class: "hand-head"}, html("label", {}, `Head ${place} finds: `, select),
    html(
      "button", {type: "button", id: `${handId(place)}-numbers`, click: () => openNumbers(place)},
      "Numbers"),
    html("span", {id: `${handId(place)}-edited`, class: "hit"}));
}

function handTaskList() {
  const select = html("select", {id: "hand-task"});
  setOptions(select, handTasks.map((name) => [name, name]), handTasks[0]);
  select.addEventListener("change", forgetNumbers);
  return select;
}

function handSharpness() {
  const shown = html("output", {
    id: "hand-sharpness-text", for: "hand-sharpness"
  }, "20");
  const range =
    html("input", {type: "range", id: "hand-sharpness", min: 0, max: 30, step: 0.5, value: 20});
  range.addEventListener("input", () => shown.textContent = range.value);
  range.addEventListener("change", forgetNumbers);
  return html(
    "span", {class: "slider"},
    html(
      "label",
      {for: "hand-sharpness"
      },
      "Sharpness"),
    range, shown,
    html(
      "small", {class: "note"},
      "By how much the score of what a head looks for is above the others: 0 gives all words " +
        "equal weights, 20 gives all the weight to what it looks for."));
}

const handPhrase = (place) => byId(handId(place)).value;
const sayHand = (text) => byId("hand-problem").textContent = text;

// Numbers that were edited are of a phrase, task and sharpness: others begin anew.
function forgetNumbers() {
  if (hand.edited.size > 0)
    sayHand("The numbers that you edited are those of their phrases again.");
  hand.edited.clear();
  closeNumbers();
  handPlaces.forEach(markEdited);
}

const markEdited = (place) => byId(`${handId(place)}-edited`).textContent =
  hand.edited.has(place) ? "edited" : "";

// ---- building
function handRequest() {
  const heads = handPlaces.filter(handPhrase).map((place) => {
    const [layer, head] = place.split(".").map(Number),
                  {query, key, value} = hand.edited.get(place) ?? {};
    return {layer, head, phrase: handPhrase(place), ...(query ? {query, key, value} : {})};
  });
  const task = byId("hand-task").value, sharpness = Number(byId("hand-sharpness").value);
  return {call: "hand", model: "hand", file: "/hand/hand.safetensors", task, sharpness, heads};
}

// The model that the scores stand beside: the chosen one, or the one that it stands beside.
function handRival() {
  const {model} = hand.app.scene, beside = Number(hand.app.state.beside ?? NaN);
  const found = [model, beside, ...live.names.keys()].find(
    (one) => one !== hand.model && live.canRun(one) && !live.names.get(one).untrained);
  return found ?? null;
}

async function buildHand() {
  if (hand.busy) return;
  hand.busy = true;
  const rival = handRival(), request = handRequest();
  try {
    if (rival !== null) request.beside = live.names.get(rival).name;
    const made = await live.engine.open(request, []);
    const isBeside = await showHand(made, rival);
    sayHand(
      `Built: ${made.words}. All views show it` +
      (isBeside ? ` as B, beside ${modelName(hand.app.source.models[rival])}.` : "."));
    byId("hand-scores").replaceChildren(handScores(made, rival, request.task));
  } catch (error) {
    sayHand(error.message);
  } finally {
    hand.busy = false;
  }
}

// Puts the model into the page, or in the place of the one built before, beside the rival. If it
// has not the words of the text shown, it stands alone with its task's own text. Resolves to
// whether it stands beside the rival.
async function showHand(made, rival) {
  const {app} = hand, {source, scene} = app, {text} = scene;
  const own = await recordHand(made.prompt);
  const about = {
    ...own.models[0],
    name: "made by hand",
    about: `${made.words}; ${made.description}`,
    kind: "learned",
  };
  if (hand.model === null) {
    hand.model = live.addModel(about, {name: "hand", sample: wordsIn(made.prompt)});
  } else {
    source.models[hand.model] = about;
    const as = {name: "hand", sample: wordsIn(made.prompt)};
    live.names.set(hand.model, as);  // a restart may have lost it
    source.forget({model: hand.model});
  }
  live.wanted.clear();
  const shown = await recordHand(source.texts[text].given).catch(() => null);
  const isSame = String(shown?.texts[0].words) === String(source.texts[text].words);
  if (!isSame) hand.text ??= source.texts.length;
  setHandRun(isSame ? shown : own, isSame ? text : hand.text);
  const isBeside = isSame && rival !== null && scene.model !== hand.model;
  app.set(
    isBeside ? {beside: hand.model} :
      isSame ? {model: hand.model} :
               {model: hand.model, beside: null, text: hand.text, query: null, key: null});
  return isBeside;
}

const recordHand = (given) =>
  live.engine.call({call: "record", models: [{model: "hand"}], texts: [given]});

function setHandRun(answer, text) {
  const {source} = hand.app, [run] = answer.runs;
  if (text === hand.text) {
    source.forget({text});
    source.texts[text] = answer.texts[0];
  }
  const block = new Block(new Uint8Array(answer.blocks[run.numbers]));
  source.setRun(hand.model, text, run, answer.words, block);
}

// ---- scores
function handScores(made, rival, task) {
  const rows = [["made by hand", made.hand]];
  if (made.beside) rows.push([modelName(hand.app.source.models[rival]), made.beside]);
  rows.push(["equal chances", made.chance]);
  const columns = [...(made.has_answers ? ["wholly right"] : []), "words right", "loss"];
  const share = (x) => html("td", {class: "number", "data-value": x}, `${(100 * x).toFixed(1)} %`);
  const row = ([name, {whole, right, loss}]) => html(
    "tr", {}, html("th", {scope: "row"}, short(name, 40)), made.has_answers ? share(whole) : null,
    share(right), html("td", {class: "number", "data-value": loss}, fixed(loss, 3)));
  const caption = `${made.texts} texts of ${task}, ${made.test_is}`;
  const note = made.beside_problem ?
    `${modelName(hand.app.source.models[rival])} is not scored: ${made.beside_problem}` :
    "Equal chances: what guessing blindly reaches. Loss: how surprised the model is by the right " +
      "word, in nats; lower is better.";
  return html(
    "div", {class: "scroll"},
    html(
      "table", {id: "hand-table"}, html("caption", {}, caption),
      html(
        "thead", {},
        html("tr", {}, ...["model", ...columns].map((name) => html("th", {scope: "col"}, name)))),
      html("tbody", {}, ...rows.map(row))),
    html("p", {class: "note"}, note));
}

live.parts.push(handPart);
