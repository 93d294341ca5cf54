// Live pages: texts that the model writes in the page are those of `tapestry generate`.
"use strict";
const assert = require("node:assert");
const {liveTest, openLive, openPrepared, typeText} = require("./live_test.js");
const {tables, text} = require("./person.js");

const prompt = "c d e f c d";

async function openWriting(scene, words = prompt) {
  const page = await openLive(scene, scene.workshop.page("live"));
  await typeText(page, words);
  await page.focus("#writing summary");
  await page.press("Enter");
  await page.wait("the bars", () => document.querySelector("#bars tbody tr"));
  return page;
}

// Sets a slider or field as a person does who drags or types.
const put = (page, id, value) => page.evaluate((name, wanted) => {
  const input = document.getElementById(name);
  input.value = wanted;
  input.dispatchEvent(new Event("input", {bubbles: true}));
}, id, String(value));

const typed = (page) => page.evaluate(() => document.getElementById("typed").value);

// Writes to the end, and returns the whole text.
async function written(page) {
  await page.focus("#write");
  await page.press("Enter");
  await page.wait(
    "the end",
    () => document.getElementById("write").textContent === "Write" &&
      document.querySelectorAll("#written li").length > 0);
  return typed(page);
}

function generated(workshop, ...options) {
  process.env.TAPESTRY_KERNELS = "sse2";
  const out = workshop.tapestry(
    "generate", "--checkpoint", "induction1.safetensors", "--text", prompt, ...options);
  delete process.env.TAPESTRY_KERNELS;
  return out.trim().replace(/\n/g, " ");
}

liveTest("greedy writing is that of tapestry generate, by keyboard alone", async (scene) => {
  const page = await openWriting(scene);
  await page.focus("#temperature");
  await page.press("Home");
  assert.strictEqual(await page.evaluate(() => document.getElementById("top-k").disabled), true);
  assert.strictEqual(await written(page), generated(scene.workshop, "--temperature", "0"));
  assert.strictEqual(
    await page.evaluate(() => document.querySelectorAll("#written li").length), 20);
  assert.strictEqual(await page.evaluate(() => document.activeElement.id), "write");
});

liveTest("the same seed writes the same text, and that of tapestry generate", async (scene) => {
  const page = await openWriting(scene);
  for (const [id, value] of [["temperature", 1.5], ["top-k", 8], ["seed", 7]]) {
    await put(page, id, value);
  }
  const first = await written(page);
  await put(page, "typed", prompt);
  assert.strictEqual(await written(page), first);
  assert.strictEqual(
    first, generated(scene.workshop, "--temperature", "1.5", "--top-k", "8", "--seed", "7"));
  await put(page, "typed", prompt);
  await put(page, "seed", 8);
  assert.notStrictEqual(await written(page), first);
});

liveTest("sliders show at once what they do to the next word", async (scene) => {
  const page = await openWriting(scene);
  const bars = async () =>
    (await tables(page, "#bars"))[0].rows.map((row) => row.map((c) => c.value));
  const isDrawn = (what) => page.wait(what, (name) => {
    const drawn = [...document.querySelectorAll("#bars tbody tr")].map(
      (row) => Number(row.children[2].dataset.value));
    return name === "two" ?
      drawn.filter((p) => p > 0).length === 2 :
      Math.abs(
        drawn[0] - Number(document.querySelector("#bars tbody tr").children[1].dataset.value)) >
        1e-3;
  }, what);
  const before = await bars();
  before.forEach(
    ([, own, drawn]) => assert.strictEqual(own, drawn, "temperature 1 changes nothing"));
  await put(page, "temperature", 0.5);
  await isDrawn("sharper");
  const [a, b] = await bars();
  assert.deepStrictEqual([a[1], b[1]], [before[0][1], before[1][1]], "the model's own stay");
  assert.ok(Math.abs(a[2] / b[2] / (a[1] / b[1]) ** 2 - 1) < 1e-3, "p to the power of 1 / 0.5");
  await put(page, "top-k", 2);
  await isDrawn("two");
  const [c, d, e] = await bars();
  assert.ok(Math.abs(c[2] + d[2] - 1) < 1e-6, "they sum to 1");
  assert.strictEqual(e[2], 0);
  assert.strictEqual(await typed(page), prompt, "nothing is written");
});

liveTest("Stop stops", async (scene) => {
  const page = await openWriting(scene);
  await put(page, "most-words", 1000);
  await page.focus("#write");
  await page.press("Enter");
  await page.wait("some words", () => document.querySelectorAll("#written li").length >= 3);
  await page.focus("#write");
  await page.press("Enter");
  const then = await typed(page);
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 400)));
  assert.strictEqual(await typed(page), then);
  assert.strictEqual(await text(page, "#write"), "Write");
  const count = await page.evaluate(() => document.querySelectorAll("#written li").length);
  assert.ok(count < 1000, `${count} words`);
});

liveTest(
  "an unknown word and a too long text are told, and nothing typed is lost", async (scene) => {
    const page = await openWriting(scene);
    for (const [given, what] of [
           ["c d nonsense", /nonsense/], ["c d e f ".repeat(6), /most|positions/]]) {
      await put(page, "typed", given);
      await page.focus("#write");
      await page.press("Enter");
      for (const id of ["writing-problem", "typed-problem"]) {
        await page.wait(
          `${id}: ${what}`,
          (name, words) => new RegExp(words).test(document.getElementById(name).textContent), id,
          what.source);
      }
      assert.strictEqual(await text(page, "#write"), "Write");
      assert.strictEqual(await typed(page), given);
    }
  });

liveTest("from a key to the picture", async (scene) => {
  const page = await openLive(scene, scene.workshop.page("lively"), {hash: "#view=map"});
  await typeText(page, "the cat on a red ma");
  await page.evaluate(() => {
    window.times = [];
    document.getElementById("typed").addEventListener("input", () => {
      const begun = performance.now(), tokens = document.getElementById("tokens");
      const drawn = new MutationObserver(() => {
        drawn.disconnect();
        requestAnimationFrame(() => setTimeout(() => window.times.push(performance.now() - begun)));
      });
      drawn.observe(tokens, {childList: true});
    }, {capture: true});
  });
  for (let i = 0; i < 12; ++i) {
    await page.focus("#typed");
    await page.press(i % 2 ? "Delete" : "t");
    if (i % 2)
      await page.evaluate(() => {
        const box = document.getElementById("typed");
        box.value = box.value.slice(0, -1);
        box.dispatchEvent(new Event("input"));
      });
    await page.wait("the picture", (n) => window.times.length > n, i);
  }
  const times = (await page.evaluate(() => window.times)).sort((a, b) => a - b);
  const ms = (at) => times[Math.floor(at * (times.length - 1))].toFixed(1);
  scene.tell(`20 characters, map: ${ms(0.5)} ms in the middle, ${ms(0)} to ${ms(1)}`);
  assert.ok(times[0] < 1000, `${times}`);
});

// Lets the page's worker be asked directly: ask(request) in the page resolves to its answer.
const catchWorker = `
  window.Worker = class extends window.Worker {
    constructor(...all) {
      super(...all);
      window.ask = (request) => new Promise((resolve) => {
        const id = "asked " + JSON.stringify(request);
        const hear = ({data}) => {
          if (data.id !== id) return;
          this.removeEventListener("message", hear);
          resolve(data.answer);
        };
        this.addEventListener("message", hear);
        this.postMessage({id, request});
      });
    }
  };`;

liveTest("tokens per second of a real model beside the native library's", async (scene) => {
  const {workshop} = scene, prompt = "Once upon a time", count = 200, here = [], ratios = [];
  const folder = workshop.real("stories260K");
  if (!folder) return scene.tell("left out: MODELS names no folder with stories260K");
  const page = await openPrepared(scene, workshop.page("storyteller"), catchWorker);
  process.env.TAPESTRY_KERNELS = "sse2";
  try {
    for (let turn = 0; turn < 9; ++turn) {
      const {text, seconds} = await page.evaluate(async (words, steps) => {
        await ask({call: "write", model: "m0", text: words, temperature: 0});
        const begun = performance.now();
        const answer = await ask({call: "more", model: "m0", count: steps});
        const seconds = (performance.now() - begun) / 1000;
        return {seconds, text: words + answer.steps.map((step) => step.text).join("")};
      }, prompt, count);
      const native = workshop.attempt(
        "generate", "--model", folder, "--text", prompt, "--length", String(count),
        "--temperature", "0");
      assert.strictEqual(native.status, 0, native.err);
      assert.strictEqual(text.trim(), native.out.trim(), "the same text");
      const there = Number(`${native.out}${native.err}`.match(/([\d.]+) a second/)[1]);
      here.push(count / seconds);
      ratios.push(here.at(-1) / there);
    }
  } finally {
    delete process.env.TAPESTRY_KERNELS;
  }
  const middle = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
  scene.tell(
    `${middle(here).toFixed(0)} tokens per second, ${middle(ratios).toFixed(2)} of the native ` +
    `library's (${ratios[0].toFixed(2)} to ${ratios.at(-1).toFixed(2)})`);
  assert.ok(ratios.at(-1) > 0.1, "the page is many times slower");
});
