// The slider through the steps of training, and the curve of a pattern of the chosen head.

// The snapshots of the model shown, by step, and the learned model itself at the end.
function stepsOf(scene) {
  const {models} = scene.source, about = models[scene.model];
  const learned = about.kind === "learned" ? scene.model : about.of;
  const steps = models.map((model, i) => ({...model, i}))
                  .filter((model) => model.kind === "snapshot" && model.of === learned)
                  .sort((a, b) => a.step - b.step);
  return steps.length > 0 ? [...steps, {...models[learned], i: learned}] : [];
}

function drawTraining(scene, app) {
  const steps = stepsOf(scene),
        isShown = steps.length > 0 && scene.source.models[scene.model].kind !== "untrained";
  byId("training").hidden = !isShown;
  if (!isShown) return player.stop();
  const now = steps.findIndex((one) => one.i === scene.model), range = byId("step");
  range.max = String(steps.length - 1);
  range.value = String(now);
  const text = stepText(steps[now]);
  range.setAttribute("aria-valuetext", text);
  byId("step-name").textContent = text;
  const pattern = chosenPattern(scene);
  setOptions(byId("choose-pattern"), patternOptions(scene), String(pattern));
  drawCurves(scene, steps, now, pattern);
}

function stepText(model) {
  const name = model.kind === "snapshot" ? `step ${grouped(model.step)}` : "the end of training";
  return name + (typeof model.loss === "number" ? `, loss ${four(model.loss)}` : "");
}

function drawCurves(scene, steps, now, pattern) {
  const {layer, head, text, source, paint} = scene;
  const scores = steps.map(
    (one) => source.run(one.i, text)?.measures(layer, head).patterns[pattern].score ?? NaN);
  const level = scene.run?.measures(layer, head).patterns[pattern].untrained?.[0] ?? NaN;
  const name = `${source.patterns[pattern]}, head ${layer}.${head}`;
  byId("curve").replaceChildren(curve(scores, now, paint, {name, highest: 1, level}));
  const losses = steps.map((one) => one.loss ?? NaN), known = losses.filter((x) => !isNaN(x));
  const highest = Math.max(...known);
  byId("loss").replaceChildren(
    ...(known.length > 0 ? [curve(losses, now, paint, {name: "loss", highest, level: NaN})] : []));
}

// A small curve, a point for each step, with a mark at the one shown. level: what untrained models
// reach.
function curve(values, now, paint, {name, highest, level}) {
  const width = 216, height = 64, left = 34, top = 18, right = width - 8, bottom = height - 8;
  const x = (i) => left + ((right - left) * i) / Math.max(1, values.length - 1);
  const y = (value) => bottom - ((bottom - top) * value) / (highest || 1);
  const here = isNaN(values[now]) ? "unknown" : four(values[now]);
  const untrained = isNaN(level) ? "" : `; untrained models ${four(level)}`;
  const root = picture(
    width, height, paint, {role: "img", "aria-label": `${name}: ${here} at this step${untrained}`});
  const number = {"font-size": 10, "text-anchor": "end", fill: paint.soft};
  const line = (d, stroke, more) => root.append(svg("path", {d, stroke, fill: "none", ...more}));
  root.append(
    label(left, 11, `${name}: ${here}`, {"font-size": 11, fill: paint.ink}),
    label(left - 5, top + 5, String(Number(highest.toFixed(2))), number),
    label(left - 5, bottom + 3, "0", number));
  line(`M${left} ${top}V${bottom}H${right}`, paint.line);
  if (!isNaN(level)) line(`M${left} ${y(level)}H${right}`, paint.soft, {"stroke-dasharray": "2 3"});
  const known = values.map((v, i) => [x(i), y(v)]).filter(([, v]) => !isNaN(v));
  if (known.length > 0) line(`M${known.join("L")}`, paint.heads[0], {"stroke-width": 1.8});
  line(`M${x(now)} ${top}V${bottom}`, paint.mark, {"stroke-dasharray": "3 2"});
  if (!isNaN(values[now])) {
    root.append(svg("circle", {cx: x(now), cy: y(values[now]), r: 4, fill: paint.mark}));
  }
  return root;
}

// Plays through the steps once. Whoever asked for less motion gets slower steps.
const player = {
  timer: 0,

  toggle(app) {
    if (this.timer) return this.stop();
    const range = byId("step"), isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (range.value === range.max) goToStep(app, 0);
    byId("play").textContent = "Pause";
    byId("play").setAttribute("aria-pressed", "true");
    this.timer = setInterval(() => {
      if (range.value === range.max) return this.stop();
      goToStep(app, Number(range.value) + 1);
    }, isCalm ? 1200 : 250);
  },

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    byId("play").textContent = "Play";
    byId("play").setAttribute("aria-pressed", "false");
  },
};

function goToStep(app, at) {
  const steps = stepsOf(app.scene);
  if (steps[at]) app.set({model: steps[at].i});
}

function wireTraining(app) {
  byId("step").addEventListener("input", (event) => {
    player.stop();
    goToStep(app, Number(event.target.value));
  });
  byId("play").addEventListener("click", () => player.toggle(app));
  byId("choose-pattern").addEventListener("change", (event) => app.set({
    pattern: event.target.value
  }));
}
