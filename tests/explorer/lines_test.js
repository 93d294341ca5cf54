// The lines of the head view are thin: the nearest one counts.
"use strict";
const assert = require("node:assert");
const {isShown, status} = require("./person.js");
const {test} = require("./runner.js");

// Points over the lines of the first picture, each with the two lines nearest to it, which are
// found here by walking along all lines: [{x, y, isOn, near: [{away, query, key}]}].
const pointsOver = (page) => page.evaluate(() => {
  const svg = document.querySelector("#panel-heads svg.lines"), made = [];
  svg.scrollIntoView({block: "start"});
  const {left, top, width, height} = svg.getBoundingClientRect();
  const shown = [...svg.querySelectorAll("path[data-key]")].filter(
    (path) => path.checkVisibility({visibilityProperty: true}));
  const lines =
    shown.map((path) => ({
                ...path.dataset,
                points: Array.from(
                  {length: 201}, (_, i) => path.getPointAtLength((path.getTotalLength() * i) / 200))
              }));
  for (let n = 0; n < 800; ++n) {
    const x = left + width * (0.32 + 0.36 * ((n * 47) % 800) / 800),
          y = top + 60 + (height - 70) * n / 800;
    if (y > innerHeight - 60) continue;
    const near =
      lines.map(({query, key, points}) => ({
                  query,
                  key,
                  away: Math.min(...points.map((p) => Math.hypot(p.x + left - x, p.y + top - y)))
                }));
    near.sort((a, b) => a.away - b.away);
    const isOn = document.elementFromPoint(x, y).localName !== "svg";
    made.push({x, y, isOn, near: near.slice(0, 2)});
  }
  return made;
});

const marked = (page) => page.evaluate(() => {
  const found = [...document.querySelectorAll("#panel-heads path.is-near")];
  return found.map(({dataset: {query, key}}) => ({query, key}));
});

test("lines: within 8 pixels the nearest line is pointed at", async (scene) => {
  const page = await scene.open(
    scene.workshop.page("small"), {hash: "#view=heads&layer=1", width: 480, height: 1200});
  await isShown(page, "heads");
  const seen = {near: 0, far: 0};
  await tryPoints(page, seen);
  const word = await page.evaluate(() => {  // scrolling would move the mouse off the word
    const {left, top} =
      document.querySelector("#panel-heads [data-side='query'][data-position='11']")
        .getBoundingClientRect();
    return {x: left + 5, y: top + 5};
  });
  await page.mouse("mouseMoved", word);  // leaves a fan
  await page.rest();
  await tryPoints(page, seen);
  assert.ok(seen.near >= 30 && seen.far >= 20, JSON.stringify(seen));
});

async function tryPoints(page, seen) {
  const isPlain = ({isOn, near: [a, b]}) =>
    !isOn && b.away - a.away > 0.7 && Math.abs(a.away - 8) > 0.7 && Math.abs(a.away - 8) < 4;
  for (const point of (await pointsOver(page)).filter(isPlain).slice(0, 60)) {
    const {x, y, near: [first]} = point;
    await page.mouse("mouseMoved", {x, y});
    await page.rest();
    const isNear = first.away < 8, what = JSON.stringify(point);
    assert.deepStrictEqual(
      await marked(page), isNear ? [{query: first.query, key: first.key}] : [], what);
    ++seen[isNear ? "near" : "far"];
    if (!isNear) continue;
    const said = await status(page);
    assert.ok(said.includes(`@${first.query} -> `) && said.includes(`@${first.key}: `), said);
  }
}

test(
  "lines: a click beside a line opens its arithmetic, a finger's second touch too",
  async (scene) => {
    const file = scene.workshop.page("small");
    const page = await scene.open(file, {hash: "#view=heads&layer=1", height: 1200});
    await isShown(page, "heads");
    const isBeside = ({isOn, near: [a, b]}) => !isOn && a.away > 3 && a.away < 7 && b.away > 9;
    const {x, y, near: [line]} = (await pointsOver(page)).find(isBeside);
    const isOpen = new RegExp(`view=why.*query=${line.query}&key=${line.key}`);
    await page.mouse("mouseMoved", {x, y});
    await page.mouse("mousePressed", {x, y}, {button: "left", clickCount: 1, buttons: 1});
    await page.mouse("mouseReleased", {x, y}, {button: "left", clickCount: 1});
    await isShown(page, "why");
    assert.match(await page.evaluate(() => location.hash), isOpen);

    const phone =
      await scene.open(file, {hash: "#view=heads&layer=1", width: 800, height: 1200, touch: true});
    await isShown(phone, "heads");
    const at = (await pointsOver(phone)).find(isBeside), wanted = at.near[0];
    const touch = async () => {
      const finger = {touchPoints: [{x: at.x, y: at.y}]};
      await phone.send("Input.dispatchTouchEvent", {type: "touchStart", ...finger});
      await phone.send("Input.dispatchTouchEvent", {type: "touchEnd", touchPoints: []});
    };
    await touch();
    await phone.wait("the line", () => document.querySelector("#panel-heads path.is-near"));
    assert.deepStrictEqual(await marked(phone), [{query: wanted.query, key: wanted.key}]);
    await touch();
    await isShown(phone, "why");
  });
