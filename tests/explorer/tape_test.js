// The tape time machine: what it shows at each step is what `tapestry tape --json` writes.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const {liveTest, openLive} = require("./live_test.js");
const {choose, text} = require("./person.js");

const programs = ["neuron", "softmax", "attention", "masked"];

// The tape of a program, as the command writes it.
function native(workshop, program) {
  const file = workshop.file(`tape_${program}.json`);
  process.env.TAPESTRY_KERNELS = "sse2";
  workshop.tapestry("tape", program, "--json", file);
  delete process.env.TAPESTRY_KERNELS;
  return JSON.parse(fs.readFileSync(file, "utf8"));
}

const openPart = (page) => page.evaluate(() => document.getElementById("tape").open = true);

// Gives the page a file, as a chosen one or as a dropped one.
async function giveFile(page, content, name = "tape.json", how = "choose") {
  await openPart(page);
  await page.evaluate((bytes, called, way) => {
    const list = new DataTransfer();
    list.items.add(new File([bytes], called));
    if (way === "drop") {
      document.getElementById("tape").dispatchEvent(
        new DragEvent("drop", {dataTransfer: list, bubbles: true, cancelable: true}));
      return;
    }
    const input = document.getElementById("tape-file");
    input.files = list.files;
    input.dispatchEvent(new Event("change"));
  }, content, name, how);
  await page.rest();
}

// What stands there at a step.
const seen = (page) => page.evaluate(() => {
  const numbers =
    (table) => [...table.querySelectorAll("[data-value]")].map((one) => one.dataset.value);
  const marked = (selector) => [...document.querySelectorAll(selector)];
  return {
    place: document.getElementById("tape-place").textContent,
    title: document.querySelector("#tape-step h3").textContent,
    words: document.getElementById("tape-step").innerText,
    line: document.querySelector("#tape-lines [aria-current]")?.textContent ?? null,
    tables:
      marked("#tape-step table").map((table) => ({...table.dataset, numbers: numbers(table)})),
    arrows: marked("#tape-graph [data-from]").map(({dataset}) => ({...dataset})),
    bad: marked("#tape-graph [data-bad]").map(({dataset}) => Number(dataset.record)),
  };
});

// Numbers of a file as the page writes them: all digits, NaN and Infinity by name.
const texts = (numbers) =>
  numbers.map((x) => String({nan: NaN, inf: Infinity, "-inf": -Infinity}[x] ?? x));

function checkForward(tape, step, shown) {
  const record = tape.records[step], [own, ...inputs] = shown.tables;
  assert.deepStrictEqual(own, {of: String(step), part: "value", numbers: texts(record.value)});
  assert.deepStrictEqual(inputs, [
    ...new Set(record.inputs)
  ].map((i) => ({of: String(i), part: "input", numbers: texts(tape.records[i].value)})));
  if (record.operation !== "watched") {
    const all = tape.records.slice(0, step + 1).reduce((sum, one) => sum + one.saved_bytes, 0);
    const bytes = record.saved_bytes === 1 ? "1 byte" : `${record.saved_bytes} bytes`;
    assert.ok(shown.words.includes(
      `It keeps ${bytes} for the backward pass; all records up to here keep ${all}.`));
  }
  assert.ok(shown.arrows.every(({flows}) => !flows), "nothing flows back yet");
}

function checkBackward(tape, back, shown) {
  const [own, ...given] = shown.tables, {record, gives} = back;
  assert.deepStrictEqual(
    own, {of: String(record), part: "gradient", numbers: texts(tape.records[record].gradient)});
  assert.deepStrictEqual(
    given,
    gives.flatMap(
      ({to, contribution, sum}, i) =>
        [{of: String(to), part: "contribution", give: String(i), numbers: texts(contribution)},
         {of: String(to), part: "sum", give: String(i), numbers: texts(sum)},
  ]));
  const flowing = shown.arrows.filter(({flows}) => flows);
  assert.deepStrictEqual(
    flowing.map(({from, to}) => [Number(to), Number(from)]).sort(),
    [...new Set(gives.map(({to}) => to))].map((to) => [record, to]).sort(), "arrows that flow");
}

// Goes through the whole tape by the key →, comparing each step.
async function checkAll(page, tape) {
  const count = tape.records.length + tape.backward.length;
  await page.focus("#tape-graph");
  await page.press("Home");
  for (let step = 0; step < count; ++step) {
    const shown = await seen(page), back = tape.backward[step - tape.records.length];
    const record = tape.records[back ? back.record : step];
    const way = back ? "backward" : "forward";
    assert.strictEqual(shown.place, `Step ${step + 1} of ${count}, ${way}`);
    assert.strictEqual(shown.line, record.line === null ? null : tape.lines[record.line].text);
    assert.ok(shown.title.includes(record.operation), `${shown.title}: ${record.operation}`);
    if (back)
      checkBackward(tape, back, shown);
    else
      checkForward(tape, step, shown);
    await page.press("ArrowRight");
  }
  assert.strictEqual(await text(page, "#tape-problem"), "This is the last step.");
  return count;
}

liveTest("every step of every tape is the native library's", async (scene) => {
  const page = await openLive(scene, scene.workshop.page("live"));
  await openPart(page);
  await page.wait("the first tape", () => !document.getElementById("tape-body").hidden);
  let steps = 0;
  for (const program of programs) {
    await choose(page, "#tape-program", program);
    await page.wait(
      "the tape", (name) => document.getElementById("tape-title").textContent.startsWith(name),
      program);
    steps += await checkAll(page, native(scene.workshop, program));
  }
  scene.tell(`${steps} steps`);
});

liveTest("tape: a file is stepped through, chosen or dropped", async (scene) => {
  const page = await scene.open(scene.workshop.page("live"));
  const tape = native(scene.workshop, "attention");
  await giveFile(page, JSON.stringify(tape));
  await checkAll(page, tape);
  await giveFile(page, JSON.stringify(native(scene.workshop, "neuron")), "b.json", "drop");
  assert.match(await text(page, "#tape-title"), /^neuron: loss = /);
});

liveTest("tape: the first number that is not finite leads to its cause", async (scene) => {
  const page = await scene.open(scene.workshop.page("live"));
  const tape = native(scene.workshop, "masked");
  await giveFile(page, JSON.stringify(tape));
  assert.match(
    tape.non_finite.text, /not finite: 3 of its 6 numbers are NaN, 1 is infinite; it was/);
  const before = await seen(page);
  assert.deepStrictEqual(before.bad, [], "nothing is bad at first");
  await page.click("#tape-fault");
  const shown = await seen(page);
  assert.match(shown.place, /^Step 4 of /);
  assert.deepStrictEqual(shown.bad, [1, 2, 3], "masked and highest have infinities, shifted NaN");
  const causes = await page.evaluate(
    () => [...document.querySelectorAll("#tape-causes li")].map(
      (one) => one.firstChild.textContent.trim()));
  assert.deepStrictEqual(causes, [
    "Row 1, column 0 of shifted is NaN: -inf - -inf is NaN, of masked [1, 0] and highest [1, 0].",
    "Row 1, column 0 of highest is -inf: max is -inf, of 3 numbers of masked, all of them -inf.",
    "Row 1, column 0 of masked is -inf: 2 + ? is -inf, of s [1, 0] and a number that is not on " +
      "the tape.",
  ]);
  assert.match(shown.words, /It began with masked\.$/);
  assert.match(shown.words, /softmax\(\) gives it zeros, not NaN\.\n/);
  await page.click("#tape-causes li:nth-child(3) button");
  assert.match((await seen(page)).title, /^masked = add\(s\)$/);
});

liveTest("tape: a gradient that is not finite is found where it becomes so", async (scene) => {
  const page = await scene.open(scene.workshop.page("live"));
  const tape = native(scene.workshop, "softmax"), up = 1;
  // Two later records add to the gradient of "up": only the second sum overflows.
  const adding = tape.backward.filter(({gives}) => gives.some(({to}) => to === up));
  assert.strictEqual(adding.length, 2);
  adding[1].gives.find(({to}) => to === up).sum = ["inf", 0, 0];
  const step = tape.records.length + tape.backward.indexOf(adding[1]) + 1;
  tape.non_finite = {
    record: up,
    in_gradient: true,
    text: "it overflows",
    causes: [{record: up, in_gradient: true, place: [0], value: "inf", why: "1e38 + 3e38 is inf"}]
  };
  await giveFile(page, JSON.stringify(tape));
  await page.click("#tape-fault");
  const shown = await seen(page);
  assert.match(shown.place, new RegExp(`^Step ${step} of [0-9]+, backward$`));
  assert.deepStrictEqual(shown.bad, [up]);
  assert.match(shown.words, /Number 0 of the gradient of up is inf: 1e38 \+ 3e38 is inf\./);
});

// Points of the arrows that lie inside boxes, in which no arrow has to be.
const hiddenPoints = (page) => page.evaluate(() => {
  const boxes = [...document.querySelectorAll("#tape-graph [data-record] rect")].map((rect) => {
    const {x, y, width, height} = rect.getBBox();
    return {left: x + 1, right: x + width - 1, top: y + 1, bottom: y + height - 1};
  });
  return [...document.querySelectorAll("#tape-graph [data-from]")].flatMap((arrow) => {
    const length = arrow.getTotalLength(), {from, to} = arrow.dataset;
    const points = Array.from({length: 101}, (_, i) => arrow.getPointAtLength(length * i / 100));
    const isHidden = ({x, y}) =>
      boxes.some(({left, right, top, bottom}) => x > left && x < right && y > top && y < bottom);
    return points.filter(isHidden).map(({x, y}) => `${from} -> ${to} at ${x}, ${y}`);
  });
});

liveTest("tape: no arrow lies behind a box, forward or backward", async (scene) => {
  const page = await scene.open(scene.workshop.page("live"));
  for (const program of programs) {
    const tape = native(scene.workshop, program);
    await giveFile(page, JSON.stringify(tape));
    const long = tape.records.flatMap(({inputs}, i) => inputs.filter((from) => from < i - 1));
    assert.ok(long.length > 0, "some arrows pass other boxes");
    for (const where of ["first", "backward", "last"]) {
      await page.click(`#tape-${where}`);
      assert.deepStrictEqual(await hiddenPoints(page), [], `${program}, ${where}`);
      const shown = await seen(page);
      const wanted =
        tape.records.flatMap(({inputs}, i) => [...new Set(inputs)].map((from) => `${from} ${i}`));
      assert.deepStrictEqual(shown.arrows.map(({from, to}) => `${from} ${to}`), wanted);
    }
  }
});

liveTest("tape: the list of keys has the keys of the live parts", async (scene) => {
  const page = await scene.open(scene.workshop.page("live"));
  await page.click("#show-keys");
  assert.match(await text(page, "#keys"), /← and →\s+in the part Tape: the step before/);
  assert.match(await text(page, "#keys"), /made by hand: the number beside/);
  const recorded = await scene.open(scene.workshop.page("small"));
  await recorded.click("#show-keys");
  assert.doesNotMatch(await text(recorded, "#keys"), /Tape|by hand/);
});

liveTest("tape: keys and buttons step, and say where it ends", async (scene) => {
  const page = await scene.open(scene.workshop.page("live"));
  const tape = native(scene.workshop, "neuron"), place = () => text(page, "#tape-place");
  await giveFile(page, JSON.stringify(tape));
  await page.click("#tape-back");
  assert.strictEqual(await text(page, "#tape-problem"), "This is the first step.");
  await page.click("#tape-fault");
  assert.strictEqual(await text(page, "#tape-problem"), "All numbers are finite.");
  const steps = [
    ["click", "#tape-backward", 8], ["press", "ArrowLeft", 7], ["press", "End", 12],
    ["press", "Home", 1], ["press", "ArrowRight", 2], ["click", "#tape-last", 12],
    ["click", "#tape-first", 1], ["click", "#tape-forward", 2], ["click", '[data-record="4"]', 5]
  ];
  for (const [how, what, step] of steps) {
    await page[how](what);
    assert.match(await place(), new RegExp(`^Step ${step} of 12,`), `${how} ${what}`);
    assert.strictEqual(await text(page, "#tape-problem"), "");
  }
  tape.backward = [];
  await giveFile(page, JSON.stringify(tape));
  await page.click("#tape-backward");
  assert.strictEqual(await text(page, "#tape-problem"), "There was no backward pass.");
});

liveTest("tape: a damaged file gets one sentence, and the tape before stays", async (scene) => {
  const page = await scene.open(scene.workshop.page("live"));
  const good = JSON.stringify(native(scene.workshop, "neuron"));
  await giveFile(page, good);
  await page.click("#tape-forward");
  const changed = (change) => {
    const tape = JSON.parse(good);
    change(tape);
    return JSON.stringify(tape);
  };
  const bad = [
    ["", /damaged or no JSON/],
    ["{", /damaged or no JSON/],
    [good.slice(0, 900), /damaged or no JSON/],
    ["[]", /no tape of this version/],
    ["null", /no tape of this version/],
    ["7", /no tape of this version/],
    [changed((tape) => tape.format = "tapestry tape steps 2"), /no tape of this version/],
    [changed((tape) => tape.records = []), /is empty: it has no records/],
    [changed((tape) => tape.records = 5), /"records" of the tape is not a list/],
    [changed((tape) => tape.records[1] = null), /of record 1 is not there/],
    [changed((tape) => delete tape.records[2].shape), /"shape" of record 2 is not a list/],
    [changed((tape) => tape.records[2].shape = [-1]), /"shape" of record 2/],
    [
      changed((tape) => tape.records[2].inputs = [2]),
      /"inputs" of record 2 is not a list of earlier/
    ],
    [changed((tape) => tape.records[2].inputs = ["0"]), /"inputs" of record 2/],
    [changed((tape) => tape.records[2].line = 99), /"line" of record 2/],
    [
      changed((tape) => tape.records[2].value = [1, 2]),
      /"value" of record 2 is not a list of 1 numb/
    ],
    [
      changed((tape) => tape.records[2].value = ["one"]),
      /"value" of record 2 is not a list of numb/
    ],
    [
      changed((tape) => tape.records[2].value = [null]), /"value" of record 2 is not a list of numb/
    ],
    [changed((tape) => tape.records[2].label = 3), /"label" of record 2 is not a text/],
    [changed((tape) => tape.records[2].saved_bytes = -4), /"saved_bytes" of record 2/],
    [changed((tape) => tape.lines[0].record = 7), /"record" of line 0/],
    [changed((tape) => tape.backward[1].record = 70), /"record" of backward step 1/],
    [changed((tape) => tape.backward[1].gives = null), /"gives" of backward step 1 is not a list/],
    [changed((tape) => tape.backward[1].gives[0].to = -1), /"to" of backward step 1/],
    [changed((tape) => tape.backward[1].gives[0].sum = []), /"sum" of backward step 1/],
    [changed((tape) => tape.non_finite = {}), /of non_finite is not/],
  ];
  for (const [content, sentence] of bad) {
    await giveFile(page, content);
    const said = await text(page, "#tape-problem");
    assert.match(said, sentence, content.slice(0, 80));
    assert.match(said, /^[^.]+[.]$/, "one sentence");
    assert.match(await text(page, "#tape-place"), /^Step 2 of 12/, "the tape before stays");
  }
  await giveFile(page, good);
  assert.strictEqual(await text(page, "#tape-problem"), "");
});

liveTest("tape: markup in a file stays text, and a long tape is drawn in part", async (scene) => {
  const page = await scene.open(scene.workshop.page("live"));
  const tape = native(scene.workshop, "neuron");
  const markup = `<img src=${scene.workshop.server}/tape onerror="window.foreign=1">`;
  tape.name = tape.formula = tape.lines[0].text = tape.records[0].label = markup;
  const one = {...tape.records[4], label: "", line: null, operation: markup, inputs: [0]};
  for (let i = 0; i < 3000; ++i) tape.records.push({...one, inputs: [i + 6]});
  tape.backward = [];
  await giveFile(page, JSON.stringify(tape));
  await page.press("End");
  await page.focus("#tape-graph");
  await page.press("End");
  const shown = await seen(page);
  assert.match(shown.place, /^Step 3007 of 3007/);
  assert.deepStrictEqual(shown.arrows.map(({from, to}) => [from, to]), [["3005", "3006"]]);
  assert.strictEqual(await page.evaluate(() => window.foreign ?? 0), 0);
  assert.strictEqual(await page.evaluate(() => document.querySelectorAll("#tape img").length), 0);
});

module.exports = {
  giveFile,
  native
};
