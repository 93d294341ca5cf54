// Every view of every kind of page shows something, and none makes a request or an error.
"use strict";
const assert = require("node:assert");
const {Recording} = require("./recording.js");
const {choose, show, text, views} = require("./person.js");
const {test} = require("./runner.js");

// What a panel shows: its text, and whether it has a picture, a table or at least a sentence.
const shown = (page, view) => page.evaluate((name) => {
  const panel = document.getElementById(`panel-${name}`),
        {width, height} = panel.getBoundingClientRect();
  return {
    text: panel.innerText,
    width,
    height,
    things: panel.querySelectorAll("svg path, svg rect, canvas, td, [data-value]").length,
    isEmpty: panel.querySelector(".empty") !== null,
    problem: document.getElementById("problem").hidden ?
      "" :
      document.getElementById("problem").textContent,
    starting: !document.getElementById("starting").hidden
  };
}, view);

test("views: each shows something on every page, for every model and text", async (scene) => {
  for (const name of scene.workshop.pages()) {
    const file = scene.workshop.page(name), {models, texts} = new Recording(file);
    const page = await scene.open(file);
    for (const [m, model] of models.entries()) {
      if (model.kind === "snapshot" && m > 2) continue;  // they are alike
      await page.setHash(`#view=heads&model=${m}`);
      for (let t = 0; t < texts.length; ++t) {
        if (texts.length > 1) await choose(page, "#choose-text", t);
        for (const view of views) {
          await show(page, view);
          const what = `${name}, model ${m}, text ${t}, ${view}`, seen = await shown(page, view);
          assert.strictEqual(seen.problem, "", what);
          assert.ok(!seen.starting, what);
          assert.ok(seen.text.length > 20 && seen.width > 200 && seen.height > 20, what);
          const empty = model.guess === "none" && ["next", "lens"].includes(view);
          assert.strictEqual(seen.isEmpty, empty, `${what}: ${seen.text.slice(0, 100)}`);
          assert.ok(empty || seen.things > 0, `${what}: no picture and no numbers`);
        }
      }
    }
    await scene.finish(page);
  }
});

test("views: the page says what it is about", async (scene) => {
  const file = scene.workshop.page("small"), {models} = new Recording(file);
  const page = await scene.open(file);
  assert.ok((await text(page, "#about")).startsWith(models[0].about));
  assert.match(await page.evaluate(() => document.title), /\S/);
  const words = await page.evaluate(
    () => [...document.querySelectorAll("#tokens .word")].map((word) => word.textContent));
  assert.deepStrictEqual(words, new Recording(file).texts[0].words);
});

test("heads: lines are weights, and pointing at a word leaves only its own", async (scene) => {
  const file = scene.workshop.page("small"), recording = new Recording(file);
  const page = await scene.open(file, {hash: "#view=heads&layer=1&head=1", height: 1400});
  await page.wait("lines", () => document.querySelectorAll("#panel-heads path[data-query]").length);
  const lines = () => page.evaluate(
    () => [...document.querySelectorAll("#panel-heads path[data-query]")]
            .filter(
              (line) => line.checkVisibility({visibilityProperty: true, checkVisibilityCSS: true}))
            .map((line) => ({
                   query: Number(line.dataset.query),
                   key: Number(line.dataset.key),
                   value: Number(line.dataset.value),
                   width: Number(line.getAttribute("stroke-width")),
                   down: line.getBoundingClientRect().height
                 })));
  const run = recording.run(0, 0), all = await lines();
  const weight = ({query, key}) => recording.weight(run, 1, 1, query, key);
  assert.ok(all.length > recording.texts[0].words.length);
  for (const line of all) assert.strictEqual(line.value, weight(line));
  const sorted = [...all].sort((a, b) => a.value - b.value);
  assert.ok(sorted.at(-1).width > sorted[0].width, "large weights are thick");
  for (const {query, key, down} of all) {
    assert.strictEqual(down > 15, query !== key, `the line from ${query} to ${key}`);
  }
  for (const [side, at] of [["query", 7], ["key", 2]]) {
    await page.hover(`#panel-heads [data-side="${side}"][data-position="${at}"]`);
    await page.rest();
    const own = await lines();
    assert.ok(own.length > 0, `${side} ${at} has lines`);
    for (const line of own) assert.deepStrictEqual([line[side], line.value], [at, weight(line)]);
    const status = await page.evaluate(() => document.getElementById("status").textContent);
    const largest = own.sort((a, b) => b.value - a.value)[0];
    assert.ok(status.includes(`${side} `) && status.includes(largest.value.toFixed(4)), status);
  }
  await page.hover("h1");
  await page.rest();
  assert.strictEqual((await lines()).length, all.length);
});

test("heads: several heads of a layer at once, each in its colour", async (scene) => {
  const page = await scene.open(scene.workshop.page("small"), {hash: "#view=heads"});
  await page.click("#panel-heads input[data-head='2']");
  await page.wait("two heads", () => location.hash.includes("heads=0,2"));
  const colours = await page.evaluate(() => {
    const all = {};
    for (const line of document.querySelectorAll("#panel-heads path[data-head]")) {
      (all[line.dataset.head] ??= new Set()).add(line.getAttribute("stroke"));
    }
    return Object.entries(all).map(([head, set]) => [head, [...set]]);
  });
  assert.deepStrictEqual(colours.map(([head, set]) => [head, set.length]), [["0", 1], ["2", 1]]);
  assert.notStrictEqual(colours[0][1][0], colours[1][1][0]);
});
