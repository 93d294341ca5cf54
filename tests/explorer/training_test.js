// The slider through the steps of a training.
"use strict";
const assert = require("node:assert");
const {pause} = require("./browser.js");
const {maps, show, text} = require("./person.js");
const {Recording} = require("./recording.js");
const {test} = require("./runner.js");

// The steps of the slider: snapshots by step, then the learned model.
function stepsOf({models}) {
  const steps =
    [...models.keys()].filter((m) => models[m].kind === "snapshot" && models[m].of === 0);
  return steps.sort((a, b) => models[a].step - models[b].step).concat(0);
}

test("slider: each step shows the weights of its snapshot", async (scene) => {
  const file = scene.workshop.page("steps"), recording = new Recording(file);
  const steps = stepsOf(recording), page = await scene.open(file);
  assert.ok(steps.length > 10);
  await show(page, "map");
  await page.focus("#step");
  await page.press("Home");
  let before;
  for (const [at, m] of steps.entries()) {
    if (at > 0) await page.press("ArrowRight");
    if (at % 5 && at !== steps.length - 1) continue;
    await page.rest();
    assert.strictEqual(
      await page.evaluate(() => document.getElementById("step").value), String(at));
    const [cells] = await maps(page), run = recording.run(m, 0);
    for (const {query, key, value, masked} of cells) {
      if (!masked) assert.strictEqual(value, recording.weight(run, 0, 0, query, key), `step ${at}`);
    }
    const fills = cells.map(({fill}) => fill).join("");
    assert.notStrictEqual(fills, before, "the picture changes");
    before = fills;
    const {step, loss} = recording.models[m], said = await text(page, "#step-name");
    if (m !== 0) assert.ok(said.includes(`step ${step}`), said);
    if (typeof loss === "number") assert.ok(said.includes(loss.toFixed(4)), said);
    const label =
      await page.evaluate(() => document.getElementById("step").getAttribute("aria-valuetext"));
    assert.ok(label.includes(m === 0 ? "end" : `step ${step}`), label);
  }
});

test("slider: it can be dragged and played, and stands in the address", async (scene) => {
  const file = scene.workshop.page("slider"), page = await scene.open(file, {hash: "#view=all"});
  const value = () => page.evaluate(() => Number(document.getElementById("step").value));
  const last = await value();
  await page.drag("#step", -100, 0);
  const dragged = await value();
  assert.ok(dragged < last, `${dragged} < ${last}`);
  await pause(500);  // the address waits a little
  assert.match(await page.evaluate(() => location.hash), /model=[1-9]/);
  const other = await scene.open(file, {hash: await page.evaluate(() => location.hash)});
  assert.strictEqual(
    await other.evaluate(() => Number(document.getElementById("step").value)), dragged);
  await other.click("#play");
  await other.wait("the end", (end) => Number(document.getElementById("step").value) === end, last);
});

test("slider: the curve shows the scores of the chosen head", async (scene) => {
  const file = scene.workshop.page("slider"), recording = new Recording(file);
  const page = await scene.open(file, {hash: "#view=map&layer=1&head=2&pattern=5"});
  await page.wait("the curve", () => document.querySelector("#curve svg"));
  const {score} = recording.run(0, 0).layers[1].patterns[2][5];
  const name = await page.evaluate(() => document.querySelector("#curve svg").ariaLabel);
  assert.ok(name.includes(score.toFixed(4)) && name.includes("1.2"), `${name}: ${score}`);
});

test("slider: pages without snapshots have none", async (scene) => {
  const page = await scene.open(scene.workshop.page("small"));
  assert.ok(await page.evaluate(() => !document.getElementById("step").checkVisibility()));
});
