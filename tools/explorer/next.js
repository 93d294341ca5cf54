// Next words: what the model thinks follows, or, of a model that fills gaps, stands there.

const nextView = {
  id: "next",
  name: "Next words",
  intro: (scene) => {
    const unit = unitOf(scene), isGap = scene.run.model.guess === "hidden";
    return isGap ? `At each position this model says which ${unit} stands there. The list shows ` +
        `the ten likeliest at the chosen position, the columns the probability of the ${unit} ` +
        "that does." :
                   `After each ${unit} the model says which one comes next. The list shows the ` +
        `ten likeliest after the chosen ${unit}. There is a column for each position: below it ` +
        `stands the ${unit} that really follows, its height is the probability of that ${unit}.`;
  },
  empty: (scene) =>
    (scene.run.hasNext ? "" : "This model predicts no words, so there is nothing to show here."),

  draw(scene, panel, app) {
    if (scene.beside)
      panel.append(besideNote(scene, "In the columns, full bars are A, empty ones B."));
    const strip = actualStrip(scene, app);
    panel.append(strip);
    bringIntoSight(strip, strip.querySelector("[aria-current]"));
    const lists = html("div", {class: "pictures"});
    nextTables(scene).forEach((table) => lists.append(tableElement(table, {class: "next"})));
    panel.append(lists);
  },

  picture: (scene) => tablePicture(nextTables(scene), scene.paint),

  numbers(scene) {
    const rows = [];
    for (let i = 0; i < scene.length; ++i) {
      scene.run.next(i).forEach(({word, probability}, r) => rows.push([
        i, scene.words[i], r + 1, word, probability, followed(scene.run, i), scene.run.actual(i)
      ]));
    }
    return {
      columns: [
        "position", "word", "rank", "predicted", "probability", "actual word",
        "probability of the actual word"
      ],
      rows
    };
  },
};

// The word that is to be guessed at a position.
const followed = (run, i) => run.model.guess === "hidden" ? run.words[i] : run.words[i + 1] ?? "";

function nextTables(scene) {
  const {run, beside, query} = scene, other = beside?.run;
  const isBoth = other?.hasNext && query < other.length;
  const tables =
    [nextTable(scene, run, isBoth ? `A: ${modelName(run.model)}` : "", isBoth && other)];
  if (isBoth) tables.push(nextTable(scene, other, `B: ${beside.name}`, null));
  return tables;
}

function nextTable(scene, run, name, other) {
  const i = scene.query, words = run.next(i), word = followed(run, i);
  const there = other ? new Map(other.next(i).map((x) => [x.word, x.probability])) : null;
  const rows = words.map(({word: guess, probability}, r) => {
    const cells = [
      String(r + 1), {
        text: short(guess) + (guess === word ? " ✓" : ""),
        plain: guess,
        element: guessElement(guess, word)
      },
      {text: four(probability), value: probability, bar: probability}
    ];
    if (there) cells.push(differenceCell(scene, probability, there.get(guess)));
    return cells;
  });
  const isGap = run.model.guess === "hidden", verb = isGap ? "is there" : "follows";
  const actual = word === "" || /^[<[]mask[>\]]$/i.test(word) ?
    "" :
    `; what ${verb}, ${isolated(word)}, has ${four(run.actual(i))}`;
  return {
    title:
      `${name ? name + ". " : ""}Likeliest ${isGap ? "at" : "after"} ${place(run, i)}${actual}`,
    columns: ["rank", unitOf({run}), "probability", ...(there ? ["A − B"] : [])],
    rows,
    hasNames: false,
  };
}

const guessElement = (guess, actual) => html(
  "span", {}, wordElement(guess),
  guess === actual ? html("span", {class: "hit", title: "what really is there"}, " ✓") : null);

function differenceCell(scene, a, b) {
  if (b === undefined) return {text: "not in B's ten", plain: ""};
  return {text: signed(a - b), value: a - b, fill: twoSided(scene.paint, a - b)};
}

// A column for each position: the probability of the word that really is there.
function actualStrip(scene, app) {
  const {run} = scene, other = scene.beside?.run?.hasNext ? scene.beside.run : null;
  const strip = html("div", {
    class: "columns",
    role: "grid",
    tabindex: "-1",
    "aria-label": "Probability of the actual word at each position"
  });
  const row = html("div", {role: "row"});
  for (let i = 0; i < scene.length; ++i) row.append(actualColumn(scene, run, other, i));
  strip.append(row);
  wireStrip(strip, scene, app);
  return html("div", {class: "scroll"}, strip);
}

function actualColumn(scene, run, other, i) {
  const p = run.actual(i), q = other && i < other.length ? other.actual(i) : NaN;
  const bars = [p, ...(other ? [q] : [])].map((x, n) => {
    const bar = html("span", {class: n ? "column-bar beside" : "column-bar"});
    bar.hidden = Number.isNaN(x);  // nothing follows: no bar, as even 0 has one
    bar.style.height = `${Math.max(1, 72 * x)}px`;
    return bar;
  });
  return html(
    "button", {
      type: "button",
      role: "gridcell",
      tabindex: "-1",
      "data-row": 0,
      "data-column": i,
      "data-position": i,
      "data-value": Number.isNaN(p) ? null : String(p),
      "aria-current": i === scene.query ? "true" : null,
      "aria-label": actualText(run, other, i),
    },
    html("span", {class: "column-space"}, ...bars), wordElement(followed(run, i) || "–", 8));
}

function actualText(run, other, i) {
  const word = followed(run, i), verb = run.model.guess === "hidden" ? "at" : "after";
  if (word === "" && i === run.length - 1 && run.model.guess !== "hidden") {
    return `nothing follows ${place(run, i)}`;
  }
  const beside = other && i < other.length ? `, B ${four(other.actual(i))}` : "";
  return `${isolated(word)} ${verb} ${place(run, i)}: probability ${four(run.actual(i))}${beside}`;
}

function wireStrip(strip, scene, app) {
  const other = scene.beside?.run?.hasNext ? scene.beside.run : null;
  const cell = (_, i) => strip.querySelector(`[data-column="${i}"]`);
  const say = (_, i) => app.say(actualText(scene.run, other, i));
  const choose = (_, i) =>
    app.set({query: i, key: null}, {focus: `#panel-next [data-column="${i}"]`});
  makeGrid(
    strip,
    {rows: 1, columns: scene.length, start: [0, scene.query], cell, arrive: say, enter: choose});
  strip.addEventListener("pointerover", (event) => {
    const at = event.target.closest("button");
    if (at) say(0, Number(at.dataset.column));
  });
  strip.addEventListener("click", (event) => {
    const at = event.target.closest("button");
    if (at) choose(0, Number(at.dataset.column));
  });
}
