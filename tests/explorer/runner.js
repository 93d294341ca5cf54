// Runs tests in random order, and counts them. A test is a name and a function, which gets a Scene;
// it fails if it throws, or if one of its pages had an error or asked for another file.
"use strict";
const path = require("node:path");

const tests = [];
const test = (name, run) => tests.push({name, run});

const pictures = path.join("out", "explorer");

// What a test works with. `shared` holds what all tests use: browser, workshop and so on.
class Scene {
  constructor(name, shared) {
    Object.assign(this, shared);
    this.name = name;
    this.opened = [];
  }

  // Opens a page file in a new tab: a path, or the name of a page of the workshop.
  async open(file, {hash = "", ...options} = {}) {
    const page = await this.browser.newPage(options);
    this.opened.push(page);
    await page.go(file, hash);
    return page;
  }

  // Closes a page before the test ends: fails if it had problems.
  async finish(page) {
    await page.rest();
    const problems = page.problems();
    if (problems.length) throw new Error(`${page.address}: ${problems.join("\n")}`);
    this.opened.splice(this.opened.indexOf(page), 1);
    await page.close();
  }

  // A line of numbers that are told, not tested: times and sizes.
  tell(line) {
    this.told.push(line);
  }

  problems() {
    return this.opened.flatMap((page) => page.problems());
  }

  async close() {
    for (const page of this.opened) await page.close();
  }

  async takePictures() {
    const name = this.name.replace(/[^a-z0-9]+/gi, "_");
    for (const [i, page] of this.opened.entries()) {
      await page.screenshot(path.join(pictures, `failed_${name}_${i}.png`)).catch(() => {});
    }
  }
}

async function runOne({name, run}, shared) {
  const scene = new Scene(name, shared);
  let failure, timer;
  const late = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new Error("it took more than 600 s")), 600000);
  });
  try {
    await Promise.race([run(scene), late]);
    for (const page of scene.opened) await page.rest();
    const problems = scene.problems();
    if (problems.length) failure = `the page had errors or requests:\n${problems.join("\n")}`;
  } catch (error) {
    failure = [error.message, where(error), ...scene.problems()].join("\n");
  }
  clearTimeout(timer);
  if (failure) await scene.takePictures();
  await scene.close();
  return failure;
}

// The lines of the tests in which it was thrown.
function where(error) {
  return (error.stack || "")
    .split("\n")
    .filter((line) => /_test\.js/.test(line))
    .map((line) => line.trim().replace(`${process.cwd()}/`, ""))
    .join("\n");
}

// A permutation that follows from the seed (xorshift).
function shuffled(list, seed) {
  const order = [...list];
  let state = (seed * 2654435761 + 1) >>> 0;
  for (let i = order.length - 1; i > 0; --i) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const j = (state >>> 0) % (i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

// Runs those whose names contain one of the words (all, without any). True if none failed.
async function runTests({words, seed, shared}) {
  const chosen = tests.filter(({name}) => !words.length || words.some((w) => name.includes(w)));
  console.log(`${chosen.length} of ${tests.length} tests, order --seed ${seed}`);
  let passed = 0;
  for (const one of shuffled(chosen, seed)) {
    const begun = Date.now();
    shared.told = [];
    const failure = await runOne(one, shared);
    const seconds = ((Date.now() - begun) / 1000).toFixed(1);
    console.log(`  ${failure ? "FAIL" : "ok  "}  ${one.name} (${seconds} s)`);
    for (const line of shared.told) console.log(`        ${line}`);
    if (failure)
      console.log(failure.replace(/^/gm, "        "));
    else
      ++passed;
  }
  console.log(`\n${passed} passed, ${chosen.length - passed} failed`);
  return chosen.length > 0 && passed === chosen.length;
}

module.exports = {
  test,
  runTests,
  pictures
};
