// Of a training in the page (train.js): its numbers and curves, what the views show of its model,
// its files, and what becomes of it when the engine dies.

function drawTrainer(app) {
  const {running, state, inAll} = trainer, isThere = state !== null && trainer.name !== null;
  byId("train-start").disabled = running;
  byId("train-stop").disabled = !running;
  byId("train-on").disabled = running || !isThere;
  byId("train-watch").disabled = !isThere;
  byId("train-checkpoint").disabled = byId("train-alone").disabled = !isThere;
  if (!isThere) return;
  const share = state.right === undefined ? "" : ` · ${fixed(100 * state.right, 1)} % wholly right`;
  const {steps, seconds} = trainer.pace, rate = steps / seconds;
  const left = running && seconds > 0 ?
    ` · ${fixed(rate, 1)} steps per second, ${Math.ceil((inAll - state.step) / rate)} s left` :
    "";
  byId("train-state").textContent = `step ${grouped(state.step)} of ${grouped(inAll)}` +
    ` · held-out loss ${four(state.held_out)} (blind guessing ${four(state.guessing)})` + share +
    left;
  byId("train-chart").replaceChildren(lossChart(trainer, currentPaint()));
}

// To the maps of all its heads, which stand far below the buttons.
function watchTrained(app) {
  app.set({model: trainer.model, view: "all"}, {focus: "#tab-all"});
  byId("tabs").scrollIntoView({block: "start"});
}

// ---- the curves
const chart = {
  width: 460,
  height: 170,
  left: 44,
  right: 450,
  top: 26,
  bottom: 146
};

// The mean of each of at most 200 parts of a list: [[step, mean]].
function binned(losses) {
  const size = Math.max(1, losses.length / 200), points = [];
  for (let from = 0; from < losses.length; from += size) {
    const part =
      losses.slice(Math.floor(from), Math.max(Math.floor(from) + 1, Math.floor(from + size)));
    points.push([Math.floor(from + size / 2) + 1, part.reduce((a, b) => a + b, 0) / part.length]);
  }
  return points;
}

function lossChart({losses, tests, inAll, state}, paint) {
  const {left, right, top, bottom, width, height} = chart, steps = binned(losses);
  const highest =
    1.1 * Math.max(state.guessing, ...steps.map(([, y]) => y), ...tests.map(([, y]) => y));
  const at =
    ([step, y]) => [left + (right - left) * step / inAll, bottom - (bottom - top) * y / highest]
                     .map((x) => Number(x.toFixed(1)));
  const text = `loss by step: of the steps ${four(losses.at(-1) ?? NaN)}, of held-out texts ` +
    `${four(state.held_out)}, of blind guessing ${four(state.guessing)}`;
  const root = picture(width, height, paint, {role: "img", "aria-label": text, "font-size": 11});
  const path = (points, stroke, more = {}) => points.length === 0 ?
    null :
    root.append(svg("path", {d: `M${points.map(at).join("L")}`, stroke, fill: "none", ...more}));
  const level = (y, name) => {
    path([[0, y], [inAll, y]], paint.soft, {"stroke-dasharray": "2 3"});
    root.append(label(right, at([0, y])[1] - 4, name, {fill: paint.soft, "text-anchor": "end"}));
  };
  root.append(
    svg("path", {d: `M${left} ${top}V${bottom}H${right}`, stroke: paint.line, fill: "none"}));
  level(state.guessing, "blind guessing");
  if (state.best_possible > 0) level(state.best_possible, "the best possible");
  path(steps, paint.heads[0], {"stroke-opacity": 0.7});
  path(tests, paint.heads[1], {"stroke-width": 2, class: "held-out"});
  root.append(...chartLabels(highest, inAll, paint));
  return root;
}

function chartLabels(highest, inAll, paint) {
  const {left, right, top, bottom} = chart, number = {fill: paint.soft, "text-anchor": "end"};
  return [
    label(left, 13, "loss of the steps", {fill: paint.heads[0]}),
    label(left + 120, 13, "loss on held-out texts", {fill: paint.heads[1]}),
    label(left - 5, top + 6, fixed(highest, 2), number),
    label(left - 5, bottom, "0", number),
    label(right, bottom + 15, `step ${grouped(inAll)}`, number),
  ];
}

// ---- what is shown of the model
async function readTrained(app) {
  const begun = performance.now(), {scene, source} = app, {model} = trainer;
  const beside = scene.state.beside ?? "";
  const isShown = scene.model === model || beside === String(model);
  const texts = [scene.text, ...(beside.startsWith("text") ? [Number(beside.slice(4))] : [])];
  if (!isShown || texts.some((text) => !source.texts[text])) return source.forget({model});
  const baselines = scene.view === "scores" &&
    (!trainer.running ||
     isDue("baselines", begun, Math.max(baselinesEvery, 10 * (trainer.measuring ?? 0))));
  const given = texts.map((text) => source.texts[text].given);
  try {
    const answer = await live.engine.call(
      {call: "record", models: [live.asked(model)], texts: given, baselines});
    source.forget({model});
    // What was typed meanwhile is another text.
    putRuns(app, texts.filter((text, i) => source.texts[text]?.given === given[i]), answer);
  } catch (error) {
    if (error instanceof EngineStopped) throw error;
    source.forget({model});  // a text that it cannot read: the view says why
  }
  trainer[baselines ? "measuring" : "reading"] = performance.now() - begun;
  redrawQuietly(app);
}

function putRuns({source}, texts, answer) {
  for (const text of texts) {
    const entry = answer.texts.findIndex(({given}) => given === source.texts[text].given);
    const run = answer.runs.find((one) => one.text === entry);
    source.texts[text] = answer.texts[entry];
    const block = new Block(new Uint8Array(answer.blocks[run.numbers]));
    source.setRun(trainer.model, text, run, answer.words, block);
    const made = source.run(trainer.model, text), {given} = source.texts[text];
    if (made.hasBaselines)
      trainer.bases.set(given, made);
    else
      made.learned = trainer.bases.get(given) ?? null;
  }
}

// Draws anew, while someone looks: what has the focus keeps it, what was scrolled or opened stays
// so.
function redrawQuietly(app) {
  const again = focusedPart(), panels = byId("panels");
  const places =
    [...panels.querySelectorAll(".scroll")].map((one) => [one.scrollLeft, one.scrollTop]);
  const open = [...panels.querySelectorAll("details")].map((one) => one.open);
  app.draw();
  panels.querySelectorAll("details").forEach((one, i) => one.open = open[i] ?? one.open);
  panels.querySelectorAll(".scroll").forEach((one, i) => {
    [one.scrollLeft, one.scrollTop] = places[i] ?? [0, 0];
  });
  if (again) document.querySelector(again)?.focus({preventScroll: true});
}

// ---- files
async function savedTraining(alone) {
  return live.engine.call({call: "save", model: trainer.name, alone}, {read: "file"});
}

async function downloadTrained(alone) {
  try {
    const {bytes} = await savedTraining(alone),
          name = `${trainer.task}${alone ? "_model" : ""}.safetensors`;
    download(name, "application/octet-stream", bytes);
    sayTrain(
      alone ? `Saved ${name}: tapestry analyze --checkpoint ${name} opens it.` :
              `Saved ${name}: tapestry train --resume --checkpoint ${name} --steps ` +
          `${trainer.state.step + 100} goes on with it.`);
  } catch (error) {
    sayTrain(`The file could not be made: ${error.message}`);
  }
}

// ---- when the engine dies
// What a new engine begins with: this step.
async function keepTrained() {
  const begun = performance.now(), {name, state, inAll, losses, tests} = trainer;
  const {file, bytes} = await savedTraining(false);
  const steps = Math.max(inAll, state.step + 1);
  live.engine.remember(
    {call: "train", model: name, file, resume: true, steps}, [{path: file, bytes}]);
  trainer.kept = {step: state.step, losses: losses.length, tests: tests.length, state};
  trainer.keeping = performance.now() - begun;
}

live.restarts.push((app, gone) => {
  const {kept, lost} = trainer;
  if (trainer.name === null || !kept) return;
  if (gone.includes(trainer.name)) {
    trainer.name = null;
    drawTrainer(app);
    return sayTrain(
      "The engine was started again, but the training could not be opened: Start anew.");
  }
  trainer.state = kept.state;
  trainer.losses.length = kept.losses;
  trainer.tests.length = kept.tests;
  app.source.forget({model: trainer.model});
  const again = lost && kept.step > (trainer.restarted ?? -1);
  trainer.lost = false;
  trainer.restarted = kept.step;
  drawTrainer(app);
  if (again) {
    keepLearning(app);
    return sayTrain(
      `The engine was started again. The training goes on from step ${
        grouped(kept.step)}, the last ` +
      "that was kept.");
  }
  sayTrain(
    `The engine was started again. The training is at step ${grouped(kept.step)}, the last that ` +
    "was kept. Choose Go on to let it learn.");
});
