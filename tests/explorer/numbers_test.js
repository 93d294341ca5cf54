// The numbers of the other views equal those of the library.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const vm = require("node:vm");
const {analyze, lens, why} = require("./library.js");
const {choose, isShown, show, tables} = require("./person.js");
const {Recording} = require("./recording.js");
const {test} = require("./runner.js");

const checkpoint = (workshop) => ["--checkpoint", workshop.file("induction1.safetensors")];
const four = (x) => x.toFixed(4).replace("-0.0000", "0.0000");

test("numbers: what is rounded to 0 has no sign, and a half goes to the even digit", () => {
  const source = fs.readFileSync("tools/explorer/format.js", "utf8");
  const {four: print, signed, fixed} =
    vm.runInNewContext(`(() => { ${source} return {four, signed, fixed}; })()`, {Intl});
  const printed = (list, how) => list.map((x) => how(x)).join(" ");
  assert.strictEqual(
    printed([-0.00004, -0, 0, 0.00004, -0.00006, -1.5, NaN], print),
    "0.0000 0.0000 0.0000 0.0000 -0.0001 -1.5000 –");
  assert.strictEqual(
    printed([-0.00004, 0, 0.00004, 0.00006, -0.25, 10, 20000], signed),
    "0.0000 0.0000 0.0000 +0.0001 -0.2500 +10.0000 +20000.0000");
  assert.strictEqual(printed([1 / 32, 3 / 32, -1 / 32], print), "0.0312 0.0938 -0.0312");
  assert.strictEqual(printed([-0.4, -0.5, -1.5], (x) => fixed(x, 0)), "0 0 -2");
});

test("why: every step shows what `why` prints", async (scene) => {
  const {workshop} = scene, file = workshop.page("small"), recording = new Recording(file);
  const page = await scene.open(file), {given} = recording.texts[0];
  for (const [layer, head, query, key] of [
         [0, 0, 11, 0], [0, 3, 5, 5], [1, 1, 8, 2], [1, 2, 3, 9]]) {
    await page.setHash(`#view=why&layer=${layer}&head=${head}&query=${query}&key=${key}`);
    await page.wait(
      "the query",
      (q, k) => document.querySelector("#panel-why [aria-current]")?.dataset.key === String(k) &&
        document.querySelector("#panel-why [data-query]").dataset.query === String(q),
      query, key);
    const said = why(workshop, checkpoint(workshop), given, {layer, head, query, key});
    const [product, softmax, value] = await tables(page, "#panel-why");
    const texts = (row) => row.slice(1).map((cell) => cell.text);
    said.parts.forEach(
      (part, i) =>
        assert.deepStrictEqual(texts(product.rows[i]), [part.q, part.k, part.product].map(four)));
    assert.strictEqual(product.rows.at(-1).at(-1).text, four(said.dot));
    assert.strictEqual(softmax.rows.length, said.row.length + 1);
    said.row.forEach(({score, weight}, j) => {
      const [, shown, , own, model] = softmax.rows[j].map((cell) => cell.text);
      if (j > query)
        assert.strictEqual(shown, "masked");
      else
        assert.strictEqual(shown, four(score));
      assert.deepStrictEqual([own, model], [four(weight), four(weight)]);
    });
    said.value.forEach(
      ({v, added, output}, i) =>
        assert.deepStrictEqual(texts(value.rows[i]), [v, added, output].map(four)));
    const all = await page.evaluate(() => document.querySelector("#panel-why").innerText);
    assert.ok(all.includes(four(said.row[key].weight)) && all.includes(four(said.dot)));
    assert.strictEqual(/Masked/.test(all), key > query);
  }
});

test("next: words and probabilities at each position", async (scene) => {
  const {workshop} = scene, file = workshop.page("small"), recording = new Recording(file);
  const run = recording.run(0, 0), {words, given} = {...recording.texts[0]};
  const page = await scene.open(file);
  await show(page, "next");
  const ids = recording.numbers(run, run.next.words, Int32Array), count = run.next.words.shape[1];
  const chances = recording.numbers(run, run.next.probabilities);
  for (let i = words.length - 1; i >= 0; i -= 5) {
    await page.click(`#tokens [data-position="${i}"]`);
    const [{rows, caption}] = await tables(page, "#panel-next");
    assert.ok(caption.includes(`@${i}`), caption);
    rows.forEach((row, r) => {
      assert.strictEqual(row[1].text.replace(/ ✓$/, ""), recording.words[ids[i * count + r]]);
      assert.strictEqual(row[2].value, chances[i * count + r]);
      assert.strictEqual(row[2].text, four(chances[i * count + r]));
    });
    if (i < words.length - 1) continue;
    analyze(workshop, checkpoint(workshop), given).next.forEach(({word, chance}, r) => {
      assert.strictEqual(rows[r][1].text.replace(/ ✓$/, ""), word);
      assert.ok(Math.abs(rows[r][2].value - chance) <= 0.005001);
    });
  }
  const actual = await page.evaluate(
    () => [...document.querySelectorAll("#panel-next button[data-column]")].map(
      (button) => button.dataset.value ?? null));
  assert.deepStrictEqual(
    actual.slice(0, -1).map(Number), [...recording.numbers(run, run.next.actual)].slice(0, -1));
  assert.strictEqual(actual.at(-1), null);
  const bars = await page.evaluate(
    () => [...document.querySelectorAll("#panel-next button[data-column]")].map(
      (button) => button.querySelector(".column-bar").getBoundingClientRect().height));
  assert.ok(bars.slice(0, -1).every((height) => height >= 1), "even a small one has a bar");
  assert.strictEqual(bars.at(-1), 0, "what nothing follows has no bar");
});

test("lens: each layer's word and probability are those of `lens`", async (scene) => {
  const {workshop} = scene, file = workshop.page("small"), {texts, models} = new Recording(file);
  const page = await scene.open(file);
  await show(page, "lens");
  const said = lens(workshop, checkpoint(workshop), texts[0].given), top = models[0].layers;
  const cells = await page.evaluate(
    () => [...document.querySelectorAll("#panel-lens td[data-layer]")].map(
      (cell) => ({...cell.dataset, word: cell.querySelector(".word").textContent})));
  assert.strictEqual(cells.length, said.values.length * said.words.length);
  for (const {layer, position, value, word} of cells) {
    if (word !== said.words[position]) continue;  // the table of `lens` is about the final word
    assert.strictEqual(Number(value), Math.fround(said.values[layer][position]));
  }
  const final = cells.filter(({layer}) => Number(layer) === top);
  final.forEach(({position, word}) => assert.strictEqual(word, said.words[position]));
  await page.hover(`#panel-lens [data-layer="1"][data-position="6"]`);
  const status = await page.evaluate(() => document.getElementById("status").textContent);
  assert.ok(status.includes(four(said.values[1][6])), `${status}: ${said.values[1][6]}`);
});

test("scores: each head's measures and patterns are those of `analyze`", async (scene) => {
  const {workshop} = scene, file = workshop.page("small"), {texts, patterns} = new Recording(file);
  const page = await scene.open(file), two = (x) => (x === null ? "–" : x.toFixed(2));
  await show(page, "scores");
  const all = analyze(workshop, checkpoint(workshop), texts[0].given).heads;
  const [overview] = await tables(page, "#panel-scores");
  assert.strictEqual(overview.rows.length, all.length);
  for (const [n, {layer, head, entropy, distance}] of all.entries()) {
    const one = analyze(workshop, checkpoint(workshop), texts[0].given, {layer, head});
    const [title, name, ...rest] = overview.rows[n];
    assert.deepStrictEqual([title.text, name.text], [`${layer}.${head}`, one.name]);
    const values = rest.map((cell) => (cell.value === null ? null : cell.value));
    const wanted = [entropy, distance, ...one.patterns.map(({score}) => score)];
    assert.deepStrictEqual(values.map(two), wanted.map(two), `head ${layer}.${head}`);
  }
  for (let p = 0; p < patterns.length; ++p) {
    await choosePattern(page, p);
    const {rows} = (await tables(page, "#panel-scores"))[1], {layer, head} = all[6];
    const said = analyze(workshop, checkpoint(workshop), texts[0].given, {layer, head}).patterns[p];
    const shown = rows[6].map((cell) => cell.value).filter((value) => value !== null).map(two);
    for (const wanted of [said.score, said.uniform, said.untrained[0], said.shuffled[0]]) {
      if (wanted !== null)
        assert.ok(shown.includes(two(wanted)), `${patterns[p]}: ${wanted} in ${shown}`);
    }
  }
});

async function choosePattern(page, p) {
  const selector = await page.evaluate(() => {
    const list = document.querySelector("#panel-scores select");
    return list && `#${list.id}`;
  });
  await choose(page, selector, p);
  await isShown(page, "scores");
}
