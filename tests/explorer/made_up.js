// Pages of made-up recordings, for what the small models here do not have: an encoder, windows,
// capped scores, shared keys, biases, many snapshots, 1000 words. Queries and keys are random; the
// weights are computed from them here, step by step as the attention does it.
"use strict";
const fs = require("node:fs");
const {Recording} = require("./recording.js");

// Numbers in [-1, 1) that follow from the seed.
function randomNumbers(seed) {
  let state = (seed * 2654435761 + 12345) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

// The numbers of one run, each appended with its place.
class Block {
  constructor() {
    this.parts = [];
    this.size = 0;
  }

  add(numbers, shape, kind = Float32Array) {
    const bytes = Buffer.from(new Uint8Array(kind.from(numbers).buffer));
    const at = this.size;
    this.parts.push(bytes);
    this.size += bytes.length;
    return {at, shape};
  }

  base64() {
    return Buffer.concat(this.parts).toString("base64");
  }
}

const times = (count, make) => Array.from({length: count}, (_, i) => make(i));

const sees = ({causal}, {window}, i, j) =>
  !(causal && j > i) && !(window > 0 && Math.abs(i - j) >= window);

// The weights of one head, a row for each query, from queries and keys (length, width) and biases.
function weightsOf(model, attention, q, k, bias) {
  return q.map((query, i) => {
    const scores = k.map((key, j) => {
      if (!sees(model, attention, i, j)) return -Infinity;
      const scaled = attention.scale * query.reduce((sum, x, d) => sum + x * key[d], 0);
      const {softcap} = attention;
      return (softcap > 0 ? softcap * Math.tanh(scaled / softcap) : scaled) +
        bias[j - i + q.length - 1];
    });
    const highest = Math.max(...scores), up = scores.map((score) => Math.exp(score - highest));
    const sum = up.reduce((a, b) => a + b, 0);
    return up.map((x) => Math.fround(x / sum));
  });
}

// rows (length, length) -> 64 by 64: mean over the queries of a bin, sum over the keys.
function pooled(rows) {
  const n = rows.length, result = new Float64Array(4096);
  const bin = times(64, (b) => [Math.floor(b * n / 64), Math.floor((b + 1) * n / 64)]);
  bin.forEach(([a, b], r) => bin.forEach(([c, d], s) => {
    for (let i = a; i < b; ++i) {
      for (let j = c; j < d; ++j) result[64 * r + s] += rows[i][j] / (b - a);
    }
  }));
  return result;
}

function layerOf(model, attention, length, block, random, hasBias) {
  const {heads, groups, width, causal} = model, r = (x) => Math.fround(1.5 * x());
  const vectors = (count) => times(count, () => times(length, () => times(width, () => r(random))));
  const q = vectors(heads), k = vectors(groups), v = vectors(groups);
  const bias = times(
    heads,
    () =>
      times(2 * length - 1, (d) => (hasBias ? Math.fround(-0.1 * Math.abs(d - length + 1)) : 0)));
  const maps =
    q.map((of, h) => weightsOf(model, attention, of, k[Math.floor(h * groups / heads)], bias[h]));
  const kept = (rows) => (causal ? rows.flatMap((row, i) => row.slice(0, i + 1)) : rows.flat());
  const cells = causal ? length * (length + 1) / 2 : length * length, isLong = length > 256;
  const flat = (tensor) => tensor.flat(2);
  return {
    query: block.add(flat(q), [heads, length, width]),
    key: block.add(flat(k), [groups, length, width]),
    value: block.add(flat(v), [groups, length, width]),
    weights: isLong ? null : block.add(maps.flatMap(kept), [heads, cells]),
    pooled: isLong ? block.add(maps.flatMap((rows) => [...pooled(rows)]), [heads, 64, 64]) : null,
    bias: hasBias ? block.add(bias.flat(), [heads, 2 * length - 1]) : null,
    ...measuresOf(model, random),
  };
}

// Any numbers: the page shows them as they are.
function measuresOf({heads, kind}, random) {
  const share = () => Math.abs(random()), list = () => times(heads, share);
  const is = kind === "learned";
  const pattern = () => ({ score: share(), offset: 0, uniform: share(), ...(is ? {
    untrained: [share(), 0.1],
    shuffled: [share(), 0.1],
    letter: [null, 0],
    place: [null, 0],
  } : {}) });
  return {
    entropy: list(),
    even_entropy: list(),
    distance: list(),
    even_distance: list(),
    patterns: times(heads, () => times(8, pattern)),
    named: times(heads, () => (is ? "none" : null))
  };
}

function guesses(length, layers, vocabulary, block, random) {
  const ranked = (count) => times(count, () => Math.abs(random())).sort((a, b) => b - a);
  const word = () => Math.floor(Math.abs(random()) * vocabulary);
  const list = (rows, count, shape) => ({
    words: block.add(times(rows * count, word), [...shape, count], Int32Array),
    probabilities: block.add(times(rows, () => ranked(count)).flat(), [...shape, count])
  });
  return {
    next: {
      ...list(length, 10, [length]),
      actual: block.add(times(length, random).map(Math.abs), [length])
    },
    lens: {
      ...list((layers + 1) * length, 5, [layers + 1, length]),
      final: block.add(times((layers + 1) * length, random).map(Math.abs), [layers + 1, length])
    }
  };
}

// Words never hold control characters: the command spells them.
const printable = (word) =>
  word.replace(/[\x00-\x1f\x7f]/g, (c) => `<0x${c.charCodeAt(0).toString(16).padStart(2, "0")}>`);

// Writes `file`: the page of `template` with a recording of `models` (of each what is not as usual,
// and `bias`; of the first the `vocabulary`) and texts (lists of words), each model with each text.
function writeMadeUp(file, template, models, texts) {
  const usual = {
    name: "made up",
    about: "random numbers",
    kind: "learned",
    step: null,
    loss: null,
    layers: 2,
    heads: 4,
    groups: 4,
    width: 8,
    causal: true,
    single_head: false,
    guess: "next",
    unit: "words",
    spaced: true,
    parameters: 1000
  };
  const attention = {scale: Math.fround(1 / Math.sqrt(8)), softcap: 0, window: 0};
  const {patterns, html} = new Recording(template);
  const words = models[0].vocabulary ?? times(50, (i) => `word${i}`);
  const all = {
    format: 1,
    program: "tapestry 0",
    models: [],
    patterns,
    words,
    runs: [],
    texts: texts.map(
      (list) => ({given: list.join(" "), words: list.map(printable), ids: list.map(() => 1)}))
  };
  const blocks = [];
  models.forEach(({bias = false, vocabulary, ...special}, m) => {
    const of = special.kind === "snapshot" ? 0 : m;
    const model = {...usual, of, ...special}, random = randomNumbers(m + 1);
    model.attention = times(model.layers, (l) => ({...attention, ...special.attention?.[l]}));
    all.models.push(model);
    texts.forEach((list, t) => {
      const block = new Block();
      const layers =
        model.attention.map((one) => layerOf(model, one, list.length, block, random, bias));
      const says = model.guess === "none" ?
        {next: null, lens: null} :
        guesses(list.length, model.layers, words.length, block, random);
      all.runs.push({model: m, text: t, numbers: blocks.length, layers, ...says});
      blocks.push(block);
    });
  });
  const begin = html.indexOf('<script type="application/json"');
  const end = html.lastIndexOf("</script>") + "</script>".length;
  const json = JSON.stringify(all).replaceAll("<", "\\u003c");
  const scripts =
    [`<script type="application/json" id="recording">${json}</script>`].concat(blocks.map(
      (block, i) => `<script type="text/plain" id="numbers-${i}">${block.base64()}</script>`));
  fs.writeFileSync(file, html.slice(0, begin) + scripts.join("\n") + html.slice(end));
}

module.exports = {writeMadeUp};
