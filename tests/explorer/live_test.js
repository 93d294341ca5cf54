// Live pages: what the engine computes in the browser is what the native library computes with the
// same kernels. Left out, and said so, where `make explorer` has not built the engine.
"use strict";
const assert = require("node:assert");
const {Recording} = require("./recording.js");
const {choose, maps, show, text} = require("./person.js");
const {test} = require("./runner.js");

const liveTest = (name, run) => test(`live: ${name}`, async (scene) => {
  if (!scene.workshop.hasEngine()) return scene.tell("left out: no engine (make explorer)");
  await run(scene);
});

// Opens a live page, and waits until the engine runs.
async function openLive(scene, file, options) {
  const page = await scene.open(file, options);
  await page.wait("the engine", () =>
    document.getElementById("live-state").textContent.includes("computes here"));
  return page;
}

// The same, with a script that runs before those of the page.
async function openPrepared(scene, file, script, options) {
  const page = await scene.browser.newPage(options);
  scene.opened.push(page);
  await page.send("Page.addScriptToEvaluateOnNewDocument", {source: script});
  await page.go(file);
  await page.wait("the engine", () =>
    document.getElementById("live-state").textContent.includes("computes here"));
  return page;
}

// A script for it: `workers` are those of the page, and `heard` is what they answer.
const listening = `
  window.heard = [];
  window.workers = [];
  const Real = Worker;
  window.Worker = class extends Real {
    constructor(...words) {
      super(...words);
      workers.push(this);
      this.addEventListener("message", ({data}) => heard.push(data.answer ?? data));
    }
  };`;

// Types a text, and waits until the page shows it.
async function typeText(page, words) {
  await page.evaluate(() => document.getElementById("live").open = true);
  await page.evaluate(() => document.getElementById("typed").value = "");
  await page.focus("#typed");
  await page.type(words);
  await page.wait("the typed text", (given) => {
    const shown = [...document.querySelectorAll("#tokens button")];
    return shown.length > 0 && document.querySelector("#choose-text").selectedOptions[0].text === given;
  }, words);
  await page.rest();
}

liveTest("a typed text has the native library's weights", async (scene) => {
  const words = "c d e f c d e f c d", {workshop} = scene;
  const page = await openLive(scene, workshop.page("live"));
  await typeText(page, words);
  process.env.TAPESTRY_KERNELS = "sse2";
  const file = workshop.file("native.html");
  workshop.tapestry(
    "explore", "induction1.safetensors", "--text", words, "--recorded", "--out", file);
  delete process.env.TAPESTRY_KERNELS;
  const recording = new Recording(file), run = recording.run(0, 0);
  await show(page, "map");
  let worst = 0;
  for (const layer of [0, 1]) {
    for (const head of [0, 1, 2, 3]) {
      await page.setHash(`#view=map&text=1&layer=${layer}&head=${head}`);
      await page.rest();
      const [cells] = await maps(page);
      assert.strictEqual(cells.length, 121, "a map of 11 words, <bos> too");
      for (const {query, key, value, masked} of cells) {
        if (masked) continue;
        worst = Math.max(worst, Math.abs(value - recording.weight(run, layer, head, query, key)));
      }
    }
  }
  scene.tell(`largest difference of a weight: ${worst}`);
  assert.ok(worst <= 1e-6, `weights differ by ${worst}`);
});

liveTest("a word that the model does not know is told, and the text before stays", async (scene) => {
  const page = await openLive(scene, scene.workshop.page("live"));
  await typeText(page, "a b c a b");
  await page.type(" nonsense");
  await page.wait("the problem", () =>
    document.getElementById("typed-problem").textContent.includes("nonsense"));
  const shown = await page.evaluate(() => document.querySelectorAll("#tokens button").length);
  assert.strictEqual(shown, 6, "five words and <bos> are still shown");
  assert.match(await page.evaluate(() => document.getElementById("typed").value), /nonsense$/);
  const said = () => text(page, "#typed-problem");
  assert.match(await said(), / Words that it knows: \w \w .*…$/, "which words to try");
  await choose(page, "#choose-model", 1);
  assert.strictEqual(await said(), "", "it was about the other model");
});

module.exports = {listening, liveTest, openLive, openPrepared, typeText};
