// Two models or two texts side by side, and their difference.
"use strict";
const assert = require("node:assert");
const {choose, isShown, maps, show, tables, text} = require("./person.js");
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

// The pixels of the thumbnails: for each grid a list of {layer, head, size, data}.
const grids = (page) => page.evaluate(
  () => [...document.querySelectorAll("#panel-all table")].map(
    (grid) => [...grid.querySelectorAll("button")].map((button) => {
      const canvas = button.querySelector("canvas"), {width: size} = canvas;
      const {data} = canvas.getContext("2d").getImageData(0, 0, size, size);
      const {layer, head} = button.dataset;
      return {layer, head, size, data: [...data]};
    })));

test("beside: all heads of A, of B, and their difference", async (scene) => {
  const file = scene.workshop.page("pair"), recording = new Recording(file);
  const page = await scene.open(file, {hash: "#view=all&beside=1"});
  await isShown(page, "all");
  const [a, b, difference] = await grids(page), n = recording.texts[0].words.length;
  const runs = [recording.run(0, 0), recording.run(1, 0)], seen = {more: 0, less: 0, faint: 0};
  assert.deepStrictEqual([a.length, b.length, difference.length], [8, 8, 8]);
  for (const [at, {layer, head, size, data}] of difference.entries()) {
    assert.deepStrictEqual([layer, head, size], [a[at].layer, b[at].head, n]);
    for (let i = 0; i < n; ++i) {
      for (let j = 0; j <= i; ++j) {
        const [x, y] = runs.map((run) => recording.weight(run, layer, head, i, j)), by = x - y;
        const pixel = (list) => list.slice(4 * (i * n + j), 4 * (i * n + j) + 3);
        const [dark, darkB] = [a[at], b[at]].map((one) => pixel(one.data)[0]);
        if (Math.abs(by) > 0.02) assert.strictEqual(dark < darkB, by > 0, `${[x, y]}`);
        const [red, , blue] = pixel(data);
        if (by > 0.2) seen.more += assert.ok(red > blue + 10) ?? 1;
        if (by < -0.2) seen.less += assert.ok(blue > red + 5) ?? 1;
        if (Math.abs(by) < 0.001) seen.faint += assert.ok(Math.min(red, blue) > 235) ?? 1;
      }
    }
  }
  assert.ok(seen.more > 3 && seen.less > 3 && seen.faint > 3, JSON.stringify(seen));
  await page.hover("#panel-all .scroll:nth-child(3) [data-layer='1'][data-head='2']");
  let apart = 0;
  for (let i = 0; i < n; ++i) {
    for (let j = 0; j <= i; ++j) {
      const [x, y] = runs.map((run) => recording.weight(run, 1, 2, i, j));
      apart += Math.abs(x - y) / 2 / n;
    }
  }
  assert.ok((await text(page, "#status")).includes(`head 2: ${apart.toFixed(4)} of`), `${apart}`);
  await page.click("#panel-all .scroll:nth-child(2) [data-layer='1'][data-head='2']");
  await isShown(page, "map");
  const [cells] = await maps(page);
  for (const {query, key, masked, value} of cells) {
    if (!masked) assert.strictEqual(value, recording.weight(runs[1], 1, 2, query, key));
  }
});

test(
  "beside: all heads of a model of other sizes, and of a text of another length", async (scene) => {
    const page = await scene.open(scene.workshop.page("forms"), {hash: "#view=all&beside=2"});
    await isShown(page, "all");
    assert.deepStrictEqual((await grids(page)).map((grid) => grid.length), [12, 1, 1]);
    await page.setHash("#view=all&beside=text1");
    await page.wait("two", () => document.querySelectorAll("#panel-all table").length === 2);
    assert.match(await text(page, "#panel-all"), /differ in length/);
  });

test("beside: why shows the arithmetic of B below that of A", async (scene) => {
  const file = scene.workshop.page("pair"), recording = new Recording(file);
  const page = await scene.open(file, {hash: "#view=why&layer=1&head=2&query=8&key=3&beside=1"});
  await isShown(page, "why");
  const all = await text(page, "#panel-why"), runs = [recording.run(0, 0), recording.run(1, 0)];
  const [a, b] = runs.map((run) => recording.weight(run, 1, 2, 8, 3));
  const by = (a > b ? "+" : "") + (a - b).toFixed(4);
  assert.ok(all.includes(`${a.toFixed(4)} in A and ${b.toFixed(4)} in B: A − B is ${by}`), all);
  const six = await tables(page, "#panel-why");
  assert.deepStrictEqual(six.map(({caption}) => caption[0]).join(""), "AAABBB");
  runs.forEach((run, s) => {
    const [product, softmax, value] = six.slice(3 * s), row = softmax.rows[3];
    assert.strictEqual(row.at(-1).value, recording.weight(run, 1, 2, 8, 3));
    const {query: q, value: v} = run.layers[1], width = q.shape[2], n = q.shape[1];
    const vector = (ref, i) => recording.numbers(run, ref).slice((2 * n + i) * width)[0];
    assert.strictEqual(product.rows[0][1].value, vector(q, 8));
    assert.strictEqual(value.rows[0][1].value, vector(v, 3));
  });
  await page.click("#panel-why .steps:last-of-type tr[data-key='5']");
  await page.wait("the key", () => location.hash.includes("key=5"));
  await page.setHash("#view=why&query=11&key=10&beside=text1");
  await page.wait("no B", () => document.querySelectorAll("#panel-why table").length === 3);
  assert.match(await text(page, "#panel-why"), /It has no position 11/);
});

test("beside: the lens of A and of B, and how far A's words are ahead", async (scene) => {
  const file = scene.workshop.page("pair"), recording = new Recording(file);
  const page = await scene.open(file, {hash: "#view=lens&beside=1"});
  await isShown(page, "lens");
  const runs = [recording.run(0, 0), recording.run(1, 0)], seen = {known: 0, unknown: 0};
  const listed = runs.map(({lens: {words, probabilities}}, r) => {
    const ids = recording.numbers(runs[r], words, Int32Array);
    return {ids, chances: recording.numbers(runs[r], probabilities), count: words.shape.at(-1)};
  });
  const cells = await page.evaluate(
    () => [...document.querySelectorAll("#panel-lens table")].map(
      (table) => [...table.querySelectorAll("td")].map(
        (cell) => ({...cell.dataset, by: cell.querySelector(".by")?.textContent}))));
  const n = recording.texts[0].words.length, [a, b] = listed;
  assert.deepStrictEqual(cells.map((list) => list.length), [3 * n, 3 * n]);
  cells.forEach((list, s) => list.forEach(({layer, position, value, by}) => {
    const at = (Number(layer) * n + Number(position)) * a.count;
    assert.strictEqual(Number(value), listed[s].chances[at]);
    if (s === 1) return assert.strictEqual(by, undefined);
    const there = [...b.ids.slice(at, at + b.count)].indexOf(a.ids[at]);
    ++seen[there < 0 ? "unknown" : "known"];
    if (there < 0) return assert.strictEqual(by, "–");
    const difference = a.chances[at] - b.chances[at + there];
    const sign = difference > 5e-5 ? "+" : "";
    return assert.strictEqual(by, sign + difference.toFixed(4).replace("-0.0000", "0.0000"));
  }));
  assert.ok(seen.known > 5 && seen.unknown > 0, JSON.stringify(seen));
  const forms = await scene.open(scene.workshop.page("forms"), {hash: "#view=lens&beside=2"});
  await isShown(forms, "lens");
  assert.match(await text(forms, "#panel-lens"), /B predicts no words/);
});
