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
  byId("curve").replaceChildren(curve(scores, now, paint, {
    name: `${source.patterns[pattern]}, head ${layer}.${head}`,
    highest: 1,
  }));
  const losses = steps.map((one) => one.loss ?? NaN);
  const isKnown = losses.some((loss) => !Number.isNaN(loss));
  const highest = Math.max(...losses.filter((x) => !Number.isNaN(x)));
  byId("loss").replaceChildren(
    ...(isKnown ? [curve(losses, now, paint, {name: "loss", highest})] : []));
}

// A small curve with a mark at the step shown.
function curve(values, now, paint, {name, highest}) {
  const width = 216, height = 64, left = 34, top = 18, w = width - left - 8, h = height - top - 8;
  const x = (i) => left + (w * i) / Math.max(1, values.length - 1);
  const y = (value) => top + h * (1 - value / (highest || 1));
  const here = values[now],
        known = values.map((v, i) => [x(i), y(v)]).filter(([, v]) => !Number.isNaN(v));
  const print = Number.isNaN(here) ? "unknown" : four(here);
  const root = picture(
    width, height, paint, {role: "img", "aria-label": `${name}: ${print} at this step`},
    label(left, 11, `${name}: ${print}`, {"font-size": 11, fill: paint.ink}),
    label(
      left - 5, top + 5, String(Number(highest.toFixed(2))),
      {"font-size": 10, "text-anchor": "end", fill: paint.soft}),
    label(left - 5, top + h + 3, "0", {"font-size": 10, "text-anchor": "end", fill: paint.soft}),
    svg("path", {d: `M${left} ${top}V${top + h}H${left + w}`, fill: "none", stroke: paint.line}),
    svg("path", {
      d: "M" + known.map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L"),
      fill: "none",
      stroke: paint.heads[0],
      "stroke-width": 1.8
    }),
    svg(
      "path", {d: `M${x(now)} ${top}V${top + h}`, stroke: paint.mark, "stroke-dasharray": "3 2"}));
  if (!Number.isNaN(here)) {
    root.append(svg("circle", {cx: x(now), cy: y(here), r: 4, fill: paint.mark}));
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
