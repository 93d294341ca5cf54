// Tests of the tests' own tools: an error, a request and a covered button are noticed.
"use strict";
const assert = require("node:assert");
const {test} = require("./runner.js");

const html = (body) => `<!DOCTYPE html><meta charset="utf-8"><title>t</title>${body}`;

// Opens a page of that body, and forgets it: its problems are the test's own business.
async function openOwn({workshop, browser}, name, body, options = {}) {
  const page = await browser.newPage(options);
  await page.go(workshop.write(name, html(body)), options.hash);
  return page;
}

test("driver: requests reach the server and are told", async (scene) => {
  const {server} = scene;
  const page = await openOwn(scene, "request.html", `<img src="${server.address}/picture">
    <script>fetch("${server.address}/fetched");
    new WebSocket("ws://127.0.0.1:${server.port}/socket")</script>`);
  const wanted = ["/picture", "/fetched", "/socket"];
  for (let i = 0; i < 100 && !wanted.every((one) => server.paths().includes(one)); ++i) {
    await page.evaluate(() => new Promise((resolve) => {
                          setTimeout(resolve, 50);
                        }));
  }
  for (const one of wanted) {
    assert.ok(server.paths().includes(one), `the server did not hear ${one}`);
    assert.ok(page.problems().some((line) => line.endsWith(one)), `the driver did not tell ${one}`);
  }
  server.heard.length = 0;
  await page.close();
});

test("driver: errors of a page are told", async (scene) => {
  const page = await openOwn(scene, "error.html", `<script>console.error("one");
    Promise.reject(new Error("two")); throw new Error("three")</script>`);
  await page.rest();
  const all = page.problems().join("\n");
  for (const word of ["one", "two", "three"]) assert.ok(all.includes(word), `${word} in ${all}`);
  await page.close();
});

test("driver: mouse, keyboard and touch are real", async (scene) => {
  const page = await openOwn(
    scene, "input.html", `
    <button id="a">A</button><input id="text"><input id="range" type="range" max="9" value="3">
    <div id="field" style="width: 200px; height: 100px"></div><button id="hidden" hidden>H</button>
    <div style="position: relative"><button id="under">U</button>
    <div style="position: absolute; inset: 0"></div></div><script>
    seen = [];
    for (const type of ["click", "mouseover", "keydown", "input", "touchstart", "mouseup"])
      addEventListener(type, (e) => seen.push(type + " " + (e.key || e.target.id) + e.isTrusted));
    </script>`,
    {touch: true});
  await page.click("#a");
  await page.focus("#text");
  await page.press("x");
  await page.type("é😀");
  await page.press("Tab");
  await page.press("ArrowRight");
  await page.drag("#field", 40, 10);
  await page.tap("#a");
  const seen = await page.evaluate(() => seen);
  for (const one of
         ["click atrue", "mouseover atrue", "keydown xtrue", "keydown Tabtrue", "input rangetrue",
          "mouseup fieldtrue", "touchstart atrue"]) {
    assert.ok(seen.includes(one), `${one} in ${seen}`);
  }
  assert.strictEqual(await page.evaluate(() => document.querySelector("#text").value), "xé😀");
  assert.strictEqual(await page.evaluate(() => document.querySelector("#range").value), "4");
  await assert.rejects(page.click("#under"), /lies over it/);
  await assert.rejects(page.click("#hidden"), /not shown/);
  await assert.rejects(page.click("#none"), /no such element/);
  await page.close();
});

test("driver: sizes, schemes, names, hash and saved files", async (scene) => {
  const page = await openOwn(
    scene, "look.html", `<button aria-label="Save it">S</button><script>
    const a = document.createElement("a"); a.download = "numbers.csv";
    a.href = URL.createObjectURL(new Blob(["1,2\\n"]));
    document.querySelector("button").onclick = () => a.click();</script>`,
    {width: 360, scheme: "dark", hash: "#one"});
  assert.deepStrictEqual(
    await page.evaluate(
      () => [innerWidth, location.hash, matchMedia("(prefers-color-scheme: dark)").matches]),
    [360, "#one", true]);
  await page.look({width: 2560, scheme: "light"});
  await page.setHash("#two");
  assert.deepStrictEqual(
    await page.evaluate(
      () => [innerWidth, location.hash, matchMedia("(prefers-color-scheme: dark)").matches]),
    [2560, "#two", false]);
  const nodes = await page.tree();
  assert.ok(nodes.some(({role, name}) => role === "button" && name === "Save it"));
  const {name, text} = await scene.browser.download(() => page.click("button"));
  assert.deepStrictEqual([name, text], ["numbers.csv", "1,2\n"]);
  assert.deepStrictEqual(page.problems(), []);
  await page.close();
});
