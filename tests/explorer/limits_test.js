// Sizes have limits. Times are told, not tested: machines differ.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const {isShown} = require("./person.js");
const {test} = require("./runner.js");

const limits = {
  small: 300e3,
  twenty: 300e3,
  steps: 5e6,
  story: 20e6
};  // bytes

test("sizes: pages stay below their limits", async (scene) => {
  for (const name of scene.workshop.pages()) {
    const {size} = fs.statSync(scene.workshop.page(name)), limit = limits[name] ?? Infinity;
    scene.tell(
      `${name}: ${Math.ceil(size / 1000)} kB${limit < Infinity ? ` of ${limit / 1000}` : ""}`);
    assert.ok(size <= limit, `${name}: ${size} bytes, more than ${limit}`);
  }
});

test("times: first paint and loading", async (scene) => {
  for (const name of scene.workshop.pages()) {
    const page = await scene.open(scene.workshop.page(name));
    await page.rest();
    const {paint, drawn, load} = await page.evaluate(() => {
      const [navigation] = performance.getEntriesByType("navigation");
      const first =
        performance.getEntriesByType("paint").find((e) => e.name.endsWith("first-paint"));
      return {
        paint: first?.startTime,
        load: navigation.loadEventEnd,
        drawn: navigation.domContentLoadedEventEnd
      };
    });
    scene.tell(
      `${name}: first paint ${paint?.toFixed(0)} ms, drawn ${drawn.toFixed(0)} ms, ` +
      `loaded ${load.toFixed(0)} ms`);
    await scene.finish(page);
  }
});

test("times: from pointing at a cell to what it says", async (scene) => {
  for (const name of ["small", "many", "endless"]) {
    const page = await scene.open(scene.workshop.page(name), {hash: "#view=map"});
    await isShown(page, "map");
    const times = await page.evaluate(async () => {
      const all = [], cells = [...document.querySelectorAll("#panel-map rect[data-query]")];
      for (let i = 0; i < 20; ++i) {
        const cell = cells[i * 37 % cells.length], begun = performance.now();
        cell.dispatchEvent(new PointerEvent("pointerover", {bubbles: true, pointerType: "mouse"}));
        document.getElementById("status").getBoundingClientRect();  // laid out
        await new Promise((go) => {
          requestAnimationFrame(() => setTimeout(go));
        });  // painted
        all.push(performance.now() - begun);
      }
      return all.sort((a, b) => a - b);
    });
    scene.tell(
      `${name}: pointing to picture ${times[10].toFixed(1)} ms, at most ` +
      `${times[19].toFixed(1)} ms`);
  }
});
