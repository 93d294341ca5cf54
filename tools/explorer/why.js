// Why one weight is what it is: the arithmetic of one head for one query and one key.

const longRow = 128;  // of longer rows only the largest weights are listed
const listed = 64;

const whyView = {
  id: "why",
  name: "Why",
  intro: () => "All the arithmetic behind one attention weight, number by number, from the query " +
    "and key of this head to the value it fetches. Choose the query in the text above, and the " +
    "key here or in the table of step 4.",

  draw(scene, panel, app) {
    if (scene.beside) panel.append(besideNote(scene, whyNote(scene), ""));
    panel.append(keyChoice(scene, app), reachButtons({...scene, app}, scene.query, scene.key));
    for (const side of whySides(scene)) drawWhy(side, panel, app);
  },

  picture: (scene) => tablePicture(whySides(scene).flatMap(whyTables), scene.paint),
  numbers: (scene) => tableNumbers(whySides(scene).flatMap(whyTables)),
};

// The scene, and the same with B's numbers, where B has this head and these positions.
function whySides(scene) {
  const {beside, layer, head, query, key} = scene, run = beside?.run;
  if (!run) return [scene];
  const a = {...scene, side: "A", sideName: shownName(scene)};
  if (!run.has(layer, head) || Math.max(query, key) >= run.length) return [a];
  const {words, length} = run;
  return [a, {...scene, run, words, length, side: "B", sideName: beside.name}];
}

function whyNote(scene) {
  const {run, beside, layer, head, query, key} = scene;
  if (!beside.run) return "";
  if (!beside.run.has(layer, head)) return noDifference(scene);
  if (whySides(scene).length < 2)
    return `It has no position ${Math.max(query, key)}, so B's arithmetic is not shown.`;
  const [a, b] = [run, beside.run].map((one) => one.weight(layer, head, query, key));
  return `The weight is ${four(a)} in A and ${four(b)} in B: A − B is ${signed(a - b)}.`;
}

function drawWhy(scene, panel, app) {
  if (scene.side) panel.append(html("h2", {}, `${scene.side}: `, html("bdi", {}, scene.sideName)));
  panel.append(whySentence(scene));
  const [product, softmax, value] = whyTables(scene).map((table) => tableElement(table));
  wireRow(softmax, scene, app);
  panel.append(html(
    "div", {class: "steps"},
    html("div", {}, step(1, "Product of query and key", html("p", {}, productText), product)),
    html(
      "div", {}, step(2, "Scale", ...scaleLines(scene)), step(3, "Mask", maskLine(scene)),
      step(4, "Softmax over the keys", html("p", {}, softmaxText(scene)), softmax)),
    html("div", {}, step(5, "What the value adds: weight × v", html("p", {}, valueText), value))));
  const chosen = softmax.querySelector("[aria-current]");
  if (chosen) bringIntoSight(softmax, chosen, 40);
}

const productText = "The head makes q and k from what its layer reads at the two positions.";
const valueText = "The sum over all keys is the output of this head for the query.";

const step = (number, title, ...content) =>
  html("section", {class: "step"}, html("h3", {}, `${number}. ${title}`), ...content);

function keyChoice(scene, app) {
  const select = html("select", {id: "choose-key", change: () => app.set({key: select.value})});
  scene.words.forEach((_, j) => select.append(html("option", {value: j}, place(scene.run, j))));
  select.value = scene.key;
  return html(
    "p", {class: "pair"}, `Query ${place(scene.run, scene.query)}, `,
    html("label", {}, "key ", select));
}

function whySentence(scene) {
  const {run, layer, head, query, key} = scene;
  const own = softmaxRow(run, layer, head, query)[key], used = run.weight(layer, head, query, key);
  const line = html("p", {class: "result"}, "Weight ", numberElement(used));
  if (!run.isRecorded(layer)) {
    line.append(
      ". It is computed here from the queries and keys: a text of this length has no " +
      "recorded weights.");
  } else {
    line.append(" as the model used it; the arithmetic below gives ", numberElement(own), ".");
  }
  return line;
}

// The three tables of the arithmetic.
function whyTables(scene) {
  const start = scene.side ? `${scene.side}. ` : "";
  return [productTable(scene), softmaxTable(scene), valueTable(scene)].map(
    (table) => ({...table, title: start + table.title}));
}

function productTable({run, layer, head, query, key}) {
  const q = run.query(layer, head, query), k = run.key(layer, head, key);
  const most = q.reduce((a, x, d) => Math.max(a, Math.abs(x * k[d])), 0) || 1;
  const rows = Array.from(q, (x, d) => {
    const both = x * k[d];
    return [String(d), x, k[d], {text: four(both), value: both, bar: both / most}];
  });
  const {sum} = scoreSteps(run, layer, head, query, key);
  rows.push(["sum", "", "", {text: `${four(sum)}`, value: sum}]);
  rows[rows.length - 1].attributes = {class: "sum"};
  return {
    title: `q of ${place(run, query)} times k of ${place(run, key)}, ${plural(q.length, "number")}`,
    columns: ["i", "q", "k", "q × k"],
    rows,
    hasNames: true,
  };
}

function scaleLines({run, layer, head, query, key}) {
  const {scale, softcap} = run.attention(layer);
  const {sum, scaled, capped, bias, score} = scoreSteps(run, layer, head, query, key);
  const width = run.query(layer, head, query).length;
  const isRoot = Math.abs(scale - 1 / Math.sqrt(width)) < 1e-6 * scale;
  const name = isRoot ? ` (1 / √${width})` : "";
  const lines = [html(
    "p", {}, numberElement(sum), ` × ${Number(scale.toPrecision(6))}${name} = `,
    numberElement(scaled))];
  if (softcap > 0) {
    lines.push(
      html("p", {}, `Capped: ${softcap} · tanh(it / ${softcap}) = `, numberElement(capped)));
  }
  if (run.hasBias(layer)) {
    lines.push(
      html("p", {}, `For the distance of ${Math.abs(key - query)}: `, numberElement(bias)));
  }
  return [...lines, html("p", {}, "The score is ", numberElement(score), ".")];
}

function maskLine({run, layer, query, key}) {
  const {window} = run.attention(layer);
  const limit = window > 0 ? ` This layer has a window of ${window}.` : "";
  if (!run.sees(layer, query, key)) {
    return html("p", {}, `Masked${whyMasked(run, query, key)}: the weight is 0.${limit}`);
  }
  return html(
    "p", {},
    (run.model.causal ? "Allowed: this model sees earlier words and the word itself." :
                        "Allowed: this model sees all words.") +
      limit);
}

function softmaxText(scene) {
  const more = scene.length > longRow ?
    ` Only the ${listed} keys with the largest weights are listed, and the chosen one.` :
    "";
  return "Each score becomes exp(score − the highest score). Its share of the sum of all of them " +
    "is the weight." + more;
}

// The keys whose rows are listed.
function listedKeys(scene, weights) {
  const all = Array.from(weights.keys());
  if (scene.length <= longRow) return all;
  const best = [...all].sort((a, b) => weights[b] - weights[a]).slice(0, listed);
  return all.filter((j) => best.includes(j) || j === scene.key);
}

function softmaxTable(scene) {
  const {run, layer, head, query, key} = scene;
  const scores = scoreRow(run, layer, head, query), up = exponentials(scores);
  const sum = up.reduce((a, b) => a + b, 0), weights = up.map((x) => x / sum);
  const rows = listedKeys(scene, weights).map((j) => {
    const seen = run.sees(layer, query, j), own = run.weight(layer, head, query, j);
    const row = [
      place(run, j), seen ? scores[j] : "masked", seen ? {text: fixed(up[j], 6), value: up[j]} : "",
      {text: four(weights[j]), value: weights[j], bar: weights[j]},
      run.isRecorded(layer) ? own : "not recorded"
    ];
    row.attributes = {
      "data-query": query,
      "data-key": j,
      class: j === key ? "chosen" : null,
      "aria-current": j === key ? "true" : null
    };
    return row;
  });
  rows.push(["sum", "", {text: fixed(sum, 6), value: sum}, {text: "1.0000", value: 1}, ""]);
  rows[rows.length - 1].attributes = {class: "sum"};
  return {
    title: `What ${place(run, query)} sees`,
    rows,
    hasNames: true,
    columns: ["key", "score", "exp(score − highest)", "weight, computed here", "the model's"],
  };
}

function wireRow(root, scene, app) {
  root.addEventListener("click", (event) => {
    const row = event.target.closest("[data-key]");
    if (row) app.set({key: row.dataset.key});
  });
}

function valueTable(scene) {
  const {run, layer, head, query, key} = scene, weights = run.row(layer, head, query);
  const v = run.value(layer, head, key), sum = new Float64Array(v.length);
  weights.forEach((w, j) => {
    if (w === 0) return;
    run.value(layer, head, j).forEach((x, d) => {
      sum[d] += w * x;
    });
  });
  const rows = Array.from(v, (x, d) => {
    const part = weights[key] * x;
    return [String(d), x, {text: four(part), value: part}, {text: four(sum[d]), value: sum[d]}];
  });
  return {
    title: `Value of ${place(run, key)}, for the output of ${place(run, query)}`,
    columns: ["i", "v", `${four(weights[key])} × v`, "sum over all keys"],
    rows,
    hasNames: true,
  };
}
