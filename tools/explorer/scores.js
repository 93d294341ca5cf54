// Scores: how far each head follows each pattern, and how far heads would that learned nothing.

const scoresView = {
  id: "scores",
  name: "Scores",
  intro: () => "How far each head follows each pattern on this text: 1 is fully, 0 not at all. A " +
    "score says something only beside what untrained models and equal weights reach. Choose a " +
    "pattern to compare all heads in it; choose a heading to sort.",

  draw(scene, panel, app) {
    live.wantBaselines(scene);
    if (scene.beside) {
      panel.append(
        besideNote(scene, "A number in brackets is A − B; orange is more in A, violet in B."));
    }
    panel.append(sortableTable(overviewOfHeads(scene), scene, app), patternChoice(scene, app));
    panel.append(sortableTable(patternTable(scene), scene, app), columnMeanings(scene));
  },

  picture: (scene) => tablePicture([overviewOfHeads(scene), patternTable(scene)], scene.paint),
  numbers: scoreNumbers,
};

// The pattern in which the head is furthest above its baselines; -1 if the text can show none. The
// last two, uniform and sparse, say the same as entropy and are left out.
function bestPattern(patterns) {
  let best = -1, lead = -Infinity;
  patterns.slice(0, -2).forEach((one, p) => {
    if (one.score === null) return;
    const ahead = one.score - Math.max(one.untrained?.[0] ?? 0, one.uniform ?? 0);
    if (ahead > lead) [best, lead] = [p, ahead];
  });
  return best;
}

// A mean and deviation; null where the text cannot show the pattern.
const isKnown = (pair) => typeof pair?.[0] === "number";

// Above what untrained models reach, by two of their deviations, and above equal weights.
function isAbove({score, untrained, uniform}) {
  if (score === null || !isKnown(untrained)) return false;
  return score > untrained[0] + 2 * untrained[1] && score > (uniform ?? 0);
}

function eachHead(run, visit) {
  const rows = [];
  for (let l = 0; l < run.model.layers; ++l) {
    for (let h = 0; h < run.model.heads; ++h) rows.push(visit(l, h, run.measures(l, h)));
  }
  return rows;
}

const headCells = (scene, l, h) => ({
  text: `${l}.${h}`,
  value: l * 1000 + h,
  plain: `${l}.${h}`,
  attributes: {"data-layer": l, "data-head": h},
  isName: true,
});

function overviewOfHeads(scene) {
  const {patterns} = scene.source, other = scene.beside?.run;
  const rows = eachHead(scene.run, (l, h, m) => {
    const cells = [
      headCells(scene, l, h), {text: m.name ?? "not judged", plain: m.name ?? ""},
      besideCell(m.entropy, m.evenEntropy), besideCell(m.distance, m.evenDistance),
      ...m.patterns.map((one, p) => scoreCell(scene, one, otherScore(other, l, h, p)))
    ];
    cells.attributes = {class: l === scene.layer && h === scene.head ? "chosen" : null};
    return cells;
  });
  return {
    id: "o",
    title: "All heads (layer.head)",
    hasNames: true,
    rows,
    columns: ["head", "name", "entropy (equal weights)", "distance (equal weights)", ...patterns],
  };
}

const otherScore = (run, l, h, p) =>
  (run?.has(l, h) ? run.measures(l, h).patterns[p]?.score : undefined);

const besideCell = (x, even) => ({text: `${four(x)} (${four(even)})`, value: x});

// The score, ▲ if it is above the baselines, and the difference to what stands beside.
function scoreCell(scene, one, other) {
  if (one.score === null)
    return {text: "–", plain: "", attributes: {"aria-label": "not shown by this text"}};
  const isUp = isAbove(one), mark = isUp ? " ▲" : "";
  if (typeof other === "number") {
    const x = one.score - other;
    return {
      text: `${four(one.score)}${mark} (${signed(x)})`,
      value: one.score,
      fill: twoSided(scene.paint, x)
    };
  }
  return {
    text: four(one.score) + mark,
    value: one.score,
    fill: isUp ? shade(scene.paint.ramp, one.score) : null
  };
}

// ---- one pattern with all its controls
function chosenPattern(scene) {
  const asked = asIndex(scene.state.pattern, scene.source.patterns.length, -1);
  if (asked >= 0 || !scene.run) return Math.max(0, asked);
  const run = scene.run.learned ?? scene.run;  // the same at all steps of training
  return Math.max(0, bestPattern(run.measures(scene.layer, scene.head).patterns));
}

const patternOptions = (scene) => scene.source.patterns.map((name, i) => [String(i), name]);

function patternChoice(scene, app) {
  const select =
    html("select", {id: "score-pattern", change: () => app.set({pattern: select.value})});
  setOptions(select, patternOptions(scene), String(chosenPattern(scene)));
  return html("p", {class: "pair"}, html("label", {}, "Pattern to compare ", select));
}

const spreadCell = (pair) => isKnown(pair) ?
  {text: `${four(pair[0])} ± ${four(pair[1])}`, value: pair[0]} :
  {text: "–", plain: ""};

function patternTable(scene) {
  const p = chosenPattern(scene), name = scene.source.patterns[p],
        isFixed = name === "fixed offset";
  const hasTwo = name === "induction";
  const rows = eachHead(scene.run, (l, h, {patterns}) => {
    const one = patterns[p];
    return [
      headCells(scene, l, h), scoreCell(scene, one), spreadCell(one.untrained),
      typeof one.uniform === "number" ? one.uniform : "–", spreadCell(one.shuffled),
      ...(isFixed ? [String(one.offset)] : []),
      ...(hasTwo ? [spreadCell(one.letter), spreadCell(one.place)] : [])
    ];
  });
  return {
    id: "p",
    title: `Pattern: ${name}`,
    rows,
    hasNames: true,
    columns: [
      "head", "score", "untrained", "equal weights", "shuffled", ...(isFixed ? ["offset"] : []),
      ...(hasTwo ? ["by word", "by place"] : [])
    ],
  };
}

// ---- sorting
function sortableTable(table, scene, app) {
  const {id, column, down} = chosenSort(scene);
  const sorted = id === table.id && column < table.columns.length ? column : -1;
  if (sorted >= 0) table.rows.sort((a, b) => compare(a[column], b[column]) * (down ? -1 : 1));
  const place = tableElement(table, {class: table.id === "o" ? "scores of-heads" : "scores"});
  place.querySelectorAll("thead th").forEach((th, c) => {
    const name = `${table.id}${c}`, isSorted = c === sorted;
    if (isSorted) th.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sort = isSorted && down ? name : `-${name}`;
    const click = () => app.set({sort}, {focus: `[data-sort="${name}"]`});
    th.replaceChildren(html(
      "button", {type: "button", "data-sort": name, click}, th.textContent,
      isSorted ? (down ? " ↓" : " ↑") : ""));
  });
  place.querySelectorAll("tbody th").forEach((th) => openFrom(th, app));
  if (table.id === "o") wireScores(place, table, scene, app);
  return place;
}

// The name of a head in a table opens it.
function openFrom(th, app) {
  const {layer, head} = th.dataset;
  const click = () => app.set({view: "map", layer, head, heads: null, key: null});
  const name = `open head ${layer}.${head}`;
  th.replaceChildren(html("button", {type: "button", "aria-label": name, click}, th.textContent));
}

// Pointing at a score, or reaching it with the arrow keys, says it with all its controls.
function wireScores(place, table, scene, app) {
  const rows = [...place.querySelectorAll("tbody tr")], skipped = 4;
  rows.forEach((row, r) => [...row.children].slice(skipped).forEach((td, c) => {
    td.dataset.row = r;
    td.dataset.column = c;
    td.tabIndex = -1;
  }));
  const show = (r, c) => {
    const {layer, head} = rows[r].firstChild.dataset;
    app.say(scoreText(scene, Number(layer), Number(head), c));
  };
  makeGrid(place.querySelector("tbody"), {
    rows: rows.length,
    columns: scene.source.patterns.length,
    start: [0, 0],
    arrive: show,
    cell: (r, c) => rows[r]?.children[c + skipped],
    enter: (_, c) => app.set({pattern: c}),
  });
  place.addEventListener("pointerover", (event) => {
    const at = positionOf(event.target.closest("td[data-row]") ?? {});
    if (at) show(...at);
  });
}

function scoreText(scene, layer, head, p) {
  const one = scene.run.measures(layer, head).patterns[p],
        start = `head ${layer}.${head}, ` + scene.source.patterns[p] +
    (one.offset ? ` ${one.offset}` : "");
  if (one.score === null) return `${start}: this text cannot show it`;
  const spread = (name, pair) =>
    (isKnown(pair) ? `, ${name} ${four(pair[0])} ± ${four(pair[1])}` : "");
  const even = typeof one.uniform === "number" ? `, equal weights ${four(one.uniform)}` : "";
  return `${start}: ${four(one.score)}${spread("untrained", one.untrained)}${even}` +
    spread("shuffled", one.shuffled);
}

function chosenSort({state}) {
  const [, minus, id, column] = /^(-?)([op])(\d{1,3})$/.exec(state.sort ?? "") ?? [];
  return {id, column: Number(column), down: minus === "-"};
}

function compare(a, b) {
  const [x, y] = [asCell(a), asCell(b)];
  if (x.value !== undefined && y.value !== undefined) return x.value - y.value;
  if (x.value !== undefined || y.value !== undefined) return x.value === undefined ? -1 : 1;
  return x.text < y.text ? -1 : x.text > y.text ? 1 : 0;
}

function scoreNumbers(scene) {
  const rows = [];
  eachHead(scene.run, (l, h, m) => m.patterns.forEach((one, p) => rows.push([
    l, h, m.name ?? "", m.entropy, m.evenEntropy, m.distance, m.evenDistance,
    scene.source.patterns[p], one.score ?? "", one.offset, one.uniform ?? "",
    ...(one.untrained ?? ["", ""]), ...(one.shuffled ?? ["", ""]), ...(one.letter ?? ["", ""]),
    ...(one.place ?? ["", ""])
  ])));
  return {
    rows,
    columns: [
      "layer", "head", "name", "entropy", "entropy of equal weights", "distance",
      "distance of equal weights", "pattern", "score", "offset", "equal weights", "untrained mean",
      "untrained deviation", "shuffled mean", "shuffled deviation", "letter mean",
      "letter deviation", "place mean", "place deviation"
    ]
  };
}
