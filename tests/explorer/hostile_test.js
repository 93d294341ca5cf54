// Texts and names from files are shown as texts, and reach no server.
"use strict";
const assert = require("node:assert");
const {pause} = require("./browser.js");
const {choose, isShown, show, text, views} = require("./person.js");
const {Recording} = require("./recording.js");
const {test} = require("./runner.js");

// The elements of a page but its numbers, words and pictures: what markup in a text would add to.
const foreign = (page) => page.evaluate(
  () => ({
    elements:
      document
        .querySelectorAll(
          "script:not(#recording):not([id^=numbers-]), iframe, object, " +
          "embed, link, img, base, form[action], svg svg script, [onload], [onerror], [onclick]")
        .length,
    ran: typeof window.foreign,
    b: document.querySelectorAll("b, i").length
  }));

test(
  "hostile text: markup, quotes, other scripts and control characters stay text", async (scene) => {
    const {server, workshop} = scene, file = workshop.page("hostile"),
                   {texts, models} = new Recording(file);
    server.heard.length = 0;
    const page = await scene.open(file), first = await foreign(page);
    assert.strictEqual(first.elements, 1, "one script: the page's own");
    for (const [t, {words, given}] of texts.entries()) {
      await choose(page, "#choose-text", t);
      for (const view of views) {
        await show(page, view);
        assert.deepStrictEqual(await foreign(page), first, `text ${t}, ${view}`);
      }
      const shown = await page.evaluate(
        () => [...document.querySelectorAll("#tokens .word")].map((word) => word.textContent));
      assert.deepStrictEqual(shown, words);
      const {letters, options} = await page.evaluate(
        (at) => ({
          options: document.getElementById("choose-text").options[at].textContent,
          letters: [...document.getElementById("tokens").innerText].length
        }),
        t);
      assert.ok(letters > words.length && options.startsWith(given.slice(0, 10)));
      await page.hover("#tokens [data-position='3']");
    }
    const name =
      await page.evaluate(() => document.getElementById("choose-model").options[0].textContent);
    assert.ok(name.startsWith("<img src=x"), name);
    assert.ok(models[0].name.startsWith("<img src=x"), models[0].name);
    await pause(300);
    assert.deepStrictEqual(server.heard, [], "no one called the server");
  });

test(
  "hostile text: words, names and sentences of a recording stay text everywhere", async (scene) => {
    const {server, workshop} = scene, file = workshop.page("poison");
    server.heard.length = 0;
    const page = await scene.open(file), first = await foreign(page);
    for (const model of [0, 1]) {
      for (const view of views) {
        await page.setHash(`#view=${view}&model=${model}&beside=${1 - model}`);
        await isShown(page, view);
        assert.deepStrictEqual(await foreign(page), first, view);
        await page.hover("#tokens [data-position='0']");
        await page.evaluate(() => document.querySelector("#save-svg").click());
      }
    }
    assert.ok((await text(page, "#about")).includes("<script>"));
    await pause(300);
    assert.deepStrictEqual(server.heard, []);
  });

test("hostile text: a word of another direction turns none of its neighbours", async (scene) => {
  const page = await scene.open(scene.workshop.page("hostile"), {hash: "#text=5&view=map"});
  await isShown(page, "map");
  const lefts = await page.evaluate(
    () => [...document.querySelectorAll("#tokens button")]
            .map((button) => button.getBoundingClientRect())
            .map(({left, top}) => [Math.round(top), left]));
  const inOrder =
    lefts.every(([top, left], i) => i === 0 || top > lefts[i - 1][0] || left > lefts[i - 1][1]);
  assert.ok(inOrder, "words stand from left to right");
});

test("hostile text: 10,000 words, unknown words and emptiness end in a sentence", ({workshop}) => {
  const model =
    workshop.model("induction1.safetensors", "induction", "--steps", "60", "--seed", "1");
  const tries =
    [["a ".repeat(10000), /at most 13/], ["a zebra", /zebra/], ["", /\S/], ["a\u0000b", /\S/]];
  for (const [given, words] of tries) {
    if (given.includes("\u0000")) continue;  // no argument of a program can hold it
    const {status, out, err} =
      workshop.attempt("explore", model, "--text", given, "--out", "x.html");
    if (status === 0) continue;  // unknown words may be read as <unk>
    assert.match(err, words);
    const lines = err.split("\n").filter((line) => line.startsWith("tapestry:"));
    assert.strictEqual(lines.length, 1, err + out);
  }
});
