// What a person does on the explorer's page, with real events, and what they then see there.
"use strict";

const views = ["heads", "all", "map", "why", "next", "lens", "scores"];

// Clicks the tab of a view, and waits until the view stands there.
async function show(page, view) {
  await page.click(`#tab-${view}`);
  await isShown(page, view);
}

function isShown(page, view) {
  return page.wait(`the view ${view}`, (name) => {
    const panel = document.getElementById(`panel-${name}`);
    const tab = document.getElementById(`tab-${name}`);
    return panel && !panel.hidden && panel.childElementCount > 0 &&
      tab.getAttribute("aria-selected") === "true";
  }, view);
}

// Chooses an option of a list with the arrow keys.
async function choose(page, selector, value) {
  const steps = await page.evaluate((what, wanted) => {
    const list = document.querySelector(what),
          at = [...list.options].findIndex((o) => o.value === wanted);
    return at < 0 ? null : at - list.selectedIndex;
  }, selector, String(value));
  if (steps === null) throw new Error(`${selector} has no option ${value}`);
  for (let i = 0; i < Math.abs(steps); ++i) {
    await page.focus(selector);  // the page may have drawn the list anew
    await page.press(steps > 0 ? "ArrowDown" : "ArrowUp");
  }
  await page.wait(
    `${selector} to be ${value}`, (what, wanted) => document.querySelector(what).value === wanted,
    selector, String(value));
  await page.rest();
}

const status = (page) => page.evaluate(() => document.getElementById("status").textContent);

// The text of an element, as shown.
const text = (page, selector) =>
  page.evaluate((what) => document.querySelector(what)?.innerText ?? "", selector);

// The cells of the maps in the open view: for each map a list of {query, key, value, masked, left,
// top, fill}.
const maps = (page, within = "#panel-map") => page.evaluate(
  (root) => [...document.querySelectorAll(`${root} svg`)]
              .map((svg) => [...svg.querySelectorAll("[data-query][data-key]")].map((cell) => {
                const {left, top} = cell.getBoundingClientRect(),
                             {query, key, value, masked} = cell.dataset;
                return {
                  query: Number(query),
                  key: Number(key),
                  masked: masked === "true",
                  left,
                  top,
                  value: value === undefined ? null : Number(value),
                  fill: cell.getAttribute("fill")
                };
              }))
              .filter((cells) => cells.length > 0),
  within);

// Tables in an element: {caption, columns: [text], rows: [[{text, value}]]}.
const tables = (page, selector) => page.evaluate(
  (what) => [...document.querySelectorAll(`${what} table`)].map(
    (table) => ({
      caption: table.caption?.textContent ?? "",
      columns: [...table.querySelectorAll("thead th")].map((cell) => cell.textContent),
      rows: [...table.querySelectorAll("tbody tr")].map((row) => [...row.children].map((cell) => {
        const holder = cell.dataset.value === undefined ? cell.querySelector("[data-value]") : cell;
        const value = holder?.dataset.value;
        return {text: cell.textContent.trim(), value: value === undefined ? null : Number(value)};
      })),
    })),
  selector);

module.exports = {
  views,
  show,
  isShown,
  choose,
  status,
  text,
  maps,
  tables
};
