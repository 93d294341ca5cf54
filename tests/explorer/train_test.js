// Training in the page: the same losses as the native library's with the same kernels, files that
// it opens, and a page that stays quick meanwhile.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const {pause} = require("./browser.js");
const {listening, liveTest, openPrepared, typeText} = require("./live_test.js");
const {choose, show, text} = require("./person.js");

// If `spoils` is set: weights so large that what they make is infinite, in a checkpoint that is
// opened again.
const spoiling = `
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function(data, ...more) {
    if (window.spoils && data.request?.resume) spoil(data.files[0].bytes);
    post.call(this, data, ...more);
  };
  window.spoil = (bytes) => {
    const at = 8 + Number(new DataView(bytes).getBigUint64(0, true));
    const numbers = new DataView(bytes, at);
    for (let at = 0; at < numbers.byteLength / 4; at += 4) numbers.setFloat32(at, 3e38, true);
  };`;

async function openTrainer(scene, options) {
  const page = await openPrepared(
    scene, scene.workshop.page("live"), listening + spoiling, options);
  await page.evaluate(
    () => document.getElementById("live").open = document.getElementById("train").open = true);
  return page;
}

// Begins a training: {task, width, ...}.
async function begin(page, settings) {
  const {task = "copy", ...numbers} = settings;
  await choose(page, "#train-task", task);
  for (const [name, value] of Object.entries(numbers)) {
    await page.evaluate(
      (id, given) => document.getElementById(id).value = given, `train-${name}`, value);
  }
  await page.click("#train-start");
}

// Waits, for as long as steps are made, until the page says so.
async function waitTrained(page, wanted = "are made") {
  for (let i = 0; i < 600; ++i) {
    const note = await text(page, "#train-note");
    if (note.includes(wanted)) return note;
    await pause(100);
  }
  throw new Error(`the page never said "${wanted}": ${await text(page, "#train-note")}`);
}

const losses = (page) => page.evaluate(() => heard.flatMap((one) => one.losses ?? []));
const lastState = (page) => page.evaluate(() => heard.filter((one) => one.held_out).at(-1));

// With the kernels that the engine has.
function native(workshop, ...words) {
  process.env.TAPESTRY_KERNELS = "sse2";
  try {
    return workshop.tapestry(...words);
  } finally {
    delete process.env.TAPESTRY_KERNELS;
  }
}

// The table of a training: [[step, loss, held-out loss or ""]].
function curveOf(workshop, name) {
  const lines =
    fs.readFileSync(workshop.file(`plots/train_${name}_loss.csv`), "utf8").trim().split("\n");
  return lines.slice(1).map((line) => line.split(","));
}

liveTest(
  "100 steps have the native library's losses, and its files go on from there", async (scene) => {
    const {workshop, browser} = scene, page = await openTrainer(scene);
    await begin(page, {steps: 100});
    await waitTrained(page);
    native(
      workshop, "train", "copy", "--steps", "100", "--overwrite", "--checkpoint",
      "whole.safetensors", "--out", "plots");
    const rows = curveOf(workshop, "whole"), here = await losses(page),
          state = await lastState(page);
    const there = rows.filter(([step]) => step !== "0").map(([, loss]) => Number(loss));
    assert.strictEqual(here.length, 100);
    assert.strictEqual(there.length, 100);
    const worst = Math.max(...here.map((x, i) => Math.abs(x - there[i])));
    const held = Math.abs(state.held_out - Number(rows.at(-1)[2]));
    scene.tell(`largest difference of a step's loss: ${worst}, of the held-out loss: ${held}`);
    assert.ok(worst <= 1e-4 && held <= 1e-4, `losses differ by ${worst}, ${held}`);
    assert.match(await text(page, "#train-state"), /^step 100 of 100 · held-out loss/);

    const file = await browser.download(() => page.click("#train-checkpoint"));
    assert.strictEqual(file.name, "copy.safetensors");
    fs.writeFileSync(workshop.file("page.safetensors"), file.bytes);
    assert.match(
      workshop.tapestry("analyze", "--checkpoint", "page.safetensors", "--text", "d a c f =>"),
      /layer/);
    for (const name of ["whole", "page"]) {
      native(
        workshop, "train", "--resume", "--checkpoint", `${name}.safetensors`, "--steps", "110",
        "--out", "plots");
    }
    const [a, b] = ["whole", "page"].map((name) => curveOf(workshop, name).at(-1));
    assert.strictEqual(a[0], "110");
    assert.strictEqual(b[0], "110");
    for (const i of [1, 2]) assert.ok(Math.abs(a[i] - b[i]) <= 1e-4, `${a} and ${b}`);

    const alone = await browser.download(() => page.click("#train-alone"));
    assert.ok(alone.bytes.length < file.bytes.length * 0.4, "the optimizer's state is left out");
    fs.writeFileSync(workshop.file("alone.safetensors"), alone.bytes);
    workshop.tapestry("analyze", "--checkpoint", "alone.safetensors", "--text", "d a c f =>");
  });

liveTest("the page stays quick while a model learns, and its maps move", async (scene) => {
  const page = await openTrainer(scene);
  await show(page, "map");
  await begin(page, {steps: 100000});
  await page.wait(
    "a step", () => document.getElementById("train-state").textContent.includes("steps per"));
  assert.doesNotMatch(await text(page, "#train-state"), /– steps per/, "no pace before it is known");
  await page.evaluate(() => {
    window.gaps = [];
    let last = performance.now();
    const frame = (now) => {
      gaps.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame((now) => {
      last = now;
      requestAnimationFrame(frame);
    });
  });
  const values = () => page.evaluate(
    () => [...document.querySelectorAll("#panel-map [data-value]")]
            .map((one) => one.dataset.value)
            .join());
  const before = await values();
  await pause(1000);
  assert.notStrictEqual(await values(), before, "the map shows the model as it is now");
  for (const view of ["heads", "all", "scores", "map"]) {
    await show(page, view);
    await pause(700);
  }
  const typed = "a b c d";
  await page.evaluate(() => document.getElementById("typed").value = "");
  await page.focus("#typed");
  await page.type(typed);
  await page.wait(
    "the typed text",
    (given) => document.querySelector("#choose-text").selectedOptions[0].text === given, typed);
  await page.click("#train-stop");
  await waitTrained(page, "Stopped after step");
  const gaps = (await page.evaluate(() => gaps)).sort((a, b) => a - b);
  scene.tell(
    `${gaps.length} frames: the longest ${gaps.at(-1).toFixed(0)} ms, of 100 the longest ` +
    `${gaps[Math.floor(gaps.length * 0.99)].toFixed(0)} ms`);
  const made = (await lastState(page)).step;
  await page.click("#train-on");
  await page.wait(
    "more steps",
    (step) =>
      Number(
        document.getElementById("train-state").textContent.match(/[\d,]+/)[0].replace(",", "")) >
      step,
    made);
  await page.click("#train-stop");
  await waitTrained(page, "Stopped after step");
});

liveTest("steps per second beside the native library's", async (scene) => {
  const {workshop} = scene, page = await openTrainer(scene), steps = 200, ratios = [];
  for (let turn = 0; turn < 2; ++turn) {
    await begin(page, {steps});
    const begun = Date.now();
    await waitTrained(page);
    const here = steps / (Date.now() - begun) * 1000, again = Date.now();
    native(
      workshop, "train", "copy", "--steps", String(steps), "--overwrite", "--checkpoint",
      "fast.safetensors", "--out", "plots");
    const there = steps / (Date.now() - again) * 1000;
    ratios.push(here / there);
    scene.tell(`page ${here.toFixed(1)}, native ${there.toFixed(1)}: ${(here / there).toFixed(2)}`);
  }
  assert.ok(Math.max(...ratios) > 0.2, "the page is many times slower");
});

liveTest("the scores of a model in training have what untrained models reach", async (scene) => {
  const hasSpreads = () => [...document.querySelectorAll("#panel-scores td")].some(
    (cell) => /±/.test(cell.textContent));
  const page = await openTrainer(scene);
  await show(page, "scores");
  await begin(page, {steps: 20, task: "induction"});
  await waitTrained(page);
  await page.wait("baselines", hasSpreads);
  await page.evaluate(() => document.getElementById("train-steps").value = 100000);
  await page.click("#train-on");
  for (let i = 0; i < 20; ++i) {  // measured rarely, and shown all the time
    await pause(100);
    assert.ok(await page.evaluate(hasSpreads), "no baselines while it learns");
  }
  await page.click("#train-stop");
  await waitTrained(page, "Stopped after step");
  await show(page, "map");
  await typeText(page, "a b c d a b");
  assert.strictEqual(
    await page.evaluate(() => document.querySelector("#choose-model").selectedOptions[0].text),
    "induction, trained here");
  await show(page, "scores");
  await page.wait("baselines of the typed text", hasSpreads);
});

liveTest(
  "sizes that do not fit are told in one sentence, and the engine goes on", async (scene) => {
    const page = await openTrainer(scene);
    const tries = [
      [{width: 4096, layers: 64}, /at most 20 million/],
      [{width: 64, layers: 65}, /layers.*from 1 to 64/],
      [{width: 63, layers: 2}, /must divide/],
      [{width: 64, heads: 0}, /heads.*from 1 to 64/],
      [{heads: 4, rate: 2}, /learning rate.*1/],
      [{rate: 0.003, steps: ""}, /steps/],
      [{steps: 1.5}, /steps/],
      [{steps: 10, seed: -1}, /seed/],
    ];
    for (const [settings, wanted] of tries) {
      await begin(page, settings);
      await page.wait(
        `a sentence about ${JSON.stringify(settings)}`,
        (pattern) => new RegExp(pattern).test(document.getElementById("train-note").textContent),
        wanted.source);
      assert.strictEqual((await text(page, "#train-note")).split("\n").length, 1);
    }
    await begin(page, {seed: 1, steps: 3});
    await waitTrained(page);
  });

liveTest(
  "a NaN stops the training: it is said where, and the state before is kept", async (scene) => {
    const page = await openTrainer(scene);
    await begin(page, {steps: 5, layers: 1});
    await waitTrained(page);
    await page.evaluate(() => {
      window.spoils = true;
      workers.at(-1).onmessage({data: {fatal: "a test"}});
    });
    await waitTrained(page, "is at step 5");
    await page.evaluate(() => document.getElementById("train-steps").value = 10);
    await page.click("#train-on");
    const note = await waitTrained(page, "The training stopped");
    scene.tell(note);
    assert.match(note, /step 6: .*(NaN|infinite|not finite).*weights are as they were before/);
    assert.match(await text(page, "#train-state"), /^step 5 of 15/);
    assert.strictEqual(await page.evaluate(() => workers.length), 2, "the engine goes on");
  });

liveTest(
  "a worker that dies is started again: the training goes on, the text stays", async (scene) => {
    const page = await openTrainer(scene);
    await begin(page, {steps: 100000});
    await page.wait("a few steps", () => heard.flatMap((one) => one.losses ?? []).length > 3);
    await typeText(page, "a b c d");
    await page.evaluate(() => workers.at(-1).onmessage({data: {fatal: "a test"}}));
    await page.wait(
      "the new engine",
      () => workers.length === 2 &&
        document.getElementById("live-state").textContent.includes("a test"));
    await page.wait(
      "the training",
      () => /goes on from step|is at step/.test(document.getElementById("train-note").textContent));
    assert.match(await text(page, "#train-note"), /goes on from step/);
    assert.strictEqual(
      await page.evaluate(() => document.getElementById("typed").value), "a b c d");
    const now = await page.evaluate(() => heard.length);
    await page.wait(
      "more steps", (count) => heard.slice(count).some((one) => one.losses?.length > 0), now);
    await page.click("#train-stop");
    await waitTrained(page, "Stopped after step");
    await choose(page, "#choose-model", 0);
    await page.wait(
      "the first model", () => document.querySelector("#panels :not([hidden])") !== null);
  });

liveTest("a model trained before stays, and is there after the engine died", async (scene) => {
  const page = await openTrainer(scene);
  for (const task of ["copy", "induction"]) {
    await begin(page, {task, steps: 3});
    await waitTrained(page);
    await page.evaluate(() => document.getElementById("train-note").textContent = "");
  }
  await page.evaluate(() => workers.at(-1).onmessage({data: {fatal: "a test"}}));
  await waitTrained(page, "is at step 3");
  const first = await page.evaluate(
    () => [...document.querySelector("#choose-model").options]
            .find(({text}) => text === "copy, trained here")
            .value);
  await choose(page, "#choose-model", first);
  await typeText(page, "a b c d e =>");
  assert.strictEqual(
    await page.evaluate(() => document.querySelectorAll("#tokens button").length), 7);
  assert.match(await text(page, "#shown"), /^copy, trained here/);
});

liveTest("a page as wide as a telephone shows all of it", async (scene) => {
  const page = await openTrainer(scene, {width: 360});
  await begin(page, {steps: 3});
  await waitTrained(page);
  const [inner, outer] = await page.evaluate(
    () => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(inner <= outer, `${inner} pixels in ${outer}`);
});

module.exports = {
  openTrainer,
  begin,
  waitTrained
};
