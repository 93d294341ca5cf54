// What the page looks like: widths, colour schemes, contrast, touch; and what a screen reader
// hears.
"use strict";
const assert = require("node:assert");
const path = require("node:path");
const {isShown, show, views} = require("./person.js");
const {pictures, test} = require("./runner.js");

const widths = [360, 1280, 2560];

test("look: nothing is wider than the window, at three widths in both schemes", async (scene) => {
  for (const name of scene.workshop.pages()) {
    const page = await scene.open(scene.workshop.page(name));
    for (const width of widths) {
      await page.look({width, height: width < 500 ? 740 : 900, touch: width < 500});
      for (const view of views) {
        await page.setHash(`#view=${view}&beside=${name === "pair" ? 1 : ""}`);
        await isShown(page, view);
        await page.rest();
        const [inside, outside, who] = await page.evaluate(() => {
          const wide = [...document.querySelectorAll("#app *, header *")].filter(
            (element) => element.getBoundingClientRect().right > innerWidth + 1 &&
              !element.closest(".scroll, svg, #tokens"));
          return [
            document.scrollingElement.scrollWidth, innerWidth,
            wide.slice(0, 3).map((element) => element.outerHTML.slice(0, 100))
          ];
        });
        assert.ok(inside <= outside, `${name}, ${view}, ${width} px: ${inside} wide; ${who}`);
        if (!["pair", "slider"].includes(name) && `${name} ${view}` !== "endless map") continue;
        for (const scheme of ["light", "dark"]) {
          await page.look({scheme});
          await page.rest();
          await page.screenshot(
            path.join(pictures, `${name}_${view}_${width}_${scheme}.png`), true);
        }
      }
    }
    await scene.finish(page);
  }
});

test("look: both colour schemes have their own paper, and pictures follow", async (scene) => {
  const page = await scene.open(scene.workshop.page("small"), {hash: "#view=map"});
  const light = async () => page.evaluate(() => {
    const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
    return r + g + b > 380;
  });
  const fill = () => document.querySelector("#panel-map rect[data-masked]").getAttribute("fill");
  await isShown(page, "map");
  assert.ok(await light());
  const before = await page.evaluate(fill);
  await page.look({scheme: "dark"});
  await page.wait("a masked cell of another colour", (was) => document.querySelector(
    "#panel-map rect[data-masked]").getAttribute("fill") !== was, before);
  assert.ok(!await light());
});

// Runs in the page: all texts whose contrast to what lies behind them is below 4.5 (3 if large).
function weakTexts() {
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light =
    ([r, g, b]) => [r, g, b]
                     .map((x) => x / 255)
                     .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
                     .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
  const over = ([r, g, b, a = 1], below) => [r, g, b].map((x, i) => a * x + (1 - a) * below[i]);
  const papers = (element) => {  // what lies behind: backgrounds, or in a picture the cell below
    const list = [];
    for (let at = element; at; at = at.parentElement)
      list.unshift(getComputedStyle(at).backgroundColor);
    return list.map(channels).reduce((below, colour) => over(colour, below), [255, 255, 255]);
  };
  const behind = (element) => {
    const {left, top, width, height} = element.getBoundingClientRect();
    const cell = element.closest("svg") &&
      document.elementsFromPoint(left + width / 2, top + height / 2)
        .find((one) => one.matches("rect[data-row]"));
    return cell ? channels(getComputedStyle(cell).fill) : papers(element);
  };
  const weak = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (
      !own || !element.checkVisibility({visibilityProperty: true}) ||
      element.closest("[disabled], option, optgroup, script, style"))
      continue;
    const style = getComputedStyle(element), inPicture = element.closest("svg");
    const colour = channels(inPicture ? style.fill : style.color), paper = behind(element);
    const opacity = inPicture ? Number(style.fillOpacity) : 1;
    const ink = over([...colour.slice(0, 3), (colour[3] ?? 1) * opacity], paper);
    const [a, b] = [light(ink), light(paper)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize), isBold = Number(style.fontWeight) >= 700;
    const least = size >= 24 || (size >= 18.66 && isBold) ? 3 : 4.5,
          contrast = (a + 0.05) / (b + 0.05);
    if (contrast < least) {
      weak.push(`${contrast.toFixed(2)} ${element.tagName} "${element.textContent.slice(0, 30)}"`);
    }
  }
  return [...new Set(weak)];
}

test("look: every text stands out from its paper, 4.5 to 1", async (scene) => {
  const found = [];
  for (const name of ["pair", "slider", "endless"]) {
    for (const scheme of ["light", "dark"]) {
      const page = await scene.open(scene.workshop.page(name), {scheme, height: 1600});
      for (const view of views) {
        await page.setHash(`#view=${view}&layer=1&beside=${name === "endless" ? "" : 1}`);
        await isShown(page, view);
        for (const weak of await page.evaluate(weakTexts)) {
          found.push(`${name}, ${scheme}, ${view}: ${weak}`);
        }
      }
      await scene.finish(page);
    }
  }
  assert.strictEqual(found.length, 0, found.slice(0, 20).join("\n"));
});

test("look: a finger on a telephone", async (scene) => {
  const page =
    await scene.open(scene.workshop.page("small"), {width: 360, height: 740, touch: true});
  await page.tap("#tab-map");
  await isShown(page, "map");
  await page.tap("#panel-map [data-query='6'][data-key='3']");
  await page.wait(
    "the weight",
    () => /@6 -> .*@3.*weight \d/.test(document.getElementById("status").textContent));
  assert.ok(
    !await page.evaluate(() => document.getElementById("panel-map").hidden),
    "the first touch only shows");
  await page.tap("#panel-map [data-query='6'][data-key='3']");
  await isShown(page, "why");
  const status = await page.evaluate(() => {
    const {top, bottom} = document.getElementById("status").getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
  assert.ok(status, "what is said stands in view");
  const small = await page.evaluate(
    () => [...document.querySelectorAll("#tabs button, header button")]
            .map((one) => [one.id, one.getBoundingClientRect().height])
            .filter(([, height]) => height < 24));
  assert.deepStrictEqual(small, [], "buttons are large enough for a finger");
});

test("look: pointing moves nothing", async (scene) => {
  const page = await scene.open(scene.workshop.page("small")), moved = [];
  const targets = {
    heads: [0, 2, 7, 11].flatMap(
      (i) => ["query", "key"].map(
        (side) => `#panel-heads [data-side="${side}"][data-position="${i}"]`)),
    map: [0, 5, 7, 11].map((i) => `#panel-map [data-query="${i}"][data-key="${Math.floor(i / 2)}"]`)
  };
  for (const [view, selectors] of Object.entries(targets)) {
    await page.setHash(`#view=${view}&layer=1&head=1`);
    await isShown(page, view);
    const heights = [];
    for (const selector of selectors) {
      await page.hover(selector);
      await page.rest();
      heights.push(await page.evaluate(() => document.scrollingElement.scrollHeight));
    }
    if (new Set(heights).size > 1) moved.push(`${view}: heights of the page ${heights}`);
  }
  assert.deepStrictEqual(moved, []);
});

test("look: a screen reader hears names of everything", async (scene) => {
  const wanted = [
    "button", "tab", "tabpanel", "combobox", "slider", "checkbox", "grid", "textbox", "spinbutton",
    "link", "dialog", "toolbar", "tablist"
  ];
  for (const name of ["pair", "slider", "endless", "forms"]) {
    const page = await scene.open(scene.workshop.page(name));
    for (const view of views) {
      await show(page, view);
      const nodes = await page.tree();
      const nameless = nodes.filter(({role, name: said}) => wanted.includes(role) && !said.trim());
      assert.deepStrictEqual(nameless.map(({role}) => role), [], `${name}, ${view}`);
      const of = (role) => nodes.filter((node) => node.role === role);
      assert.strictEqual(of("tab").length, views.length);
      assert.deepStrictEqual(of("tab").filter((node) => node.properties.selected).length, 1);
      if (view === "map") checkCells(of("gridcell"), name);
      if (view === "all") {
        const buttons = of("button").filter((node) => /^layer \d+, head \d+/.test(node.name));
        assert.ok(buttons.length > 0, "thumbnails have names");
      }
    }
    assert.ok((await page.tree()).some(({role}) => role === "main"), "landmarks");
    assert.strictEqual(await page.evaluate(() => document.documentElement.lang), "en");
    await scene.finish(page);
  }
});

function checkCells(cells, name) {
  assert.ok(cells.length >= 4, `${name}: cells of the map`);
  for (const cell of cells) {
    assert.match(cell.name, /weight|masked|difference/, `${name}: a cell says "${cell.name}"`);
  }
}
