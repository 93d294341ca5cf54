// What makes the page live: texts that are typed, read by the engine (engine.js). A model of the
// page that the engine can run has a name there; `changes` of one gives the parts cut, weights held
// and places patched for a text (reach.js), and `base` is then the model without them.

const live = {
  engine: null,       // once it runs
  names: new Map(),   // of models of the source: {name: the engine's, sample: some words that it
                      // knows, untrained, changes, base}
  typed: null,        // the place of the typed text among the source's
  wanted: new Map(),  // "model.text" that is being computed: true; or why it failed
  keys: [],           // [key, what it does], for the list of keys
  parts: [],          // functions that draw what else can be done: (app) => element
  readers: [],        // are called, and waited for, when a typed text was read: (its place)
  watchers: [],       // are called when something else is chosen: (scene)
  restarts: [],       // are called after the engine was started again: (app, names of models lost)
  measured: new WeakSet(),  // runs whose baselines were asked for
  app: null,

  canRun(model) {
    return this.engine !== null && this.names.has(model);
  },

  // Asks for a run that is not there; returns the sentence to show until it comes.
  want(model, text) {
    const key = `${model}.${text}`, state = this.wanted.get(key);
    if (typeof state === "string") return state;
    if (!state) {
      this.wanted.set(key, true);
      this.record([model], this.app.source.texts[text].given, text)
        .then(() => this.wanted.delete(key), (error) => this.wanted.set(key, `${error.message}`))
        .then(() => this.app.draw());
    }
    return "The engine reads the text.";
  },

  // What untrained models reach takes long: it is asked for once scores are shown, once for a run.
  wantBaselines({model, text, run, source}) {
    const isKnown = run.hasBaselines || run.learned?.hasBaselines || this.measured.has(run);
    if (isKnown || !this.canRun(model) || source.models[model].kind !== "learned") return;
    if (trainer.running) return;  // which measures them itself, at times
    this.measured.add(run);
    this.record([model], source.texts[text].given, text, {baselines: true})
      .then(() => {
        const made = source.run(model, text);
        if (made) this.measured.add(made);
        this.app.draw();
      })
      .catch(() => {});  // the scores stand there without them
  },

  // As a model of a request.
  asked(model, text) {
    const {name, untrained = false, changes} = this.names.get(model);
    return {model: name, untrained, ...changes?.(this.app.source.texts[text])};
  },

  // Reads a text with some models of the source, and puts the runs there; `text` is its place.
  // Resolves to the text's entry. isNew: the text is another one than was there. What comes too
  // late, for a text or changes that are no longer wanted, is left.
  async record(models, given, text, {baselines = false, isNew = false} = {}) {
    const as = models.map((model) => this.names.get(model)), {source} = this.app;
    const answer = await this.engine.call({
      call: "record",
      models: models.map((model) => this.asked(model, text)),
      texts: [given],
      baselines
    });
    const entry = answer.texts[0];
    if (isNew)
      source.forget({text});
    else if (source.texts[text]?.given !== given)
      return entry;
    source.texts[text] = entry;
    for (const run of answer.runs) {
      if (this.names.get(models[run.model]) !== as [run.model]) continue;
      const block = new Block(new Uint8Array(answer.blocks[run.numbers]));
      source.setRun(models[run.model], text, run, answer.words, block);
    }
    return entry;
  },

  // The models that the page shows now and that the engine can run: the chosen one first. Those
  // with changes are left to the readers.
  shown() {
    const {model, state} = this.app.scene, beside = Number(state.beside ?? NaN);
    return [model, beside]
      .map((one) => this.names.get(one)?.base ?? one)
      .filter((one, i, all) => this.canRun(one) && all.indexOf(one) === i);
  },

  // Adds a model to the page: {name, about, kind, of, ...} as in a recording. Returns its place.
  addModel(about, as) {
    const place = this.app.source.models.push(about) - 1;
    this.names.set(place, as);
    return place;
  },
};

// ---- the start
async function startLive(app) {
  const obstacle = engineObstacle();
  if (obstacle) return sayLive(`This page shows its recording only: ${obstacle}.`);
  sayLive("The engine starts.");
  try {
    const engine = new Engine(), about = await engine.start();
    engine.onrestart = (why, error, lost) => afterRestart(app, why, error, lost);
    await openModels(engine, app.source);
    live.engine = engine;
    sayLive(
      "The engine computes here, in this page: type a text, and all views follow. (Kernels " +
      `${about.kernels}, ${about.precision}, one thread.)`);
    byId("typed").disabled = false;
    for (const draw of live.parts) byId("live-parts").append(draw(app));
    app.draw();
  } catch (error) {
    sayLive(`The engine did not start (${error.message}). The page shows its recording.`);
  }
}

const sayLive = (text) => byId("live-state").textContent = text;

// The models whose files the page carries, and those that are such a model untrained.
async function openModels(engine, source) {
  const list = JSON.parse(byId("model-files").textContent), tooLarge = [];
  for (const {model, folder, files} of list) {
    if (files.length === 0) {
      tooLarge.push(modelName(source.models[model]));
      continue;
    }
    const name = `m${model}`, where = `/${name}`;
    const request = folder ? {call: "open", model: name, folder: where} :
                             {call: "open", model: name, file: `${where}/${files[0].name}`};
    const {sample} =
      await engine.open(request, files.map((file) => ({
                                             path: `${where}/${file.name}`,
                                             bytes: decoded(file.element),
                                           })));
    live.names.set(model, {name, sample});
    source.models.forEach((other, i) => {
      if (other.kind === "untrained" && other.of === model) {
        live.names.set(i, {name, sample, untrained: true});
      }
    });
  }
  if (tooLarge.length > 0) {
    byId("typed-problem").textContent =
      `The weights of ${
        tooLarge.join(" and ")} are too large for this page, which shows what was ` +
      "recorded of them.";
  }
}

function afterRestart(app, why, error, lost) {
  if (error) {
    return sayLive(
      `The engine stopped (${why}) and could not start again (${error.message}). Reload the page.`);
  }
  const gone = lost.map(
    (one) => `${forgetName(app.source, one.model)} could not be opened again (${one.why}).`);
  sayLive(
    [`The engine stopped (${why}) and was started again. Your text is kept.`, ...gone].join(" "));
  live.wanted.clear();
  for (const again of live.restarts) again(app, lost.map(({model}) => model));
  readTyped(app);
}

// The engine has this model no more. Returns what the page calls it.
function forgetName(source, name) {
  const places = [...live.names].filter(([, one]) => one.name === name).map(([place]) => place);
  for (const place of places) live.names.delete(place);
  return places.length > 0 ? modelName(source.models[places[0]]) : "a model";
}

// ---- typing. While one text is read, only the newest of those typed meanwhile waits.
const typing = {
  busy: false,
  again: false,
  model: null,  // the one shown
};

// What was said of the typed text was about another model.
live.watchers.push(({model}) => {
  if (typing.model !== null && typing.model !== model) sayTyped("");
  typing.model = model;
});

async function readTyped(app) {
  if (typing.busy) {
    typing.again = true;
    return;
  }
  typing.busy = true;
  try {
    do {
      typing.again = false;
      await readOnce(app, byId("typed").value);
    } while (typing.again);
  } finally {
    typing.busy = false;
  }
}

async function readOnce(app, given) {
  if (given.trim() === "") return sayTyped("");
  const models = live.shown();
  if (models.length === 0) return sayTyped("The engine has no weights of the chosen model.");
  const {source} = app, isNew = live.typed === null, place = live.typed ?? source.texts.length;
  try {
    await live.record(models, given, place, {isNew: true});
    live.wanted.clear();
    live.typed = place;
    for (const read of live.readers) await read(place);
    sayTyped("");
    app.set({text: place, query: null, key: null, window: null}, {focus: null});
  } catch (error) {
    if (isNew) source.texts.length = place;
    sayTyped(error.message + knownWords(models, error.message));
  }
}

// The words of a text, each once, without those such as <bos>.
const wordsIn = (text) =>
  [...new Set(text.split(" "))].filter((word) => !word.startsWith("<")).join(" ");

// Which words to try instead of an unknown one, if all these models know the same.
function knownWords(models, problem) {
  const samples = new Set(models.map((model) => live.names.get(model).sample)), [sample] = samples;
  const isUnknown = / is none of the \d+ /.test(problem);
  return isUnknown && samples.size === 1 && sample ? ` Words that it knows: ${sample} …` : "";
}

function sayTyped(problem) {
  byId("typed-problem").textContent = problem;
  byId("typed").setAttribute("aria-invalid", String(problem !== ""));
}

function wireLive(app) {
  live.app = app;
  if (!hasEngine()) return;
  byId("live").hidden = false;
  byId("typed").disabled = true;
  byId("typed").addEventListener("input", () => readTyped(app));
  byId("type").addEventListener("submit", (event) => {
    event.preventDefault();
    readTyped(app);
  });
  live.started = startLive(app);
}
