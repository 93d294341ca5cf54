// What the other commands of tapestry say about a model, as numbers. The tests compare pages with
// it: to the digits that the commands print.
"use strict";
const fs = require("node:fs");

// The numbers of `tapestry why`: of query and key the parts {q, k, product}; the row of the softmax
// {score, weight} for each key, the model's own weight in it; the value's parts {v, added, output}.
function why(workshop, model, text, {layer, head, query, key}) {
  const lines = workshop
                  .tapestry(
                    "why", ...model, "--text", text, "--layer", layer, "--head", head, "--query",
                    query, "--key", key)
                  .split("\n");
  const found = {parts: [], row: [], value: []};
  let section = 0;
  for (const line of lines) {
    section = Number(line.match(/^([1-6])\. /)?.[1] || section);
    const words = line.trim().split(/ +/);
    const numbers = words.slice(1).map(Number);
    if (section === 1 && /^ +\d+ /.test(line)) {
      found.parts.push({q: numbers[0], k: numbers[1], product: numbers[2]});
    } else if (section === 1 && words[0] === "sum")
      found.dot = numbers[0];
    const scaled = line.match(/^2\. Scale: .* = (-?[\d.]+)(, the score|$)/);
    if (scaled) found.score = Number(scaled[1]);
    const row = line.match(/^[> ] .* (-?\d+\.\d{4}) +(masked|[\d.]+) +([\d.]+) +([\d.]+)$/);
    if (section === 4 && row) found.row.push({score: Number(row[1]), weight: Number(row[4])});
    if (section === 5 && /^ +\d+ /.test(line)) {
      found.value.push({v: numbers[0], added: numbers[1], output: numbers[2]});
    }
  }
  return found;
}

const number = (text) => (text === "-" ? null : Number(text));

// The numbers of `tapestry analyze`: for each head {entropy, even, distance, evenDistance}; its
// patterns, if one head is asked for: {name, score, untrained, shuffled, uniform}, null for "-".
function analyze(workshop, model, text, head = undefined) {
  const one = head ? ["--layer", head.layer, "--head", head.head] : [];
  const out = workshop.tapestry("analyze", ...model, "--text", text, ...one);
  const heads =
    [...out.matchAll(/^ +(\d+) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) {3}(?!.* ±)/gm)].map(
      ([, layer, number, ...rest]) => {
        const [entropy, even, distance, evenDistance] = rest.map(Number);
        return {layer: Number(layer), head: Number(number), entropy, even, distance, evenDistance};
      });
  const spread = "(-|[\\d.]+)(?: ±([\\d.]+))?";
  const pattern = new RegExp(
    `^ +\\d+ +\\d+ {3}(\\S.*?) {2,}(-|[\\d.]+) +${spread} +${spread} +(-|[\\d.]+)$`, "gm");
  const patterns =
    [...out.matchAll(pattern)].map(([, name, score, mean, deviation, m, d, even]) => ({
                                     name,
                                     score: number(score),
                                     untrained: [number(mean), number(deviation ?? "-")],
                                     shuffled: [number(m), number(d ?? "-")],
                                     uniform: number(even)
                                   }));
  const next =
    out.match(/^next: ([^]*?)\n\n/m)
      ?.[1]
      .replace(/\n +/g, " ")
      .split(", ")
      .map(
        (entry) => ({word: entry.replace(/ [\d.]+$/, ""), chance: Number(entry.match(/[\d.]+$/))}));
  return {heads, patterns, name: out.match(/^name: (.*)$/m)?.[1], next};
}

// The table of `tapestry lens`: after each layer, at each position, the probability of what the
// model says in the end, and that word.
function lens(workshop, model, text) {
  const file = workshop.file("lens.json");
  workshop.tapestry("lens", ...model, "--text", text, "--json", file);
  const {values, columns} = JSON.parse(fs.readFileSync(file, "utf8")).tables.at(-1);
  return {values, words: columns.map((column) => column.split(" → ").pop())};
}

module.exports = {
  why,
  analyze,
  lens
};
