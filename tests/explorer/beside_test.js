// Two models or two texts side by side, and their difference.
"use strict";
const assert = require("node:assert");
const {choose, isShown, maps, show, text} = require("./person.js");
const {Recording} = require("./recording.js");
const {test} = require("./runner.js");

test("beside: the difference is A - B, with its colour and sign", async (scene) => {
  const file = scene.workshop.page("pair"), recording = new Recording(file);
  const page = await scene.open(file);
  await show(page, "map");
  for (const other of [1, 2]) {
    await choose(page, "#choose-beside", other);
    const [a, b, difference] = await maps(page),
                 [one, two] = [recording.run(0, 0), recording.run(other, 0)];
    assert.ok(difference, `three maps beside model ${other}`);
    const fills = {more: new Set(), less: new Set()};
    a.forEach(({query, key, masked, value}, i) => {
      if (masked) return assert.ok(b[i].masked && difference[i].masked);
      assert.strictEqual(value, recording.weight(one, 0, 0, query, key));
      assert.strictEqual(b[i].value, recording.weight(two, 0, 0, query, key));
      assert.strictEqual(difference[i].value, value - b[i].value, `query ${query}, key ${key}`);
      if (Math.abs(difference[i].value) < 0.1) return undefined;
      return fills[difference[i].value > 0 ? "more" : "less"].add(difference[i].fill);
    });
    assert.ok(fills.more.size > 0 && fills.less.size > 0);
    assert.ok([...fills.more].every((fill) => !fills.less.has(fill)), "signs differ in colour");
    const {query, key, value} = difference.find((cell) => Math.abs(cell.value) > 0.1);
    await page.hover(`#panel-map svg:last-of-type [data-query="${query}"][data-key="${key}"]`);
    const status = await page.evaluate(() => document.getElementById("status").textContent);
    const said = (value > 0 ? "+" : "") + value.toFixed(4);
    assert.ok(status.includes(said), `${said} in ${status}`);
  }
});

test("beside: a click on a weight of B opens the arithmetic of B", async (scene) => {
  const file = scene.workshop.page("pair"), recording = new Recording(file);
  const page = await scene.open(file, {hash: "#view=map&model=0&beside=1&layer=0&head=0"});
  await isShown(page, "map");
  const [, b] = await maps(page), {query, key} = b.find((cell) => !cell.masked && cell.query > 2);
  const ofB = "#panel-map .pictures > :nth-child(2)";
  await page.click(`${ofB} [data-query="${query}"][data-key="${key}"]`);
  await isShown(page, "why");
  const weight = recording.weight(recording.run(1, 0), 0, 0, query, key).toFixed(4);
  assert.ok((await text(page, "#panel-why")).includes(`Weight ${weight}`), `weight ${weight}`);
});

test("beside: what was pointed at is no longer said in another view", async (scene) => {
  const page = await scene.open(scene.workshop.page("pair"));
  await show(page, "map");
  await page.hover("#panel-map [data-query='2'][data-key='1']");
  assert.notStrictEqual(await text(page, "#status"), "");
  await show(page, "next");
  assert.strictEqual(await text(page, "#status"), "");
});

test("beside: another text, of another length, has no difference but a sentence", async (scene) => {
  const page = await scene.open(scene.workshop.page("pair"));
  await show(page, "map");
  await choose(page, "#choose-beside", "text1");
  assert.strictEqual((await maps(page)).length, 2);
  assert.match(await text(page, "#panel-map"), /differ in length/);
});

test("beside: every view takes a model and a text beside", async (scene) => {
  const page = await scene.open(scene.workshop.page("pair"));
  for (const beside of ["1", "2", "text1"]) {
    for (const view of ["heads", "all", "map", "why", "next", "lens", "scores"]) {
      await page.setHash(`#view=${view}&beside=${beside}`);
      await page.wait(view, (name) => !document.getElementById(`panel-${name}`).hidden, view);
      const seen = await text(page, `#panel-${view}`);
      assert.ok(seen.length > 20, `${view} beside ${beside}`);
    }
  }
});

test("beside: an encoder beside a decoder: masked in one is 0 there", async (scene) => {
  const file = scene.workshop.page("forms"), recording = new Recording(file);
  const page = await scene.open(file, {hash: "#view=map&model=0&beside=1&layer=1&head=3"});
  await isShown(page, "map");
  const [a, b, difference] = await maps(page);
  const [one, two] = [recording.run(0, 0), recording.run(1, 0)];
  const n = recording.texts[0].words.length;
  for (let at = 0; at < n * n; ++at) {
    const {query, key} = a[at], far = Math.abs(query - key) >= 3;
    assert.strictEqual(a[at].masked, far);
    assert.strictEqual(b[at].masked, key > query);
    if (!far) assert.strictEqual(a[at].value, recording.weight(one, 1, 3, query, key));
    if (far && key > query)
      assert.ok(difference[at].masked);
    else {
      const wanted = (far ? 0 : a[at].value) - recording.weight(two, 1, 3, query, key);
      assert.strictEqual(difference[at].value, wanted);
    }
  }
});
