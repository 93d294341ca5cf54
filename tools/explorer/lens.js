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
    const {run} = scene, [first, last] = part(scene, run, "queries"), top = run.model.layers;
    const table = html("table", {
      class: "lens",
      role: "grid",
      "aria-label": "What would be said: rows are layers, columns positions"
    });
    const head = html("tr", {}, html("th", {scope: "col"}, "after"));
    for (let i = first; i <= last; ++i) {
      head.append(
        html("th", {scope: "col"}, wordElement(run.words[i], 10), html("small", {}, ` ${i}`)));
    }
    table.append(html("thead", {}, head));
    const body = html("tbody");
    for (let l = top; l >= 0; --l) body.append(lensRow(scene, l, first, last));
    table.append(body);
    const box = html("div", {class: "scroll"}, table), chosen = table.querySelector(".chosen");
    panel.append(box, lensKey(scene));
    if (chosen) bringIntoSight(box, chosen);
    wireLens(table, scene, app, first, last);
  },

  picture(scene) {
    const [first, last] = part(scene, scene.run, "queries");
    const columns = ["after"], rows = [];
    for (let i = first; i <= last; ++i) columns.push(`${short(scene.run.words[i], 10)} ${i}`);
    for (let l = scene.run.model.layers; l >= 0; --l) {
      const cells = [];
      for (let i = first; i <= last; ++i) {
        const [{word, probability}] = scene.run.lens(l, i);
        cells.push({
          text: `${short(word, 10)} ${four(probability)}`,
          fill: shade(scene.paint.ramp, probability)
        });
      }
      rows.push([layerName(l), ...cells]);
    }
    return tablePicture(
      [{title: "What would be said after each layer", columns, rows}], scene.paint);
  },

  numbers(scene) {
    const rows = [];
    for (let l = 0; l <= scene.run.model.layers; ++l) {
      for (let i = 0; i < scene.length; ++i) {
        scene.run.lens(l, i).forEach(({word, probability}, r) => rows.push([
          layerName(l), i, scene.words[i], r + 1, word, probability, scene.run.lensFinal(l, i)
        ]));
      }
    }
    return {
      columns: [
        "after", "position", "word", "rank", "would say", "probability",
        "probability of the final word"
      ],
      rows
    };
  },
};

const layerName = (l) => (l === 0 ? "embedding" : `layer ${l - 1}`);

function lensRow(scene, l, first, last) {
  const {run, paint} = scene, row = html("tr", {}, html("th", {scope: "row"}, layerName(l)));
  for (let i = first; i <= last; ++i) {
    const [{word, probability}] = run.lens(l, i), colour = shade(paint.ramp, probability);
    const cell = html(
      "td", {
        role: "gridcell",
        tabindex: "-1",
        "data-row": run.model.layers - l,
        "data-column": i - first,
        "data-layer": l,
        "data-position": i,
        "data-value": String(probability),
        class: i === scene.query ? "chosen" : null,
      },
      wordElement(word, 10), html("small", {}, four(probability)));
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

function wireLens(table, scene, app, first, last) {
  const top = scene.run.model.layers;
  const say = (r, c) => app.say(lensText(scene.run, top - r, first + c));
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
