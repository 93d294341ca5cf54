// Texts of 1000 words: maps in bins, and a part of it word by word; nothing freezes.
"use strict";
const assert = require("node:assert");
const {isShown, maps, show, text, views} = require("./person.js");
const {Recording} = require("./recording.js");
const {test} = require("./runner.js");

// The weights of a row, from queries and keys: computed here once more.
function row(recording, run, layer, head, i) {
  const {width, heads, groups, attention} = recording.models[0];
  const n = recording.texts[0].words.length, {query, key} = run.layers[layer];
  const part = (ref, of, at) =>
    recording.numbers(run, ref).subarray((of * n + at) * width, (of * n + at + 1) * width);
  const q = part(query, head, i), group = Math.floor(head * groups / heads), scores = [];
  for (let j = 0; j <= i; ++j) {
    scores.push(
      attention[layer].scale * part(key, group, j).reduce((sum, k, d) => sum + k * q[d], 0));
  }
  const highest = Math.max(...scores), up = scores.map((score) => Math.exp(score - highest));
  const sum = up.reduce((a, b) => a + b, 0);
  return up.map((x) => x / sum);
}

test("long: the overview's bins are the recorded ones", async (scene) => {
  const file = scene.workshop.page("endless"), recording = new Recording(file);
  const page = await scene.open(file, {hash: "#view=map&layer=1&head=1"});
  await isShown(page, "map");
  const bins = await page.evaluate(
    () => [...document.querySelectorAll("#panel-map svg.overview rect[data-row]")].map(
      ({dataset}) => ({...dataset})));
  assert.strictEqual(bins.length, 64 * 64);
  const run = recording.run(0, 0), pool = recording.numbers(run, run.layers[1].pooled);
  for (const {row: r, column: c, value} of bins) {
    if (value === undefined)
      assert.ok(Number(c) > Number(r));
    else
      assert.strictEqual(Number(value), pool[4096 + 64 * r + Number(c)]);
  }
});

test("long: bins that the command recorded follow from queries and keys", ({workshop}) => {
  const recording = new Recording(workshop.page("pooled")), run = recording.run(0, 0);
  const n = recording.texts[0].words.length, bin = (i) => Math.floor((64 * i + 63) / n);
  for (const [layer, head] of [[0, 3], [15, 12]]) {
    const {weights, pooled} = run.layers[layer], sums = new Float64Array(4096);
    assert.strictEqual(weights, null);
    assert.deepStrictEqual(pooled.shape, [16, 64, 64]);
    const size = new Float64Array(64);
    for (let i = 0; i < n; ++i) {
      ++size[bin(i)];
      row(recording, run, layer, head, i).forEach((w, j) => {
        sums[64 * bin(i) + bin(j)] += w;
      });
    }
    recording.numbers(run, pooled)
      .subarray(4096 * head, 4096 * (head + 1))
      .forEach(
        (mean, at) => assert.ok(
          Math.abs(mean - sums[at] / size[Math.floor(at / 64)]) < 1e-5, `${layer} ${at}`));
  }
});

test("long: a part shows the weights that follow from queries and keys", async (scene) => {
  const file = scene.workshop.page("endless"), recording = new Recording(file);
  const page = await scene.open(file, {hash: "#view=map&layer=1&head=1&window=900-931,880-920"});
  await isShown(page, "map");
  const [cells] = await maps(page), run = recording.run(0, 0);
  assert.strictEqual(cells.length, 32 * 41);
  for (const query of [900, 917, 931]) {
    const wanted = row(recording, run, 1, 1, query);
    for (const cell of cells.filter((one) => one.query === query)) {
      if (cell.key > query)
        assert.ok(cell.masked);
      else
        assert.ok(Math.abs(cell.value - wanted[cell.key]) < 1e-6, `${cell.query} ${cell.key}`);
    }
  }
});

test("long: dragging over the overview chooses a part", async (scene) => {
  const page = await scene.open(scene.workshop.page("endless"), {hash: "#view=map"});
  await isShown(page, "map");
  const size = await page.evaluate(
    () => document.querySelector("#panel-map svg.overview rect[data-row]")
            .getBoundingClientRect()
            .width);
  await page.drag("#panel-map .overview [data-row='40'][data-column='20']", 2.4 * size, 1.4 * size);
  await page.wait("the part", () => /window=625-\d+,312-\d+/.test(location.hash));
  const {queries, keys} = await page.evaluate(() => {
    const [, a, b, c, d] = location.hash.match(/window=(\d+)-(\d+),(\d+)-(\d+)/).map(Number);
    return {queries: [a, b], keys: [c, d]};
  });
  assert.deepStrictEqual([queries, keys], [[625, 655], [312, 358]]);
  const [cells] = await maps(page);
  assert.deepStrictEqual([cells[0].query, cells[0].key], [625, 312]);
  assert.ok((await text(page, "#window")).includes("1,000"));
});

test("long: each view answers within seconds", async (scene) => {
  for (const name of ["endless", "pooled", "many"]) {
    const page = await scene.open(scene.workshop.page(name)), times = [];
    for (const view of views) {
      const begun = Date.now();
      await show(page, view);
      times.push(`${view} ${Date.now() - begun} ms`);
    }
    scene.tell(`${name}: ${times.join(", ")}`);
  }
});
