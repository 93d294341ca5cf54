// What a page file holds equals what the other commands print, to their digits.
"use strict";
const assert = require("node:assert");
const {analyze, lens, why} = require("./library.js");
const {Recording} = require("./recording.js");
const {test} = require("./runner.js");

const near = (have, want, digits, what) => {
  if (want === null || have === null)
    assert.strictEqual(have, want, what);
  else
    assert.ok(Math.abs(have - want) <= 0.5000001 * 10 ** -digits, `${what}: ${have}, not ${want}`);
};

// Pages of one causal model with few words: name, how the commands name the model, its text.
function subjects(workshop) {
  const small = ["--checkpoint", workshop.file("induction1.safetensors")];
  const real = workshop.real("stories260K");
  return [["small", small], ["pair", small]].concat(real ? [["shared", ["--model", real]]] : []);
}

test("recording: weights, queries, keys and values are those of `why`", ({workshop}) => {
  for (const [name, model] of subjects(workshop)) {
    const recording = new Recording(workshop.page(name)),
          {layers, heads, groups, width} = recording.models[0];
    for (let at = 0; at < recording.texts.length; ++at) {
      const {given, words} = recording.texts[at], run = recording.run(0, at);
      for (let n = 0; n < layers * heads; n += layers * heads > 8 ? 7 : 1) {
        const layer = Math.floor(n / heads), head = n % heads;
        const query = words.length - 1 - n % 3, key = n % words.length;
        const seen = why(workshop, model, given, {layer, head, query, key});
        const what =
          `${name}, text ${at}, layer ${layer}, head ${head}, query ${query}, key ${key}`;
        assert.strictEqual(seen.row.length, words.length, what);
        seen.row.forEach(
          ({weight}, j) =>
            near(recording.weight(run, layer, head, query, j), weight, 4, `${what}, weight ${j}`));
        const group = Math.floor(head * groups / heads);
        const part = (kind, of, place, i) => recording.numbers(
          run,
          run.layers[layer]
                    [kind])[(of * words.length + place) * run.layers[layer][kind].shape[2] + i];
        assert.strictEqual(seen.parts.length, width, what);
        seen.parts.forEach(({q, k}, i) => {
          near(part("query", head, query, i), q, 4, `${what}, q ${i}`);
          near(part("key", group, key, i), k, 4, `${what}, k ${i}`);
        });
        seen.value.forEach(({v}, i) => near(part("value", group, key, i), v, 4, `${what}, v ${i}`));
      }
    }
  }
});

test("recording: entropies, distances, patterns and next words are those of `analyze`", (scene) => {
  const {workshop} = scene;
  for (const [name, model] of subjects(workshop)) {
    const recording = new Recording(workshop.page(name)), run = recording.run(0, 0);
    const {layers, heads} = recording.models[0], {given, words} = recording.texts[0];
    const all = analyze(workshop, model, given);
    assert.strictEqual(all.heads.length, layers * heads);
    for (const {layer, head, entropy, even, distance, evenDistance} of all.heads) {
      const what = `${name}, layer ${layer}, head ${head}`, mine = run.layers[layer];
      near(mine.entropy[head], entropy, 2, `${what}, entropy`);
      near(mine.even_entropy[head], even, 2, `${what}, entropy of equal weights`);
      near(mine.distance[head], distance, 2, `${what}, distance`);
      near(mine.even_distance[head], evenDistance, 2, `${what}, distance of equal weights`);
    }
    const {words: ids, probabilities} = run.next, count = ids.shape[1];
    all.next.forEach(({word, chance}, i) => {
      const place = (words.length - 1) * count + i;
      assert.strictEqual(recording.words[recording.numbers(run, ids, Int32Array)[place]], word);
      near(recording.numbers(run, probabilities)[place], chance, 2, `${name}, ${word}`);
    });
    for (let n = 0; n < layers * heads; n += layers * heads > 8 ? 9 : 3) {
      const layer = Math.floor(n / heads), head = n % heads;
      comparePatterns(
        recording, run, {layer, head}, analyze(workshop, model, given, {layer, head}));
    }
  }
});

function comparePatterns(recording, run, {layer, head}, said) {
  const mine = run.layers[layer].patterns[head];
  assert.strictEqual(said.patterns.length, recording.patterns.length);
  assert.strictEqual(run.layers[layer].named[head], said.name);
  said.patterns.forEach(({name, score, untrained, shuffled, uniform}, i) => {
    const {offset} = mine[i], what = `layer ${layer}, head ${head}, ${name}`;
    assert.strictEqual(recording.patterns[i] + (offset ? ` ${offset}` : ""), name);
    near(mine[i].score, score, 2, what);
    near(mine[i].uniform, uniform, 2, `${what}, equal weights`);
    near(mine[i].untrained[0], untrained[0], 2, `${what}, untrained`);
    near(mine[i].shuffled[0], shuffled[0], 2, `${what}, shuffled`);
    if (score !== null) {
      near(mine[i].untrained[1], untrained[1], 2, `${what}, deviation of the untrained`);
      near(mine[i].shuffled[1], shuffled[1], 2, `${what}, deviation of the shuffled`);
    }
  });
}

test("recording: the lens is that of `lens`, to the last bit", ({workshop}) => {
  for (const [name, model] of subjects(workshop)) {
    const recording = new Recording(workshop.page(name)), run = recording.run(0, 0);
    const said = lens(workshop, model, recording.texts[0].given);
    const {final, words: ids, probabilities} = run.lens;
    const [layers, length] = final.shape, mine = recording.numbers(run, final);
    said.values.forEach(
      (row, layer) => row.forEach(
        (value, place) => assert.strictEqual(
          mine[layer * length + place], Math.fround(value), `${name} ${layer} ${place}`)));
    const first = recording.numbers(run, ids, Int32Array), count = ids.shape[2];
    for (let place = 0; place < length; ++place) {
      const at = ((layers - 1) * length + place) * count;
      assert.strictEqual(recording.words[first[at]], said.words[place]);
      assert.strictEqual(
        recording.numbers(run, probabilities)[at], mine[(layers - 1) * length + place]);
    }
  }
});
