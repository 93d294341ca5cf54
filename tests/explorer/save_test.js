// Every view is saved as a picture and as numbers.
"use strict";
const assert = require("node:assert");
const {isShown, views} = require("./person.js");
const {Recording} = require("./recording.js");
const {test} = require("./runner.js");

// The rows of a CSV file: quotes are doubled in quoted fields, lines end with CR LF.
function parseCsv(text) {
  assert.ok(text.endsWith("\r\n"));
  const rows = [[]];
  const field = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/y;
  while (field.lastIndex < text.length) {
    const found = field.exec(text);
    assert.ok(found, `not CSV: ${rows.at(-1)}`);
    rows.at(-1).push(
      found[1].startsWith('"') ? found[1].slice(1, -1).replaceAll('""', '"') : found[1]);
    if (found[2] !== ",") rows.push([]);
  }
  rows.pop();
  const [columns, ...rest] = rows;
  for (const row of rest) assert.strictEqual(row.length, columns.length, `${row}`);
  return rest.map((row) => Object.fromEntries(row.map((value, i) => [columns[i], value])));
}

async function saved(scene, page, kind) {
  return scene.browser.download(() => page.click(`#save-${kind}`));
}

// Parses it as an XML document, in a page of its own.
const checkSvg = (page, text) => page.evaluate((source) => {
  const {documentElement: root} = new DOMParser().parseFromString(source, "image/svg+xml");
  return {
    name: root.localName,
    space: root.namespaceURI,
    drawn: root.querySelectorAll("*").length,
    error: root.querySelector("parsererror")?.textContent ?? "",
    size: root.getAttribute("viewBox"),
    active: root.querySelectorAll("script, foreignObject, [onload], [href^='http']").length,
    words: [...root.querySelectorAll("text")].map((one) => one.textContent)
  };
}, text);

test("save: every view of every page is a well-formed picture", async (scene) => {
  for (const name of ["pair", "forms", "endless", "hostile", "slider"]) {
    const page = await scene.open(scene.workshop.page(name));
    for (const view of views) {
      await page.setHash(`#view=${view}&beside=${name === "hostile" ? "text6" : 1}`);
      await isShown(page, view);
      const {name: file, text} = await saved(scene, page, "svg");
      assert.match(file, /^[-\w.]+\.svg$/);
      assert.ok(file.includes(view), file);
      const seen = await checkSvg(page, text);
      assert.deepStrictEqual(
        [seen.error, seen.name, seen.space, seen.active],
        ["", "svg", "http://www.w3.org/2000/svg", 0], `${name}, ${view}`);
      assert.ok(seen.drawn > 5 && /^0 0 [\d.]+ [\d.]+$/.test(seen.size), `${name}, ${view}`);
      assert.doesNotMatch(text, /var\(--|class=/, "a saved picture has no style sheet");
    }
    await scene.finish(page);
  }
});

test("save: numbers of every view are a table, cell for cell", async (scene) => {
  for (const name of ["pair", "forms", "hostile", "slider"]) {
    const page = await scene.open(scene.workshop.page(name));
    for (const view of views) {
      await page.setHash(`#view=${view}`);
      await isShown(page, view);
      const {name: file, text} = await saved(scene, page, "csv");
      assert.match(file, /^[-\w.]+\.csv$/);
      assert.ok(parseCsv(text).length > 0, `${name}, ${view}`);
    }
    await scene.finish(page);
  }
});

test("save: the numbers of a map are the weights, those beside it, and A - B", async (scene) => {
  const file = scene.workshop.page("pair"), recording = new Recording(file);
  const page = await scene.open(file, {hash: "#view=map&layer=1&head=3&beside=1"});
  await isShown(page, "map");
  const rows = parseCsv((await saved(scene, page, "csv")).text);
  const {words} = recording.texts[0], [a, b] = [recording.run(0, 0), recording.run(1, 0)];
  assert.strictEqual(rows.length, words.length ** 2);
  for (const row of rows) {
    const [i, j] = [Number(row.query), Number(row.key)];
    assert.deepStrictEqual([row["query word"], row["key word"]], [words[i], words[j]]);
    const numbers = Object.values(row).slice(4);
    assert.strictEqual(numbers.length, 3);
    if (j > i)
      assert.deepStrictEqual(numbers, ["masked", "masked", "masked"]);
    else {
      const [x, y] = [recording.weight(a, 1, 3, i, j), recording.weight(b, 1, 3, i, j)];
      assert.deepStrictEqual(numbers.map(Number), [x, y, x - y]);
    }
  }
});

test("save: beside a shorter text, cells that it lacks are empty", async (scene) => {
  const file = scene.workshop.page("pair"), recording = new Recording(file);
  const page = await scene.open(file, {hash: "#view=map&beside=text1"});
  const rows = parseCsv((await saved(scene, page, "csv")).text), {texts} = recording;
  const shorter = texts[1].words.length, run = recording.run(0, 1);
  assert.ok(shorter < texts[0].words.length);
  const [b] = Object.keys(rows[0]).slice(-1);
  for (const row of rows) {
    const [i, j] = [Number(row.query), Number(row.key)];
    if (i >= shorter || j >= shorter)
      assert.strictEqual(row[b], "", `${i}, ${j}`);
    else if (j <= i)
      assert.strictEqual(Number(row[b]), recording.weight(run, 0, 0, i, j));
  }
});

test("save: the numbers of all heads and of the lens are the library's", async (scene) => {
  const file = scene.workshop.page("small"), recording = new Recording(file);
  const page = await scene.open(file, {hash: "#view=all"}), run = recording.run(0, 0);
  await isShown(page, "all");
  const all = parseCsv((await saved(scene, page, "csv")).text);
  assert.strictEqual(all.length, 8 * 144);
  for (const row of all) {
    const [layer, head, i, j, weight] = Object.values(row);
    if (weight === "masked")
      assert.ok(Number(j) > Number(i));
    else
      assert.strictEqual(Number(weight), recording.weight(run, layer, head, Number(i), Number(j)));
  }
  await page.setHash("#view=lens");
  await isShown(page, "lens");
  const lens = parseCsv((await saved(scene, page, "csv")).text);
  const chances = recording.numbers(run, run.lens.probabilities);
  assert.deepStrictEqual(lens.map((row) => Number(row.probability)), [...chances]);
});

test("save: a word that a spreadsheet would compute stays a word", async (scene) => {
  const page = await scene.open(scene.workshop.page("formula"), {hash: "#view=map"});
  await isShown(page, "map");
  const rows = parseCsv((await saved(scene, page, "csv")).text);
  for (const row of rows) assert.doesNotMatch(row["key word"], /^[=+\-@]./, row["key word"]);
  assert.ok(rows.some((row) => row["key word"] === "'=1+1"));
  assert.ok(rows.some((row) => row["key word"] === 'a,"b'));
});

const canvases = (page) =>
  page.evaluate(() => [...document.querySelectorAll("#panel-all canvas")].map((canvas) => {
    const size = canvas.width;
    return {size, data: [...canvas.getContext("2d").getImageData(0, 0, size, size).data]};
  }));

// The rectangles of the picture cover each map of the page, in its colours.
function compareShapes(text, drawn) {
  const groups = text.match(/<g transform="translate[^]*?<\/g>/g);
  assert.strictEqual(groups.length, drawn.length);
  groups.forEach((group, g) => {
    const {size, data} = drawn[g], cells = Array(size * size).fill(null);
    for (const [, fill, d] of group.matchAll(/<path fill="(#\w+)" d="([^"]+)"/g)) {
      for (const [, x, y, width] of d.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) {
        for (let i = 0; i < Number(width); ++i) cells[Number(y) * size + Number(x) + i] = fill;
      }
    }
    const hex = (x) => x.toString(16).padStart(2, "0");
    cells.forEach((fill, at) => {
      const colour = "#" + data.slice(4 * at, 4 * at + 3).map(hex).join("");
      if (fill !== colour) assert.fail(`map ${g}, cell ${at}: ${fill} instead of ${colour}`);
    });
  });
}

test("save: all heads are drawn cell by cell, or say why not", async (scene) => {
  for (const [name, beside, isBitmap] of [
         ["pair", 1, false], ["endless", "", false], ["pooled", "", true]]) {
    const file = scene.workshop.page(name), {models} = new Recording(file);
    const page = await scene.open(file, {hash: `#view=all&beside=${beside}`});
    await isShown(page, "all");
    const {text} = await saved(scene, page, "svg"), shapes = text.match(/h\d+v1h/g) ?? [];
    const what = `${name}: ${text.length} characters, ${shapes.length} shapes`;
    scene.tell(what);
    assert.ok(text.length < 2e6, what);
    const images = (text.match(/<image /g) ?? []).length;
    assert.strictEqual(images, isBitmap ? models[0].layers * models[0].heads : 0, what);
    assert.strictEqual(/Each head is a bitmap/.test(text), isBitmap, what);
    if (!isBitmap) compareShapes(text, await canvases(page));
    await scene.finish(page);
  }
});
