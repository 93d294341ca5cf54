// The state stands in the address, so that a finding can be passed on; any address is harmless.
"use strict";
const assert = require("node:assert");
const {choose, isShown, maps, show} = require("./person.js");
const {test} = require("./runner.js");

const state = (page) =>
  page.evaluate(() => ({
                  view: document.querySelector("[role=tab][aria-selected=true]").id.slice(4),
                  ...Object.fromEntries(["model", "text", "beside", "layer", "head"].map(
                    (name) => [name, document.getElementById(`choose-${name}`).value])),
                  query: document.querySelector("#tokens [aria-pressed=true]")?.dataset.position
                }));

test("address: what is chosen comes back in another window", async (scene) => {
  const file = scene.workshop.page("pair"), page = await scene.open(file);
  await choose(page, "#choose-model", 1);
  await choose(page, "#choose-text", 1);
  await choose(page, "#choose-beside", 2);
  await choose(page, "#choose-layer", 1);
  await choose(page, "#choose-head", 3);
  await page.click("#tokens [data-position='4']");
  await show(page, "map");
  await page.wait("the address", () => /query=4/.test(location.hash));
  const hash = await page.evaluate(() => location.hash), wanted = await state(page);
  assert.deepStrictEqual(
    wanted, {view: "map", model: "1", text: "1", beside: "2", layer: "1", head: "3", query: "4"});
  const other = await scene.open(file, {hash});
  await isShown(other, "map");
  assert.deepStrictEqual(await state(other), wanted);
  assert.deepStrictEqual(await maps(other), await maps(page));
});

test("address: back and forward go through the views", async (scene) => {
  const page = await scene.open(scene.workshop.page("small"), {hash: "#view=heads"});
  await show(page, "map");
  await show(page, "lens");
  await page.evaluate(() => history.back());
  await isShown(page, "map");
  await page.evaluate(() => history.back());
  await isShown(page, "heads");
  await page.evaluate(() => history.forward());
  await isShown(page, "map");
});

test("address: nonsense and hostile texts do nothing", async (scene) => {
  const {server} = scene, file = scene.workshop.page("small"), page = await scene.open(file);
  const first = await state(page);
  server.heard.length = 0;
  for (const hash of
         ["#", "##", "#view", "#view=", "#view=none", "#model=99999&layer=77&head=-1",
          "#layer=1e9&query=NaN&key=Infinity",
          "#__proto__=1&constructor=2&toString=3&hasOwnProperty=4",
          "#view=map&view=<script>alert(1)</script>", `#view=<img src=${server.address}/hash>`,
          "#text=%3Cimg%20src=x%20onerror=alert(1)%3E", "#beside=javascript:alert(1)", "#%E0%A4%A",
          "#%", `#${"a=b&".repeat(5000)}`, `#heads=${"1,".repeat(3000)}`, "#window=5-2,9-9",
          "#self-tes", "#model=0.5&text=1.0", "#model=0x0&head=0b1", "#beside=text0",
          "#beside=text9", "#sort=o99", "#pattern=99", "#window=0-999999,0-999999",
          "#\u202e\u0000\u0007view=map"]) {
    await page.setHash(hash);
    await page.rest();
    const now = await state(page);
    assert.deepStrictEqual({...now, view: ""}, {...first, view: ""}, hash.slice(0, 60));
    assert.ok(!page.problems().length, `${hash.slice(0, 60)}: ${page.problems()}`);
  }
  assert.deepStrictEqual(server.heard, []);
  await page.setHash("#view=lens&layer=1");
  await isShown(page, "lens");
});
