// Training in the page: a new model learns a small task in the engine, some steps at a time, so
// that the page can ask for other things between them. It is a model of the page's source like
// others; after each of these chunks it is read anew.

const learnable = [
  ["copy", "copy: say the letters again", 500],
  ["reverse", "reverse: say them backwards", 500],
  ["sort", "sort: say them in the alphabet's order", 500],
  ["induction", "induction: say what followed this letter before", 1000],
  ["majority", "majority: say the letter that occurs most often", 500],
  ["grammar", "grammar: sentences of a few words, say the next word", 500],
];

const trainer = {
  name: null,   // the engine's name of the model, and of its checkpoint's file
  model: null,  // its place among the source's
  task: "",
  running: false,  // whether it is to make more steps
  state: null,     // the last answer of the engine
  inAll: 0,        // steps to make
  losses: [],      // of each step
  tests: [],       // [step, loss on held-out texts]
  chunk: 1,        // steps to ask for
  asked: null,     // the answer that will come to the steps asked for already
  bases:
    new Map(),  // by text: a run with what untrained models reach, which training leaves as it is
  kept: null,   // {step, after}: of the checkpoint that a new engine goes on from
  due: {},      // when to test, to keep and to measure baselines
  pace: {steps: 0, seconds: 0},
  count: 0,  // of models begun
};

const chunkTime = 120, testEvery = 1000, keepEvery = 4000, baselinesEvery = 4000;  // ms

// ---- the controls
function trainPart(app) {
  const field = (id, text, value, more) =>
    html("label", {}, text, html("input", {type: "number", id: `train-${id}`, value, ...more}));
  const task = html("select", {
    id: "train-task",
    change: () => byId("train-steps").value = learnable.find(([t]) => t === task.value)[2],
  });
  setOptions(task, learnable.map(([name, text]) => [name, text]), "copy");
  return html(
    "details", {id: "train", class: "live-part"},
    html("summary", {}, "Train: a new model learns a task, and you watch its heads form"),
    html("p", {class: "note"}, trainIntro),
    html(
      "form", {
        id: "train-form",
        class: "fields",
        novalidate: true,
        submit: (event) => {
          event.preventDefault();
          if (!trainer.running) startTraining(app);
        }
      },
      html("label", {}, "Task ", task), field("layers", "Layers", 2, {min: 1, max: 64}),
      field("heads", "Heads", 4, {min: 1, max: 64}), field("width", "Width", 64, {min: 1}),
      field("rate", "Learning rate", 0.003, {min: 0, max: 1, step: "any"}),
      field("steps", "Steps", 500, {min: 1}), field("seed", "Seed", 1, {min: 0}),
      html(
        "label", {class: "check"}, html("input", {type: "checkbox", id: "train-attention"}),
        "Attention only (no feed-forward layers)")),
    trainButtons(app), html("p", {id: "train-note", class: "note", role: "status"}),
    html("p", {id: "train-state", class: "number"}), html("div", {id: "train-chart"}));
}

const trainIntro =
  "A new model begins with random weights and learns a task from examples, step after step. All " +
  "views show it while it learns. Choose a task, then Start, then Watch its heads. Width is how " +
  "many numbers the model keeps of each word. The loss says how badly it guesses: 0 is never " +
  "wrong. Held-out texts are texts that it never learns from.";

function trainButtons(app) {
  const button = (id, text, click, form = null) =>
    html("button", {type: form ? "submit" : "button", id: `train-${id}`, form, click}, text);
  return html(
    "div", {class: "buttons"}, button("start", "Start", null, "train-form"),
    button("stop", "Stop", () => stopTraining()), button("on", "Go on", () => goOnTraining(app)),
    button("watch", "Watch its heads", () => watchTrained(app)),
    button("checkpoint", "Download checkpoint", () => downloadTrained(false)),
    button("alone", "Download model alone", () => downloadTrained(true)));
}

live.parts.push((app) => {
  const part = trainPart(app);
  setTimeout(() => drawTrainer(app));
  return part;
});

function sayTrain(text) {
  byId("train-note").textContent = text;
}

// ---- start, stop, go on
const numberOf = (id) => byId(id).value.trim() === "" ? null : Number(byId(id).value);

function chosenTraining() {
  const request = {task: byId("train-task").value};
  for (const name of ["layers", "heads", "width", "rate", "steps", "seed"]) {
    request[name] = numberOf(`train-${name}`);
  }
  return {...request, attention_only: byId("train-attention").checked};
}

async function startTraining(app) {
  const chosen = chosenTraining(), name = `trained-${trainer.count}`;
  const file = `/trained/${name}.safetensors`;
  byId("train-start").disabled = true;
  sayTrain("The model is made.");
  try {
    await keepEarlier();
    const answer = await live.engine.call({call: "train", model: name, file, ...chosen});
    ++trainer.count;
    Object.assign(trainer, {
      name,
      model: null,
      task: chosen.task,
      inAll: answer.steps,
      losses: [],
      chunk: 1,
      due: {},
      tests: [[0, answer.held_out]],
      state: answer,
      bases: new Map(),
      kept: null,
    });
    await showTrained(app, answer.prompt);
    await keepTrained();
    sayTrain(
      `The model learns: each step changes its ${plural(answer.parameters, "number")}. Watch its ` +
      "heads meanwhile.");
    keepLearning(app);
  } catch (error) {
    sayTrain(`${error.message}`);
    drawTrainer(app);
  }
}

// The model of the training before stays a model of the page.
async function keepEarlier() {
  const {name} = trainer;
  if (name === null) return;
  const answer = await live.engine.call({call: "save", model: name, alone: true}, {read: "file"});
  live.engine.remember(
    {call: "open", model: name, file: answer.file}, [{path: answer.file, bytes: answer.bytes}]);
  trainer.name = null;
}

// Puts the new model into the page, with a text that fits its task, and shows it.
async function showTrained(app, prompt) {
  const {source} = app, found = source.texts.findIndex(({given}) => given === prompt);
  const text = found >= 0 ? found : source.texts.length;
  const name = `${trainer.task}, trained here` + (trainer.count > 1 ? ` (${trainer.count})` : "");
  const answer = await live.engine.call(
    {call: "record", models: [{model: trainer.name}], texts: [prompt], baselines: false});
  source.texts[text] = answer.texts[0];
  const about = {...answer.models[0], name, of: source.models.length};
  trainer.model = live.addModel(about, {name: trainer.name, sample: wordsIn(prompt)});
  putRuns(app, [text], answer);
  app.set({model: trainer.model, text, query: null, key: null, window: null, heads: null});
}

function stopTraining() {
  trainer.running = false;
  sayTrain("It stops after these steps.");
}

function goOnTraining(app) {
  if (trainer.state.step >= trainer.inAll) {
    trainer.inAll = trainer.state.step + Math.max(1, Math.floor(numberOf("train-steps") ?? 1));
  }
  sayTrain("The model learns.");
  keepLearning(app);
}

// ---- learning
async function keepLearning(app) {
  trainer.running = true;
  trainer.pace = {steps: 0, seconds: 0};
  drawTrainer(app);
  try {
    trainer.asked = null;
    while (trainer.asked || goesOn()) await learnChunk(app);
    const {stopped, step} = trainer.state, isDone = step >= trainer.inAll;
    trainer.running = false;
    await learnedNow(app);
    sayTrain(
      stopped ?
        `The training stopped: ${
          stopped.replace(/^train: /, "")} Take a smaller learning rate, or go on from here.` :
        isDone ?
        `All ${plural(step, "step")} are made. The view Scores says which pattern each head ` +
          "follows. Choose a head there, and cut it under Reach in." :
        `Stopped after step ${grouped(step)}.`);
  } catch (error) {
    trainer.lost = trainer.running && error instanceof EngineStopped;
    trainer.running = false;
    sayTrain(`The training stopped: ${error.message}`);
  }
  drawTrainer(app);
}

const goesOn = () => trainer.running && trainer.state.step < trainer.inAll;

// Asks the engine for some more steps: {answer, spent (ms), test: whether it told the held-out loss}.
async function askChunk() {
  const begun = performance.now(), {name, chunk, inAll, state} = trainer;
  const test = state.step + chunk >= inAll || isDue("test", begun, testEvery);
  const answer =
    await live.engine.call({call: "learn", model: name, steps: chunk, in_all: inAll, test});
  return {answer, spent: performance.now() - begun, test};
}

async function learnChunk(app) {
  const begun = performance.now(), {answer, spent, test} = await (trainer.asked ?? askChunk());
  takeAnswer(answer, test);
  trainer.pace.steps += answer.losses.length;
  // Not much more than before: a chunk may have been quick by chance.
  const {chunk} = trainer;
  trainer.chunk = Math.max(1, Math.min(chunk * 2, Math.round(chunk * chunkTime / spent)));
  const tasks = dueTasks(app);
  // Asked for now, so that the engine goes on while the page draws.
  trainer.asked = goesOn() ? askChunk() : null;
  trainer.asked?.catch(() => {});  // the next chunk tells it
  await Promise.all(tasks);
  drawTrainer(app);
  trainer.pace.seconds += (performance.now() - begun) / 1000;
}

// What is to be done now besides learning, begun.
function dueTasks(app) {
  const now = performance.now(), tasks = [];
  if (isDue("read", now, 2 * (trainer.reading ?? 0))) tasks.push(readTrained(app));
  if (isDue("keep", now, Math.max(keepEvery, 20 * (trainer.keeping ?? 0)))) {
    tasks.push(keepTrained());
  }
  return tasks;
}

// Whether so many ms have passed since it was last due. It counts from now, then.
function isDue(what, now, every) {
  if (now - (trainer.due[what] ?? -Infinity) < every) return false;
  trainer.due[what] = now;
  return true;
}

function takeAnswer(answer, tested) {
  trainer.state = answer;
  trainer.losses.push(...answer.losses);
  if (tested || answer.stopped) trainer.tests.push([answer.step, answer.held_out]);
  if (answer.stopped) trainer.running = false;
}

// After the last step: all that is shown is of this step.
async function learnedNow(app) {
  const {name, inAll, tests, state} = trainer;
  if (tests.at(-1)[0] !== state.step) {
    const answer = await live.engine.call({call: "learn", model: name, steps: 0, in_all: inAll});
    takeAnswer({...answer, stopped: state.stopped}, true);
  }
  await readTrained(app);
  await keepTrained();
}
