// The page without a mouse.
"use strict";
const assert = require("node:assert");
const {isShown, show, status, views} = require("./person.js");
const {test} = require("./runner.js");

const active = (page) => page.evaluate(() => {
  const {id, dataset, tagName, ariaLabel} = document.activeElement;
  return {id, tag: tagName, ...dataset, label: ariaLabel};
});

test("keyboard: Tab reaches everything, and each stop can be seen", async (scene) => {
  for (const view of views) {
    const page = await scene.open(scene.workshop.page("pair"), {hash: `#view=${view}`});
    const seen = [];
    for (let i = 0; i < 60; ++i) {
      await page.press("Tab");
      const at = await page.evaluate(() => {
        const element = document.activeElement;
        if (element === document.body) return null;
        const {width, height} = element.getBoundingClientRect(), style = getComputedStyle(element);
        const isMarked = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 ||
          style.boxShadow !== "none" || element.matches("svg *");
        return {
          id: element.id || element.getAttribute("data-sort") || element.outerHTML.slice(0, 80),
          isShown: width > 0 && height > 0,
          isMarked
        };
      });
      if (!at || seen.some(({id}) => id === at.id)) break;
      seen.push(at);
    }
    const ids = seen.map(({id}) => id);
    for (const id of
           ["show-keys", "choose-model", "choose-text", "choose-beside", "choose-layer",
            "choose-head", `tab-${view}`, "save-svg", "save-csv"]) {
      assert.ok(ids.includes(id), `${view}: Tab does not reach #${id}, but ${ids}`);
    }
    for (const {id, isShown: isThere, isMarked} of seen) {
      assert.ok(isThere, `${view}: ${id} has the focus and no size`);
      assert.ok(isMarked, `${view}: one cannot see that ${id} has the focus`);
    }
    await scene.finish(page);
  }
});

test("keyboard: arrows go through tabs, words and cells", async (scene) => {
  const page = await scene.open(scene.workshop.page("small"));
  await page.focus("#tab-heads");
  for (const view of [...views.slice(1), views[0]]) {
    await page.press("ArrowRight");
    await isShown(page, view);
    assert.strictEqual((await active(page)).id, `tab-${view}`);
  }
  await page.press("End");
  await isShown(page, views.at(-1));
  await page.focus("#tokens [tabindex='0']");
  await page.press("Home");
  await page.press("ArrowRight");
  await page.wait("query 1", () => location.hash.includes("query=1"));
  assert.strictEqual((await active(page)).position, "1");

  await show(page, "map");
  await page.focus("#panel-map rect[tabindex='0']");
  const {query, key} = await active(page);
  await page.press("ArrowDown");
  await page.press("ArrowDown");
  await page.press("ArrowLeft");
  const now = await active(page);
  assert.deepStrictEqual(
    [Number(now.query), Number(now.key)], [Number(query) + 2, Math.max(0, Number(key) - 1)]);
  assert.match(
    await status(page), new RegExp(`@${now.query} -> .*@${now.key}.*weight \\d\\.\\d{4}`));
  await page.press("Control+End");
  assert.match((await active(page)).label, /@11 -> .*@11/);
  await page.press("Control+Home");
  await page.press("ArrowUp");
  assert.strictEqual((await active(page)).query, "0");
  await page.press("Enter");
  await isShown(page, "why");
});

test("keyboard: thumbnails open with Enter", async (scene) => {
  const page = await scene.open(scene.workshop.page("small"));
  await show(page, "all");
  await page.focus("#panel-all [tabindex='0']");
  await page.press("ArrowDown");
  await page.press("ArrowRight");
  assert.match(await status(page), /layer 1, head 1/);
  await page.press("Enter");
  await isShown(page, "map");
  assert.match(await page.evaluate(() => location.hash), /layer=1&head=1/);
});

test("keyboard: the words of the head view", async (scene) => {
  const page = await scene.open(scene.workshop.page("small"), {hash: "#view=heads&query=5"});
  await page.focus("#panel-heads .line-word[tabindex='0']");
  assert.deepStrictEqual(
    [(await active(page)).side, (await active(page)).position], ["query", "5"]);
  await page.press("ArrowDown");
  await page.press("ArrowRight");
  const {side, position} = await active(page);
  assert.deepStrictEqual([side, position], ["key", "6"]);
  assert.match(await status(page), /key .*@6/);
});

test("keyboard: '?' lists the keys, digits and brackets work", async (scene) => {
  const page = await scene.open(scene.workshop.page("small"));
  await page.press("?");
  await page.wait("the list", () => document.querySelector("dialog[open]"));
  assert.match(await page.evaluate(() => document.querySelector("dialog").innerText), /Arrow keys/);
  await page.press("Escape");
  await page.wait("its end", () => !document.querySelector("dialog[open]"));
  for (const [i, view] of views.entries()) {
    await page.press(String(i + 1));
    await isShown(page, view);
  }
  await page.press("]");
  await page.press(".");
  await page.press(".");
  assert.deepStrictEqual(
    await page.evaluate(
      () => ["layer", "head"].map((name) => document.getElementById(`choose-${name}`).value)),
    ["1", "2"]);
  await page.press("[");
  await page.press(",");
  assert.deepStrictEqual(
    await page.evaluate(
      () => ["layer", "head"].map((name) => document.getElementById(`choose-${name}`).value)),
    ["0", "1"]);
});

test("keyboard: a control that changes the view keeps the focus", async (scene) => {
  const page = await scene.open(scene.workshop.page("pair"));
  const cases = [
    ["why", "#choose-key", "ArrowDown"], ["scores", "#score-pattern", "ArrowDown"],
    ["map", "#colours", " "], ["heads", "#panel-heads input[data-head='1']", " "],
    ["scores", "#panel-scores thead button", "Enter"],
    ["next", "#panel-next button[data-column='2']", "Enter"],
    ["heads", "#panel-heads fieldset button", "Enter"]
  ];
  const lost = [];
  for (const [view, selector, key] of cases) {
    await show(page, view);
    await page.focus(selector);
    await page.press(key);
    await page.rest();
    const kept = await page.evaluate((what) => document.activeElement.matches(what), selector);
    if (!kept) lost.push(`${view}: ${selector}`);
  }
  assert.deepStrictEqual(lost, []);
});

test("keyboard: the link to the view skips what stands above", async (scene) => {
  const page = await scene.open(scene.workshop.page("small"));
  await page.press("Tab");
  assert.strictEqual((await active(page)).id, "skip");
  await page.press("Enter");
  assert.strictEqual((await active(page)).id, "view");
});
