// Live pages: parts of a model are cut, held and patched in the page, with the numbers of `tapestry
// cut` and `tapestry patch`.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const {liveTest, openLive, typeText} = require("./live_test.js");
const {isShown, maps, show, tables, text} = require("./person.js");

const words = "c d e f c d e f c d", other = "c d a f c d a f c c";
const model = ["--checkpoint", "induction1.safetensors"];

// Numbers of a command, with the engine's kernels.
function asked(workshop, command, ...options) {
  const file = workshop.file(`${command}.json`);
  process.env.TAPESTRY_KERNELS = "sse2";
  workshop.tapestry(command, ...options, "--json", file, "--out", "plots");
  delete process.env.TAPESTRY_KERNELS;
  return JSON.parse(fs.readFileSync(file, "utf8")).tables;
}

// A page with the typed text, the panel open, at that address.
async function reachIn(scene, hash = "") {
  const page = await openLive(scene, scene.workshop.page("live"));
  await typeText(page, words);
  await page.click("#reach summary");
  if (hash) await page.setHash(`#view=map&text=1&${hash}`);
  await page.rest();
  return page;
}

const button = (kind, part) => `#reach [data-kind=${kind}][data-part=${part}]`;

// Clicks, and waits until so many changes stand in the list and are shown.
async function change(page, selector, count) {
  await page.click(selector);
  await changed(page, count);
}

async function changed(page, count) {
  await page.wait(
    `${count} changes`,
    (n) => document.querySelectorAll("#reach-list li").length === n &&
      (document.querySelector("#choose-beside").selectedOptions[0].text.includes("with") === n > 0),
    count);
  await page.rest();
}

// The cells of map B: weight(query, key).
async function weightsOfB(page) {
  const [, cells] = await maps(page);
  const found =
    new Map(cells.map((one) => [`${one.query},${one.key}`, one.masked ? 0 : one.value]));
  return (i, j) => found.get(`${i},${j}`);
}

const sum = (weight, i) =>
  Array.from({length: 11}, (_, j) => weight(i, j)).reduce((a, b) => a + b, 0);

liveTest("cuts have the numbers of tapestry cut, singly and together", async (scene) => {
  const page = await reachIn(scene, "layer=0&head=0&query=10");
  await change(page, button("cut", "head"), 1);
  await page.setHash("#view=map&model=0&text=1&beside=2&layer=1&head=2&query=10&key=3");
  await page.rest();
  await change(page, button("cut", "link"), 2);
  const [{values}] = asked(scene.workshop, "cut", "0.0", "1.2:10>3", ...model, "--text", words);
  await page.wait("the falls", () => document.querySelectorAll("#prediction tr").length >= 6);
  const [answers, falls] = await tables(page, "#prediction");
  assert.strictEqual(falls.rows.length, 3, "each, and all together");
  falls.rows.forEach((row, r) => {
    [1, 2, 3].forEach((c) => {
      const by = Math.abs(row[c].value - values[r][c - 1]);
      assert.ok(by <= 1e-5, `${row[0].text} column ${c}: ${row[c].value}, not ${values[r][c - 1]}`);
    });
    assert.strictEqual(
      row[4].text, values[r][2] === 0 ? "all alike" : `${values[r][3]} of 20`);
  });
  assert.ok(Math.abs(answers.rows[0][3].value - values[2][0]) <= 1e-5, "the fall of all changes");
  assert.ok(values[2][0] > 0.1, "the cuts are felt");
});

liveTest("a cut link has weight 0, a hidden position too, and its rows sum to 1", async (scene) => {
  const page = await reachIn(scene, "layer=1&head=2&query=9&key=3");
  const [before] = await maps(page);
  await change(page, button("cut", "link"), 1);
  let weight = await weightsOfB(page);
  const own = (i, j) => before.find(({query, key}) => query === i && key === j).value;
  assert.strictEqual(weight(9, 3), 0);
  assert.ok(own(9, 3) > 0, "it was not 0 before");
  for (let j = 0; j <= 9; ++j) {
    if (j !== 3) assert.ok(Math.abs(weight(9, j) - own(9, j)) <= 1e-6, "the others stay");
  }
  await change(page, "#reach-list button", 0);
  await page.setHash("#view=map&text=1&layer=0&head=0&query=3");
  await page.rest();
  await change(page, button("cut", "position"), 1);
  weight = await weightsOfB(page);
  for (let i = 4; i <= 10; ++i) {
    assert.strictEqual(weight(i, 3), 0, `query ${i} does not see position 3`);
    assert.ok(Math.abs(sum(weight, i) - 1) <= 1e-6, `row ${i} sums to ${sum(weight, i)}`);
  }
  assert.ok(weight(3, 3) > 0, "it sees itself");
});

liveTest("a held weight is what was set, and its row sums to 1", async (scene) => {
  const page = await reachIn(scene, "layer=1&head=2&query=9&key=3");
  const [before] = await maps(page);
  await page.focus("#hold");
  for (const key of ["End", "ArrowLeft", "ArrowLeft"]) await page.press(key);
  await changed(page, 1);
  await page.wait("0.98", () => document.querySelector("#reach-list").innerText.includes("0.98"));
  await page.rest();
  const weight = await weightsOfB(page);
  assert.strictEqual(weight(9, 3), Math.fround(0.98));
  assert.ok(Math.abs(sum(weight, 9) - 1) <= 1e-6, `the row sums to ${sum(weight, 9)}`);
  const own = (j) => before.find(({query, key}) => query === 9 && key === j).value;
  const wanted = own(5) * 0.02 / (1 - own(3));
  assert.ok(Math.abs(weight(9, 5) - wanted) <= 1e-6, "the others are scaled");
  await change(page, "#take-all-back", 0);
  assert.strictEqual(await page.evaluate(() => document.activeElement.tagName), "SUMMARY");
});

liveTest("a patched head and stream have the effect that tapestry patch tells", async (scene) => {
  const found = asked(scene.workshop, "patch", ...model, "--from", other, "--text", words);
  const heads = found.find(({name}) => name === "heads").values;
  const streams = found.find(({name}) => name.includes("residual")).values;  // position, layer
  for (const [part, hash, wanted] of [
         ["head", "layer=0&head=2&query=10", heads[0][2]],
         ["stream", "layer=1&head=0&query=7&key=1", null]]) {
    const page = await reachIn(scene, hash);
    await page.evaluate(() => document.getElementById("second-text").value = "");
    await page.focus("#second-text");
    await page.type(other);
    await change(page, button("patched", part), 1);
    await page.setHash("#view=map&model=0&beside=2&text=1&query=10");
    const share = () =>
      document.querySelector("#prediction caption")?.textContent.includes("@10") &&
      document.querySelector("#share .number")?.dataset.value;
    await page.wait("the share", share);
    const value = Number(await page.evaluate(share)), right = wanted ?? streams[7][1];
    assert.ok(Math.abs(value - right) <= 1e-5, `${part}: ${value}, not ${right}`);
    await scene.finish(page);
  }
});

liveTest("what is taken back is exactly as before", async (scene) => {
  const page = await reachIn(scene, "layer=1&head=2&query=10&key=3");
  const [before] = await maps(page);
  const plain = (cells) => cells.map(({query, key, value}) => [query, key, value]);
  await page.setHash("#view=map&text=1&layer=0&head=0&query=10");
  await page.rest();
  await change(page, button("cut", "head"), 1);
  await page.setHash("#view=map&model=0&beside=2&text=1&layer=1&head=2&query=10");
  await page.rest();
  const [a, one, difference] = await maps(page);
  assert.deepStrictEqual(plain(a), plain(before), "A is as it is");
  assert.notDeepStrictEqual(plain(one), plain(before));
  assert.ok(difference.some(({value}) => Math.abs(value) > 1e-3), "the difference is drawn");
  await change(page, button("cut", "mlp").replace("mlp", "attention"), 2);
  assert.notDeepStrictEqual(plain((await maps(page))[1]), plain(before));
  await change(page, "#reach-list li:nth-child(2) button", 1);
  assert.deepStrictEqual(plain((await maps(page))[1]), plain(one), "one of two taken back");
  await change(page, "#reach-list button", 0);
  const left = await maps(page);
  assert.strictEqual(left.length, 1, "nothing stands beside");
  assert.deepStrictEqual(plain(left[0]), plain(before));
  const options = await page.evaluate(
    () => [...document.querySelectorAll("#choose-model option")].map((one) => one.text));
  assert.strictEqual(options.length, 2, `${options}`);
});

liveTest("a link or head is cut in the views, by keyboard alone", async (scene) => {
  const page = await openLive(
    scene, scene.workshop.page("live"), {hash: "#view=why&layer=1&head=2&query=9&key=3"});
  await page.focus("#cut-link");
  await page.press("Enter");
  await changed(page, 1);
  assert.ok((await text(page, "#panel-why")).includes("0.0000 in B"), "the weight in B");
  await page.focus("#tab-map");
  await page.press("Enter");
  await isShown(page, "map");
  await page.focus("#cut-head");
  await page.press("Enter");
  await changed(page, 2);
  await page.focus("#live > summary");
  await page.press("Enter");
  await page.press("Tab");
  await page.press("Tab");
  await page.evaluate(() => document.querySelector("#reach summary").focus());
  await page.press("Enter");
  const names = (await page.tree()).filter(({role}) => role === "button").map(({name}) => name);
  assert.ok(names.includes("Take back: link 1.2: 9 → 3 cut"), `${names}`);
  await page.focus("#reach-list button");
  await page.press("Enter");
  await changed(page, 1);
  assert.strictEqual(
    await page.evaluate(() => document.activeElement.ariaLabel), "Take back: head 1.2 cut");
  await page.press("Enter");
  await changed(page, 0);
});

liveTest("a link is cut or held, not both, and a view takes changes back", async (scene) => {
  const page = await reachIn(scene, "layer=1&head=2&query=9&key=3");
  await change(page, button("cut", "link"), 1);
  await page.focus("#hold");
  await page.press("End");
  const list = (pattern) => page.wait(`the list ${pattern}`, (wanted) => {
    const items = [...document.querySelectorAll("#reach-list li")].map((one) => one.innerText);
    return items.length === 1 && new RegExp(wanted).test(items[0]);
  }, pattern);
  await list("held at 1\\.00");
  await page.click(button("cut", "link"));
  await list("3 cut");
  await show(page, "why");
  await page.click("#take-back");
  await changed(page, 0);
  assert.strictEqual(await page.evaluate(() => document.getElementById("take-back")), null);
});

liveTest("the second text is one of the same length, until someone writes one", async (scene) => {
  const page = await reachIn(scene);
  const second = () => page.evaluate(() => document.getElementById("second-text").value);
  const first = await page.evaluate(() => document.querySelector("#choose-text option").text);
  assert.strictEqual(await second(), first, "the only other one");
  await page.focus("#second-text");
  await page.type(" x");
  await typeText(page, "a b c");
  assert.strictEqual(await second(), `${first} x`);
});

liveTest("a refused change is told in a sentence, and the others stay", async (scene) => {
  const page = await reachIn(scene, "layer=0&head=0&query=10");
  await change(page, button("cut", "head"), 1);
  await page.evaluate(() => document.getElementById("second-text").value = "");
  await page.focus("#second-text");
  await page.type("a b");
  await page.click(button("patched", "head"));
  await page.wait(
    "the problem",
    () => document.getElementById("reach-problem").textContent.includes("make them equally long"));
  await changed(page, 1);
  assert.match(await text(page, "#reach-list"), /head 0\.0 cut/);
  await show(page, "heads");
  await typeText(page, "c d");
  await page.wait(
    "the difference", () => document.querySelector("#panel-heads").innerText.includes("A − B"));
});

liveTest(
  "a change that a shorter text has no position for waits for a longer one", async (scene) => {
    const page = await reachIn(scene, "layer=1&head=2&query=10&key=3");
    await change(page, button("cut", "link"), 1);
    const waits = async (isWaiting) => {
      await page.wait(
        "the list",
        (wanted) =>
          document.getElementById("reach-list").innerText.includes("not in this text") === wanted,
        isWaiting);
      assert.strictEqual(await text(page, "#reach-problem"), "");
    };
    await typeText(page, "c d");
    await waits(true);
    await typeText(page, words);
    await waits(false);
    await page.setHash("#view=map&model=0&beside=2&text=1&layer=1&head=2&query=10&key=3");
    await page.rest();
    assert.strictEqual((await weightsOfB(page))(10, 3), 0);
  });
