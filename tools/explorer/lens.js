// The logit lens: what the model would say if it ended after each layer.

const lensView = {
  id: "lens",
  name: "Lens",
  intro: (scene) => {
    const unit = unitOf(scene), verb = scene.run.model.guess === "hidden" ? "stands" : "comes next";
    return `Which ${unit} the model would say ${
             verb}, if it ended after that layer: what it holds ` +
      `at a position goes straight to its last two steps, the final norm and the map to ${
             unit}s. ` +
      "The top row is the last layer, what it really says; the colour is the probability.";
  },
  empty: (scene) =>
    (scene.run.hasLens ? "" : "There is no lens here: it needs a model that predicts words."),

  draw(scene, panel, app) {
    if (scene.beside) panel.append(besideNote(scene, lensNote(scene), ""));
    for (const side of lensSides(scene)) {
      const table = lensTable(scene, side), box = html("div", {class: "scroll"}, table);
      panel.append(box);
      const chosen = table.querySelector(".chosen");
      if (chosen) bringIntoSight(box, chosen);
      wireLens(table, scene, side, app);
    }
    panel.append(lensKey(scene));
  },

  picture: (scene) =>
    tablePicture(lensSides(scene).map((side) => lensPicture(scene, side)), scene.paint),

  numbers(scene) {
    const sides = lensSides(scene), rows = [], isBoth = sides.length > 1;
    for (const {run, name} of sides) {
      for (let l = 0; l <= run.model.layers; ++l) {
        for (let i = 0; i < run.length; ++i) {
          run.lens(l, i).forEach(({word, probability}, r) => rows.push([
            ...(isBoth ? [name] : []), layerName(l), i, run.words[i], r + 1, word, probability,
            run.lensFinal(l, i)
          ]));
        }
      }
    }
    return {
      columns: [
        ...(isBoth ? ["side"] : []), "after", "position", "word", "rank", "would say",
        "probability", "probability of the final word"
      ],
      rows
    };
  },
};

// A, and B if it has a lens: {run, name, title, other: what A is compared with}.
function lensSides(scene) {
  const {run, beside} = scene, other = beside?.run?.hasLens ? beside.run : null;
  if (!other) return [{run, name: "A", title: "", other}];
  return [
    {run, name: "A", title: `A: ${shownName(scene)}`, other},
    {run: other, name: "B", title: `B: ${beside.name}`, other: null}
  ];
}

const lensNote = ({beside}) => beside.run?.hasLens ?
  "In A, the last number is A − B: of the probability of A's word, where it is among B's five." :
  "B predicts no words, so it has no lens.";

// A's probability of its likeliest word minus B's of the same word; "–" where B does not list it,
// null where nothing stands beside.
function lensDifference(other, l, i, {word, probability}) {
  if (!other || l > other.model.layers || i >= other.length) return null;
  const there = other.lens(l, i).find((one) => one.word === word);
  return there ? signed(probability - there.probability) : "–";
}

function lensTable(scene, {run, title, other}) {
  const [first, last] = part(scene, run, "queries");
  const table = html("table", {
    class: "lens",
    role: "grid",
    "aria-label":
      (title ? `${title}. ` : "") + "What would be said: rows are layers, columns positions"
  });
  if (title) table.append(html("caption", {}, html("bdi", {}, title)));
  const head = html("tr", {}, html("th", {scope: "col"}, "after"));
  for (let i = first; i <= last; ++i) {
    head.append(
      html("th", {scope: "col"}, wordElement(run.words[i], 10), html("small", {}, ` ${i}`)));
  }
  table.append(html("thead", {}, head));
  const body = html("tbody");
  for (let l = run.model.layers; l >= 0; --l)
    body.append(lensRow(scene, {run, other}, l, first, last));
  table.append(body);
  return table;
}

function lensPicture(scene, {run, title, other}) {
  const [first, last] = part(scene, run, "queries"), columns = ["after"], rows = [];
  for (let i = first; i <= last; ++i) columns.push(`${short(run.words[i], 10)} ${i}`);
  for (let l = run.model.layers; l >= 0; --l) {
    const cells = [];
    for (let i = first; i <= last; ++i) {
      const [{word, probability}] = run.lens(l, i);
      const by = lensDifference(other, l, i, {word, probability});
      cells.push({
        text: `${short(word, 10)} ${four(probability)}${by === null ? "" : ` (${by})`}`,
        fill: shade(scene.paint.ramp, probability)
      });
    }
    rows.push([layerName(l), ...cells]);
  }
  return {title: `${title ? `${title}. ` : ""}What would be said after each layer`, columns, rows};
}

const layerName = (l) => (l === 0 ? "embedding" : `layer ${l - 1}`);

function lensRow({paint, query}, {run, other}, l, first, last) {
  const row = html("tr", {}, html("th", {scope: "row"}, layerName(l)));
  for (let i = first; i <= last; ++i) {
    const [{word, probability}] = run.lens(l, i), colour = shade(paint.ramp, probability);
    const by = lensDifference(other, l, i, {word, probability});
    const cell = html(
      "td", {
        role: "gridcell",
        tabindex: "-1",
        "data-row": run.model.layers - l,
        "data-column": i - first,
        "data-layer": l,
        "data-position": i,
        "data-value": String(probability),
        class: i === query ? "chosen" : null,
      },
      wordElement(word, 10), html("small", {}, four(probability)),
      by === null ? null : html("small", {class: "by"}, by));
    cell.style.background = colour;
    cell.style.color = inkOn(colour);
    row.append(cell);
  }
  return row;
}

function lensText(run, l, i) {
  const words =
    run.lens(l, i).map(({word, probability}) => `${isolated(word)} ${four(probability)}`);
  const [final] = run.lens(run.model.layers, i);
  return `after ${layerName(l)}, at ${place(run, i)}: ${
           words.join(", ")}; what the last layer says, ` +
    `${isolated(final.word)}, has ${four(run.lensFinal(l, i))}`;
}

function wireLens(table, scene, {run, title}, app) {
  const [first, last] = part(scene, run, "queries"), top = run.model.layers;
  const name = title ? `${title}: ` : "";
  const say = (r, c) => app.say(name + lensText(run, top - r, first + c));
  const start = [0, Math.min(last, Math.max(first, scene.query)) - first];
  makeGrid(table, {
    rows: top + 1,
    columns: last - first + 1,
    start,
    cell: cellOf(table),
    arrive: say,
    enter: (r, c) => app.set({view: "next", query: first + c, key: null})
  });
  table.addEventListener("pointerover", (event) => {
    const at = positionOf(event.target.closest("td") ?? {});
    if (at) say(...at);
  });
  table.addEventListener("click", (event) => {
    const at = positionOf(event.target.closest("td") ?? {});
    if (at) app.set({query: first + at[1], key: null});
  });
}

function lensKey(scene) {
  const key = html("p", {class: "note"}, "Probability: ");
  [0, 0.25, 0.5, 0.75, 1].forEach((x) => {
    const colour = shade(scene.paint.ramp, x), box = html("span", {class: "key"}, String(x));
    box.style.background = colour;
    box.style.color = inkOn(colour);
    key.append(box);
  });
  return key;
}
