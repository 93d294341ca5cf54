// Firefox opens every kind of page, which then goes through all its views and says what it counted.
// A live page also reads a text and trains with its engine.
"use strict";
const assert = require("node:assert");
const path = require("node:path");
const {Firefox} = require("./firefox.js");
const {pictures, test} = require("./runner.js");

const result = () => {
  const {textContent} = document.getElementById("self-test") ?? {};
  return /self-test/.test(textContent) && textContent;
};

test("Firefox: every page passes its self-test", async (scene) => {
  const firefox = await Firefox.start();
  scene.tell(firefox.version);
  try {
    for (const name of scene.workshop.pages()) {
      await firefox.go(scene.workshop.page(name), "#self-test");
      const said = await firefox.wait(`the self-test of ${name}`, result);
      scene.tell(`${name}: ${said}`);
      assert.match(said, /^self-test passed: [1-9]\d*$/, name);
      assert.strictEqual(await firefox.evaluate(() => document.title), said);
    }
    for (const width of [500, 1280]) {  // it has no narrower window
      await firefox.go(scene.workshop.page("pair"), "#view=map&layer=1&beside=1");
      await firefox.screenshot(path.join(pictures, `firefox_map_${width}.png`), width);
    }
  } finally {
    await firefox.close();
  }
});

test("Chromium: every page passes its self-test", async (scene) => {
  for (const name of scene.workshop.pages()) {
    const page = await scene.open(scene.workshop.page(name), {hash: "#self-test"});
    const said = await page.wait(`the self-test of ${name}`, result);
    assert.match(said, /^self-test passed: [1-9]\d*$/, name);
    await scene.finish(page);
  }
});
