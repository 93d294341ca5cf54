// Heads made by hand in the page are those of `tapestry hand`.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const {liveTest, openLive, typeText} = require("./live_test.js");
const {choose, maps, show, tables, text} = require("./person.js");

const circuit = {
  "0.0": "previous word",
  "1.0": "what followed the same word"
};

// What the command writes about these heads.
function native(workshop, heads, ...options) {
  const file = workshop.file("hand.json");
  process.env.TAPESTRY_KERNELS = "sse2";
  workshop.tapestry(
    "hand", ...Object.entries(heads).flatMap(([place, phrase]) => ["--head", `${place} ${phrase}`]),
    "--out", workshop.file("hand.safetensors"), "--json", file, ...options);
  delete process.env.TAPESTRY_KERNELS;
  return JSON.parse(fs.readFileSync(file, "utf8"));
}

async function openHand(scene) {
  const page = await openLive(scene, scene.workshop.page("live"));
  await page.evaluate(() => {
    document.getElementById("live").open = document.getElementById("hand").open = true;
  });
  return page;
}

async function setRange(page, value) {
  await page.evaluate((wanted) => {
    const range = document.getElementById("hand-sharpness");
    range.value = wanted;
    range.dispatchEvent(new Event("input"));
    range.dispatchEvent(new Event("change"));
  }, value);
}

async function choosePhrases(page, heads) {
  for (const place of ["0.0", "0.1", "1.0", "1.1"]) {
    await choose(page, `#hand-${place.replace(".", "-")}`, heads[place] ?? "");
  }
}

// Presses Build; resolves to what the page says then.
async function build(page) {
  await page.evaluate(() => document.getElementById("hand-problem").textContent = "");
  await page.click("#hand-build");
  const said =
    await page.wait("the model", () => document.getElementById("hand-problem").textContent);
  await page.rest();
  return said;
}

// The table of scores: {name: [numbers]}.
async function scores(page) {
  const [table] = await tables(page, "#hand-scores");
  return Object.fromEntries(
    table.rows.map(([name, ...cells]) => [name.text, cells.map(({value}) => value)]));
}

const close = (a, b, what, most = 1e-6) =>
  assert.ok(Math.abs(a - b) <= most, `${what}: ${a} and ${b}`);

// Compares the made model's maps, which stand beside or alone, with the command's tables.
async function checkMaps(page, json, which) {
  await show(page, "map");
  let worst = 0;
  for (const {name, values} of json.tables.slice(1)) {
    const [layer, head] = name.match(/\d+/g);
    await page.setHash(
      (await page.evaluate(() => location.hash)).replace(/&(layer|head)=\d+/g, "") +
      `&layer=${layer}&head=${head}`);
    await page.rest();
    const cells = (await maps(page))[which];
    assert.strictEqual(cells.length, values.length ** 2, `map of ${name}`);
    for (const {query, key, value, masked} of cells) {
      if (masked) continue;
      worst = Math.max(worst, Math.abs(value - values[query][key]));
    }
  }
  assert.ok(worst <= 1e-6, `weights differ by ${worst}`);
  return worst;
}

liveTest("heads made by hand have the command's weights and scores", async (scene) => {
  const page = await openHand(scene), words = "d a c f a b", learned = "induction1.safetensors";
  await typeText(page, words);
  await choosePhrases(page, circuit);
  assert.strictEqual(
    await build(page),
    `Built: 0.0 previous word, 1.0 what followed the same word. All views show it as B, beside ${
      learned}.`);
  const beside = scene.workshop.file(learned);
  const json = native(scene.workshop, circuit, "--text", words, "--beside", beside);
  const worst = await checkMaps(page, json, 1);
  scene.tell(`largest difference of a weight: ${worst}`);
  const shown = await scores(page), [table] = json.tables;
  assert.deepStrictEqual(Object.keys(shown), ["made by hand", learned, "equal chances"]);
  table.rows.forEach(
    (name, i) => table.values[i].forEach(
      (value, j) => close(shown[name][j], value, `${name}, ${table.columns[j]}`)));
  assert.strictEqual(shown["made by hand"][0], 1, "the circuit is always right");
});

liveTest("hand-made heads of sharpness 0 look at all words alike", async (scene) => {
  const page = await openHand(scene);
  await setRange(page, 0);
  await choosePhrases(page, {"0.0": "same word", "0.1": "first word"});
  assert.match(await build(page), /^Built: 0\.0 same word, 0\.1 first word\. All views show it/);
  await show(page, "map");
  for (const head of [0, 1]) {
    await choose(page, "#choose-layer", 0);
    await choose(page, "#choose-head", head);
    const [, cells] = await maps(page);
    for (const {query, value, masked} of cells) {
      if (!masked) close(value, 1 / (query + 1), `query ${query} of head ${head}`);
    }
  }
});

liveTest("a hand-made model is built anew in its place", async (scene) => {
  const page = await openHand(scene),
        names = () => page.evaluate(
          () => [...document.getElementById("choose-model").options].map((one) => one.text));
  await choosePhrases(page, circuit);
  await build(page);
  await typeText(page, "d a c f a b");
  const before = await names();
  assert.strictEqual(before.filter((name) => name === "made by hand").length, 1);
  await choosePhrases(page, {"0.0": "first word"});
  assert.match(await build(page), /^Built: 0\.0 first word\. All views show it/);
  assert.deepStrictEqual(await names(), before);
  for (const place of [1, 0]) {
    await choose(page, "#choose-text", place);
    await show(page, "map");
    await page.wait("the map beside", () => document.querySelectorAll("#panel-map svg").length > 2);
    const [, cells] = await maps(page);
    for (const {key, value, masked} of cells) {
      if (!masked) close(value, Number(key === 0), `text ${place}: a run of the model before`);
    }
  }
  await choosePhrases(page, {"1.1": "what followed the same word"});
  assert.match(await build(page), /layer 0/, "a layer without heads is refused");
  await choosePhrases(page, {});
  assert.match(await build(page), /head/);
  await choosePhrases(page, {"0.0": "what followed the same word"});
  assert.match(await build(page), /previous word/);
  assert.deepStrictEqual(await names(), before, "what is refused changes nothing");
});

liveTest("a hand-made model of a task with other words shows its own text", async (scene) => {
  const page = await openHand(scene);
  await choose(page, "#hand-task", "grammar");
  await choosePhrases(page, {"0.0": "same word"});
  await page.click("#hand-0-0-numbers");
  await page.wait("why there is no table", () => document.querySelector("#hand-numbers h3"));
  assert.match(await text(page, "#hand-numbers"), /This matrix has \d+ columns, too many to edit/);
  await choosePhrases(page, {"0.0": "previous word"});
  assert.match(await build(page), /^Built/);
  assert.match(await text(page, "#hand-scores"), /is not scored: it does not have the words of/);
  assert.match(await text(page, "#tokens"), /the[^]*cat/);
  const json = native(scene.workshop, {"0.0": "previous word"}, "--task", "grammar");
  await checkMaps(page, json, 0);
  const shown = await scores(page), [table] = json.tables,
        from = table.columns.indexOf("words right");
  table.rows.forEach(
    (name, i) => shown[name].forEach(
      (value, j) =>
        close(value, table.values[i][from + j], `${name}, ${table.columns[from + j]}`)));
});

async function typeCell(page, row, column, words) {
  const cell = `#hand-cells [data-row="${row}"][data-column="${column}"]`;
  await page.focus(cell);
  await page.evaluate((what) => document.querySelector(what).select(), cell);
  await page.type(words);
  await page.press("Tab");
  await page.rest();
}

liveTest("numbers of a hand-made head: changed ones count, others are refused", async (scene) => {
  const page = await openHand(scene);
  await choosePhrases(page, {"0.0": "same word"});
  await page.click("#hand-0-1-numbers");
  assert.match(await text(page, "#hand-problem"), /finds nothing: choose a phrase first\.$/);
  await choosePhrases(page, {"0.0": "first word"});
  await page.click("#hand-0-0-numbers");
  await page.wait("the numbers", () => document.getElementById("hand-cells"));
  await choose(page, "#hand-matrix", "key");
  assert.strictEqual(
    await page.evaluate(() => document.getElementById("hand-rows").value), "its position",
    "the rows with the phrase's numbers come first");
  const first =
    Number(await page.evaluate(() => document.querySelector("#hand-cells input").dataset.row));
  for (const wrong of ["NaN", "many", "", "Infinity", "1e400"]) {
    await typeCell(page, first, 0, wrong);
    assert.match(
      await text(page, "#hand-problem"), /is no number that a matrix can hold: [^.]*2\.5[^.]*\.$/);
  }
  // The key of position 2 is sought, not that of position 0.
  await typeCell(page, first, 0, "0");
  await typeCell(page, first + 2, 0, "1");
  assert.strictEqual(await text(page, "#hand-problem"), "");
  assert.strictEqual(await text(page, "#hand-0-0-edited"), "edited");
  await page.focus(`#hand-cells [data-row="${first}"]`);
  await page.press("ArrowDown");
  const now = await page.evaluate(() => document.activeElement.dataset.row);
  assert.strictEqual(Number(now), first + 1, "↓ goes to the next row");
  const stops =
    await page.evaluate(() => document.querySelectorAll('#hand-cells input[tabindex="0"]').length);
  assert.strictEqual(stops, 1, "one stop of Tab");
  assert.match(await build(page), /^Built/);
  await show(page, "map");
  await choose(page, "#choose-layer", 0);
  await choose(page, "#choose-head", 0);
  const [, cells] = await maps(page);
  for (const {query, key, value, masked} of cells) {
    if (masked) continue;
    close(value, query < 2 ? 1 / (query + 1) : Number(key === 2), `${query}, ${key}`);
  }
});
