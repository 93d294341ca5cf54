// Models that are dropped on a live page, or chosen there: they open, or one sentence says why not,
// and the engine goes on.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const {pause} = require("./browser.js");
const {listening, liveTest, openPrepared} = require("./live_test.js");
const {maps, show, text} = require("./person.js");
const {Recording} = require("./recording.js");
const {test} = require("./runner.js");

async function openPage(scene) {
  const page = await openPrepared(scene, scene.workshop.page("live"), listening);
  await page.evaluate(() => document.getElementById("live").open = true);
  return page;
}

// Drops files: [{name, bytes}]. Resolves to what the page then says.
async function drop(page, files) {
  await page.evaluate((given) => {
    document.getElementById("open-note").textContent = "";
    const carried = new DataTransfer();
    for (const {name, base64} of given) {
      carried.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
    }
    for (const kind of ["dragover", "drop"]) {
      document.body.dispatchEvent(
        new DragEvent(kind, {dataTransfer: carried, bubbles: true, cancelable: true}));
    }
  }, files.map(({name, bytes}) => ({name, base64: Buffer.from(bytes).toString("base64")})));
  return said(page);
}

async function choose(page, files) {
  const {result} =
    await page.send("Runtime.evaluate", {expression: 'document.getElementById("open-files")'});
  await page.send("DOM.setFileInputFiles", {files, objectId: result.objectId});
  return said(page);
}

async function said(page) {
  for (let i = 0; i < 300; ++i) {
    const note = await text(page, "#open-note");
    if (note !== "" && !note.startsWith("The engine opens")) return note;
    await pause(50);
  }
  throw new Error("the page says nothing about the files");
}

const isWell = async (page) => {
  assert.strictEqual(await page.evaluate(() => workers.length), 1, "the engine did not stop");
};

liveTest("a dropped checkpoint opens, with the native library's weights", async (scene) => {
  const {workshop} = scene, page = await openPage(scene);
  const file =
    workshop.model("induction2.safetensors", "induction", "--steps", "60", "--seed", "2");
  const note = await drop(page, [{name: "induction2.safetensors", bytes: fs.readFileSync(file)}]);
  assert.match(note, /^induction2\.safetensors is open: 2 layers, 4 heads each/);
  await show(page, "map");
  await page.setHash("#view=map&model=2&text=0&layer=1&head=2");
  await page.rest();
  process.env.TAPESTRY_KERNELS = "sse2";
  const native = workshop.file("dropped.html");
  workshop.tapestry(
    "explore", "induction2.safetensors", "--text", "a b c d a b e f a b c", "--recorded", "--out",
    native);
  delete process.env.TAPESTRY_KERNELS;
  const recording = new Recording(native), run = recording.run(0, 0), [cells] = await maps(page);
  assert.strictEqual(cells.length, 144);
  for (const {query, key, value, masked} of cells) {
    if (masked) continue;
    const there = recording.weight(run, 1, 2, query, key);
    assert.ok(Math.abs(value - there) <= 1e-6, `${query}, ${key}: ${value} and ${there}`);
  }
  await isWell(page);
});

liveTest("a model that cannot read the page's text gets words of its own", async (scene) => {
  const {workshop} = scene, page = await openPage(scene);
  const file = workshop.model("grammar.safetensors", "grammar", "--steps", "2");
  assert.match(await choose(page, [file]), /is open: .*cannot read the text that was shown/);
  await show(page, "map");
  await isWell(page);
});

liveTest("a folder's files chosen together open", async (scene) => {
  const {workshop} = scene, folder = workshop.real("stories260K");
  if (!folder) return scene.tell("left out: no stories260K in MODELS");
  const files =
    fs.readdirSync(folder).filter((name) => /\.(json|txt|safetensors|model)$/.test(name));
  const page = await openPage(scene);
  assert.match(
    await choose(page, files.map((name) => path.join(folder, name))), /opened folder is open/);
  await isWell(page);
});

// Drops files or folders of this machine, as a person does with the mouse.
async function dropReal(page, paths) {
  await page.evaluate(() => document.getElementById("open-note").textContent = "");
  const data = {items: [], files: paths, dragOperationsMask: 1};
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await page.send("Input.dispatchDragEvent", {type, x: 300, y: 300, data});
  }
  return said(page);
}

liveTest("a dropped folder opens under its name, beside loose files", async (scene) => {
  const {workshop} = scene, page = await openPage(scene);
  const from = workshop.real("stories260K");
  if (!from) return scene.tell("left out: no stories260K in MODELS");
  const folder = workshop.file("little"), deeper = path.join(folder, "deeper");
  fs.cpSync(from, folder, {recursive: true});
  fs.mkdirSync(deeper, {recursive: true});
  fs.writeFileSync(path.join(deeper, "config.json"), "{}");
  fs.writeFileSync(path.join(folder, "pytorch_model.bin"), Buffer.alloc(1000));
  const file = workshop.file("induction1.safetensors"), none = workshop.file("nothing_here");
  fs.mkdirSync(none, {recursive: true});
  const note = await dropReal(page, [folder, file, none]);
  scene.tell(note);
  assert.match(note, /little is open: /);
  assert.match(note, /induction1\.safetensors is open: /);
  assert.match(note, /nothing_here is no model: /);
  await isWell(page);
});

liveTest("files that are no model are told in one sentence each", async (scene) => {
  const {workshop} = scene, page = await openPage(scene);
  const whole = fs.readFileSync(workshop.file("induction1.safetensors"));
  const tries = [["notes.txt", Buffer.from("hello")], ["empty.safetensors", Buffer.alloc(0)]];
  for (const part of [1, 7, 8, 9, 100, 2000, whole.length - 1]) {
    tries.push([`cut${part}.safetensors`, whole.subarray(0, part)]);
  }
  for (let i = 0; i < 40; ++i) {
    const bytes = Buffer.from(whole);
    bytes[(i * 7919) % 1500] ^= 1 << i % 8;
    tries.push([`changed${i}.safetensors`, bytes]);
  }
  const corpus = path.join(__dirname, "../fuzz/corpus");
  for (const kind of ["safetensors", "checkpoint", "weights", "adapters"]) {
    for (const name of fs.readdirSync(path.join(corpus, kind))) {
      tries.push([`${kind}_${name}.safetensors`, fs.readFileSync(path.join(corpus, kind, name))]);
    }
  }
  let refused = 0;
  for (const [name, bytes] of tries) {
    const note = await drop(page, [{name, bytes}]);
    assert.ok(note.startsWith(name), note);
    assert.match(note, /is no model|could not be opened|is open/, name);
    assert.doesNotMatch(note, /opened-\d|\n/, name);
    refused += !note.includes("is open");
    if (/notes|empty|cut/.test(name)) assert.doesNotMatch(note, /is open/, name);
  }
  scene.tell(`${refused} of ${tries.length} files refused`);
  await isWell(page);
  assert.match(
    await drop(page, [{name: "whole.safetensors", bytes: whole}]), /^whole\.safetensors is open/);
});

liveTest("a file that is too large is refused before it is read", async (scene) => {
  const file = scene.workshop.file("large.safetensors");
  fs.closeSync(fs.openSync(file, "w"));
  fs.truncateSync(file, 501e6);
  const page = await openPage(scene);
  assert.match(await choose(page, [file]), /501 MB, and this page opens at most 500 MB/);
  fs.rmSync(file);
  await isWell(page);
});

liveTest("models that were opened are there after the engine died", async (scene) => {
  const {workshop} = scene, page = await openPage(scene);
  const file =
    workshop.model("induction2.safetensors", "induction", "--steps", "60", "--seed", "2");
  await choose(page, [file]);
  await page.evaluate(
    () => workers[0].onerror(new ErrorEvent("error", {message: "out of memory"})));
  await page.wait(
    "the new engine",
    () => workers.length === 2 &&
      document.getElementById("live-state").textContent.includes("out of memory"));
  await page.evaluate(() => document.getElementById("typed").value = "");
  await page.focus("#typed");
  await page.type("d e f d e");
  await page.wait(
    "the typed text, read by the opened model",
    () => document.querySelectorAll("#tokens button").length === 6 &&
      document.querySelector("#choose-model").selectedOptions[0].text === "induction2.safetensors");
});

const fails = async (scene, how, why) => {
  const {workshop} = scene, page = await openPage(scene);
  const file =
    workshop.model("induction2.safetensors", "induction", "--steps", "60", "--seed", "2");
  await choose(page, [file]);
  await page.evaluate((way) => {
    const post = Worker.prototype.postMessage;
    window.before = workers.length;
    Worker.prototype.postMessage = function(message, ...more) {
      const isIt = message.request?.call === "open" && message.request.model === "opened-0";
      if (!isIt) return post.call(this, message, ...more);
      const data = way === "dies" ? {fatal: "a test"} :
                                    {id: message.id, answer: {error: "a test refuses"}, blocks: []};
      setTimeout(() => this.onmessage({data}));
    };
    workers.at(-1).onerror(new ErrorEvent("error", {message: "out of memory"}));
  }, how);
  await page.wait(
    "the sentence", (wanted) => document.getElementById("live-state").textContent.endsWith(wanted),
    `induction2.safetensors could not be opened again (${why}).`);
  const count = await page.evaluate(() => workers.length - window.before);
  assert.strictEqual(count, how === "dies" ? 2 : 1, "new engines");
  assert.match(await text(page, "#live-state"), /^The engine stopped \(out of memory\) and was/);
  await page.evaluate(() => document.querySelector("#choose-model").value = "0");
  await page.evaluate(
    () => document.querySelector("#choose-model").dispatchEvent(new Event("change")));
  await page.evaluate(() => document.getElementById("typed").value = "");
  await page.focus("#typed");
  await page.type("d e f d e");
  await page.wait(
    "the typed text, read by the first model",
    () => document.querySelectorAll("#tokens button").length === 6 &&
      document.getElementById("typed-problem").textContent === "");
};

liveTest(
  "after a restart a model that is refused is named, the others go on",
  (scene) => fails(scene, "refuses", "a test refuses"));

liveTest(
  "after a restart a model that ends the engine is named, the others go on",
  (scene) => fails(scene, "dies", "the engine stopped: a test"));

liveTest("a browser without SIMD gets the recorded page, and is told so", async (scene) => {
  const page = await scene.browser.newPage();
  scene.opened.push(page);
  await page.send(
    "Page.addScriptToEvaluateOnNewDocument", {source: "WebAssembly.validate = () => false"});
  await page.go(scene.workshop.page("live"));
  await page.evaluate(() => document.getElementById("live").open = true);
  await page.wait(
    "the sentence",
    () => document.getElementById("live-state").textContent ===
      "This page shows its recording only: this browser's WebAssembly has no SIMD instructions.");
  assert.ok(await page.evaluate(() => document.getElementById("typed").disabled));
  await show(page, "map");
  assert.strictEqual((await maps(page))[0].length, 144);
});

// The parts of a safetensors file.
function partsOf(bytes) {
  const size = Number(bytes.readBigUInt64LE(0));
  return {header: JSON.parse(bytes.subarray(8, 8 + size)), numbers: bytes.subarray(8 + size)};
}

test("live: the page carries a checkpoint's weights, and not the optimizer's state", (scene) => {
  const {workshop} = scene;
  if (!workshop.hasEngine()) return scene.tell("left out: no engine (make explorer)");
  const page = new Recording(workshop.page("live"));
  const carried = Buffer.from(page.element("file-0"), "base64");
  const whole = fs.readFileSync(workshop.file("induction1.safetensors"));
  scene.tell(`${carried.length} of the checkpoint's ${whole.length} bytes`);
  assert.ok(carried.length < whole.length * 0.4);
  const [a, b] = [partsOf(carried), partsOf(whole)];
  const own = Object.keys(b.header).filter((name) => !name.startsWith("adam."));
  assert.deepStrictEqual(Object.keys(a.header).sort(), own.sort());
  for (const name of own.filter((one) => one !== "__metadata__")) {
    const [x, y] =
      [a, b].map(({header, numbers}) => numbers.subarray(...header[name].data_offsets));
    assert.ok(x.equals(y), name);
    assert.deepStrictEqual(a.header[name].shape, b.header[name].shape);
  }
  const {optimizer, "adam.steps": steps, ...kept} = b.header.__metadata__;
  assert.strictEqual(optimizer, "adam");
  assert.strictEqual(steps, "60");
  assert.deepStrictEqual(a.header.__metadata__, kept);
});
