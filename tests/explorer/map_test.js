// The map of one head, and the thumbnails of all: what stands where, and what it says.
"use strict";
const assert = require("node:assert");
const {why} = require("./library.js");
const {choose, isShown, maps, show, status} = require("./person.js");
const {Recording} = require("./recording.js");
const {test} = require("./runner.js");

// Compares a map's cells with the recording: values, and that rows are queries from top to bottom.
function compareMap(cells, recording, run, layer, head, what) {
  const {words} = recording.texts[run.text], {causal} = recording.models[run.model];
  assert.strictEqual(cells.length, words.length ** 2, `${what}: cells`);
  const [first] = cells;
  for (const {query, key, value, masked, left, top} of cells) {
    const cell = `${what}, query ${query}, key ${key}`;
    if (causal && key > query)
      assert.ok(masked && value === null, `${cell} is masked`);
    else
      assert.strictEqual(value, recording.weight(run, layer, head, query, key), cell);
    assert.strictEqual(Math.sign(top - first.top), Math.sign(query - first.query), `${cell}: row`);
    assert.strictEqual(Math.sign(left - first.left), Math.sign(key - first.key), `${cell}: column`);
  }
}

const brightness =
  (colour) => [1, 3, 5]
                .map((at) => parseInt(colour.slice(at, at + 2), 16))
                .reduce((sum, part, i) => sum + part * [0.299, 0.587, 0.114][i], 0);

test("map: every cell of every head is the model's weight", async (scene) => {
  const file = scene.workshop.page("small"), recording = new Recording(file);
  const page = await scene.open(file);
  await show(page, "map");
  const {layers, heads} = recording.models[0];
  for (let layer = 0; layer < layers; ++layer) {
    await choose(page, "#choose-layer", layer);
    for (let head = 0; head < heads; ++head) {
      await choose(page, "#choose-head", head);
      const shown = await maps(page);
      assert.strictEqual(shown.length, 1);
      compareMap(
        shown[0], recording, recording.run(0, 0), layer, head, `layer ${layer}, head ${head}`);
      const sorted = shown[0].filter(({masked}) => !masked).sort((a, b) => a.value - b.value);
      assert.ok(
        brightness(sorted.at(-1).fill) < brightness(sorted[0].fill), "large weights are dark");
    }
  }
});

test("map: the other model and the other text show their own weights", async (scene) => {
  const file = scene.workshop.page("pair"), recording = new Recording(file);
  const page = await scene.open(file);
  await show(page, "map");
  for (let model = recording.models.length - 1; model >= 0; --model) {
    await choose(page, "#choose-model", model);
    for (let text = recording.texts.length - 1; text >= 0; --text) {
      await choose(page, "#choose-text", text);
      await choose(page, "#choose-layer", 1);
      await choose(page, "#choose-head", 2);
      compareMap(
        (await maps(page))[0], recording, recording.run(model, text), 1, 2,
        `model ${model}, text ${text}`);
    }
  }
});

test("map: pointing at a cell says the weight that `why` prints", async (scene) => {
  const {workshop} = scene, file = workshop.page("small"), {texts} = new Recording(file);
  const page = await scene.open(file, {hash: "#view=map&layer=1&head=1"});
  await isShown(page, "map");
  const model = ["--checkpoint", workshop.file("induction1.safetensors")], query = 9;
  const {row} = why(workshop, model, texts[0].given, {layer: 1, head: 1, query, key: 2});
  for (const key of [0, 2, 5, 9, 10]) {
    await page.hover(`#panel-map [data-query="${query}"][data-key="${key}"]`);
    const said = await page.wait(
      "the status",
      (word) => document.getElementById("status").textContent.includes(word) &&
        document.getElementById("status").textContent,
      `@${key}:`);
    assert.ok(said.includes(`@${query} `), said);
    if (key > query)
      assert.match(said, /masked/);
    else
      assert.ok(
        said.includes(`weight ${row[key].weight.toFixed(4)}`), `${said}: ${row[key].weight}`);
    if (key <= query) assert.ok(said.includes(`score ${row[key].score.toFixed(4)}`), said);
  }
});

test("map: a click on a cell opens its arithmetic", async (scene) => {
  const page = await scene.open(scene.workshop.page("small"), {hash: "#view=map&head=3"});
  await isShown(page, "map");
  await page.click("#panel-map [data-query='8'][data-key='4']");
  await isShown(page, "why");
  assert.match(await page.evaluate(() => location.hash), /head=3.*query=8.*key=4/);
});

test("all heads: each thumbnail is its head's map, and a click opens it", async (scene) => {
  const file = scene.workshop.page("small"), recording = new Recording(file);
  const page = await scene.open(file);
  await show(page, "all");
  const drawn = await page.evaluate(
    () => [...document.querySelectorAll("#panel-all [data-layer]")].map((button) => {
      const canvas = button.querySelector("canvas"), {left, top} = button.getBoundingClientRect();
      const {width, height} = canvas;
      const {data} = canvas.getContext("2d").getImageData(0, 0, width, height);
      const dark = Array.from(
        {length: width * height},
        (_, i) => data[4 * i] * 0.299 + data[4 * i + 1] * 0.587 + data[4 * i + 2] * 0.114);
      return {
        layer: Number(button.dataset.layer),
        head: Number(button.dataset.head),
        left,
        top,
        width,
        height,
        dark,
        name: button.getAttribute("aria-label")
      };
    }));
  const {layers, heads} = recording.models[0], run = recording.run(0, 0);
  assert.strictEqual(drawn.length, layers * heads);
  for (const {layer, head, left, top, width, height, dark, name} of drawn) {
    const what = `layer ${layer}, head ${head}`, n = recording.texts[0].words.length;
    assert.ok(name.startsWith(what), name);
    assert.deepStrictEqual([width, height], [n, n]);
    assert.strictEqual(top - drawn[0].top > 20, layer > 0, `${what}: row`);
    assert.strictEqual(left - drawn[0].left > 20, head > 0, `${what}: column`);
    const cells = [];  // pairs of allowed cells: the larger weight is not brighter
    for (let i = 0; i < n; ++i) {
      for (let j = 0; j <= i; ++j) {
        cells.push([recording.weight(run, layer, head, i, j), dark[i * n + j]]);
      }
    }
    cells.sort((a, b) => a[0] - b[0]);
    for (let i = 1; i < cells.length; ++i) {
      assert.ok(cells[i][1] <= cells[i - 1][1] + 1.5, `${what}: ${cells[i - 1]} and ${cells[i]}`);
    }
  }
  await page.hover("#panel-all [data-layer='0'][data-head='2']");
  assert.match(await status(page), /layer 0, head 2/);
  await page.click("#panel-all [data-layer='1'][data-head='3']");
  await isShown(page, "map");
  const [cells] = await maps(page);
  compareMap(cells, recording, run, 1, 3, "after the click");
});
