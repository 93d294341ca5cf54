// Texts that the model writes, word after word, and how temperature, top-k and top-p change what it
// may draw.

const writing = {
  isOn: false,
  last: Promise.resolve(),  // the engine holds one text: who asks for it waits for the others
  begun: "",                // of that text: model and words
  timer: 0,
  slow: 0,  // ms of the latest drawing of all views
};

// The engine's text is asked one after the other.
function inTurn(ask) {
  const next = writing.last.then(ask);
  writing.last = next.catch(() => {});
  return next;
}

const drawnWith = () => {
  const temperature = Number(byId("temperature").value), isGreedy = temperature === 0;
  return {
    temperature,
    top_k: isGreedy ? 0 : Number(byId("top-k").value),
    top_p: isGreedy ? 1 : Number(byId("top-p").value),
  };
};

function writer(app) {
  const base = baseOf(app.scene), as = live.names.get(base);
  if (!live.canRun(base)) throw new EngineError("The engine has no weights of the chosen model.");
  if (as.untrained) throw new EngineError("An untrained model writes nothing: choose another one.");
  return as.name;
}

const writtenText = (app) => byId("typed").value.trim() === "" ?
  app.source.texts[app.scene.text].given ?? "" :
  byId("typed").value;

const sayWriting = (text) => byId("writing-problem").textContent = text;

// ---- the bars
// What may follow the text, with what the sliders say; nothing is written.
async function preview(app) {
  if (writing.isOn || !byId("writing").open) return;
  try {
    const model = writer(app), text = writtenText(app), key = JSON.stringify([model, text]);
    const {words} = await inTurn(async () => {
      if (writing.begun !== key) {
        writing.begun = "";
        await live.engine.call({call: "write", model, text});
        writing.begun = key;
      }
      return live.engine.call({call: "next", model, ...drawnWith()});
    });
    if (writing.isOn || text !== writtenText(app)) return;
    drawBars(words, null);
    sayWriting("");
  } catch (error) {
    if (!writing.isOn) sayWriting(error.message);
  }
}

function drawBars(words, chosen) {
  const rows = words.map(({word, own, drawn}) => {
    const row = [
      {text: short(word), element: guessElement(word, chosen)},
      {text: four(own), value: own, bar: own}, {text: four(drawn), value: drawn, bar: drawn}
    ];
    return row;
  });
  byId("bars").replaceChildren(tableElement({
    title: chosen === null ? "What may come next" : "The latest word (✓) among the ten likeliest",
    columns: ["word", "model's own", "as drawn"],
    rows,
    hasNames: true
  }));
}

// ---- writing
async function write(app) {
  if (writing.isOn) return stopWriting();
  const most = Math.min(1000, Math.max(1, Math.floor(Number(byId("most-words").value) || 20)));
  const seed = Math.min(2 ** 31, Math.max(0, Math.floor(Number(byId("seed").value) || 0)));
  setWriting(true);
  sayWriting("");
  byId("written").replaceChildren();
  try {
    const model = writer(app), text = writtenText(app);
    byId("typed").value = text;
    writing.slow = 0;
    writing.begun = "";
    await inTurn(() => live.engine.call({call: "write", model, text, seed, ...drawnWith()}));
    sayWriting("");
    for (let i = 0; i < most && writing.isOn && await writeOne(app, model);) ++i;
    if (writing.slow > slowest) await readTyped(app);
  } catch (error) {
    sayWriting(error.message);
  }
  setWriting(false);
}

const slowest = 150;  // ms that all views may take at each word

// Writes a word; false if the text has ended.
async function writeOne(app, model) {
  const asked = {call: "more", model, count: 1, ...drawnWith()};
  const {steps: [step], words, ended} = await inTurn(() => live.engine.call(asked));
  if (!writing.isOn || !step) return false;
  byId("typed").value += step.text;
  drawBars(words, step.word);
  byId("written").append(html(
    "li", {}, wordElement(step.word), " ", numberElement(step.own, 2, {class: "note number"})));
  if (writing.slow <= slowest) {
    const begun = performance.now();
    await readTyped(app);
    writing.slow = performance.now() - begun;
  }
  await new Promise((resolve) => setTimeout(resolve));  // a key may be waiting
  if (ended) sayWriting("The model has ended the text.");
  return !ended;
}

function setWriting(isOn) {
  writing.isOn = isOn;
  byId("write").textContent = isOn ? "Stop" : "Write";
}

function stopWriting() {
  if (writing.isOn) setWriting(false);
}

// ---- the panel
function drawWriting(app) {
  const slider = (id, name, range, print) => {
    const output = html("output", {for: id
    }, print(range.value));
    const input = html("input", {
      type: "range",
      id,
      ...range,
      input: () => {
        output.textContent = print(Number(input.value));
        const isGreedy = Number(byId("temperature").value) === 0;
        byId("top-k").disabled = byId("top-p").disabled = isGreedy;
        preview(app);
      }
    });
    return html("div", {class: "slider"}, html("label", {for: id
                }, name), input, output);
  };
  const field = (id, name, value, max) => html(
    "label", {}, `${name} `,
    html("input", {type: "number", id, value, min: id === "seed" ? 0 : 1, max}));
  byId("typed").addEventListener("input", stopWriting);
  return html(
    "details", {id: "writing", class: "live-part", toggle: () => preview(app)},
    html("summary", {}, "Write: the model goes on with your text"),
    html(
      "p", {class: "note"},
      "The model gives each word a probability to come next; one is drawn. A temperature below 1 " +
        "makes likely words likelier, above 1 all more alike; at 0 the likeliest is taken. Top-k " +
        "keeps the k likeliest words, top-p the likeliest that together have this probability. " +
        "The same seed draws the same words."),
    slider(
      "temperature", "Temperature", {min: 0, max: 2, step: 0.05, value: 1}, (x) => fixed(x, 2)),
    slider(
      "top-k", "Top-k", {min: 0, max: 50, step: 1, value: 0}, (k) => k === 0 ? "all" : String(k)),
    slider("top-p", "Top-p", {min: 0.05, max: 1, step: 0.05, value: 1}, (p) => fixed(p, 2)),
    html(
      "p", {class: "field"}, field("seed", "Seed", 1, 2 ** 31),
      field("most-words", "Words", 20, 1000),
      html("button", {type: "button", id: "write", click: () => write(app)}, "Write")),
    html("p", {id: "writing-problem", class: "problem-line", role: "status"}),
    html("ol", {id: "written", "aria-label": "Written words, with the model's probability"}),
    html("div", {id: "bars"}));
}

// Another text or model: other bars, once nothing was typed for a moment.
function watchWriting(scene) {
  if (!byId("writing") || writing.isOn) return;
  clearTimeout(writing.timer);
  writing.timer = setTimeout(() => preview(scene.app ?? live.app), 250);
}

live.parts.push(drawWriting);
live.watchers.push(watchWriting);
