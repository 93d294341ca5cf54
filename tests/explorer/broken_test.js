// A page that was cut, or does not fit together, says so.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const {show, text} = require("./person.js");
const {test} = require("./runner.js");

// What stands there to read, beside the names of what is missing.
async function sentence(page) {
  return page.evaluate(
    () => ["problem", "starting"]
            .map((id) => document.getElementById(id))
            .filter((element) => element && element.checkVisibility())
            .map((element) => element.innerText)
            .join(" "));
}

async function openCut(scene, html, name) {
  const page = await scene.browser.newPage();
  await page.go(scene.workshop.write(name, html));
  await page.rest();
  return page;
}

test("broken: a file that is cut anywhere behind its style shows a sentence", async (scene) => {
  const html = fs.readFileSync(scene.workshop.page("small"), "utf8");
  const places = [
    "<script>", '<script type="application/json"', '<script type="text/plain" id="numbers-0"',
    '<script type="text/plain" id="numbers-1"'
  ].map((mark) => html.indexOf(mark));
  assert.ok(places.every((at) => at > 0));
  const cuts = [
    places[0] + 2000, places[1] - 10, places[1] + 300, places[2] - 3, places[2] + 5,
    places[2] + 2001, places[2] + 2002, places[2] + 2003, places[2] + 4000
  ];
  for (const cut of cuts) {
    const page = await openCut(scene, html.slice(0, cut), "cut.html");
    const seen = await sentence(page);
    assert.ok(/incomplete|damaged|cut/.test(seen), `cut at ${cut} of ${html.length}: "${seen}"`);
    assert.deepStrictEqual(page.exceptions, [], `cut at ${cut}`);
    await page.close();
  }
  const page = await openCut(scene, html.slice(0, places[3] + 2000), "cut.html");
  await show(page, "map");
  assert.strictEqual(await sentence(page), "", "the first model is whole");
  await page.setHash("#model=1&view=map");
  await page.rest();
  assert.match(await sentence(page), /incomplete|damaged|cut/, "the second model is cut");
  await page.setHash("#model=0&view=map");
  await page.rest();
  assert.strictEqual(await sentence(page), "", "the first model is still there");
  assert.deepStrictEqual(page.exceptions, []);
  await page.close();
});

test("broken: recordings that do not fit together show a sentence", async (scene) => {
  const html = fs.readFileSync(scene.workshop.page("small"), "utf8");
  const changes = [
    ['"format":1', '"format":2'], ['"runs":[', '"runs":[],"x":['], ['"at":0,', '"at":900000000,'],
    ['"at":0,', '"at":-4,'], ['"at":0,', '"at":1,']
  ];
  for (const [from, to] of changes) {
    assert.ok(html.includes(from), from);
    const page = await openCut(scene, html.replace(from, to), "odd.html");
    const seen = await sentence(page) || await text(page, "#app");
    assert.ok(
      /damaged|do not fit|incomplete|holds no numbers|cannot draw/.test(seen),
      `${from} -> ${to}: ${seen}`);
    assert.deepStrictEqual(page.exceptions, [], `${from} -> ${to}`);
    await page.close();
  }
});
