// The card beside the map and the lines: one weight in short, and the way to all its arithmetic.

const cardPlace = () =>
  html("section", {class: "card", id: "card", "aria-label": "One weight in short"});

function drawCard(scene, run, i, j) {
  const {layer, head, app} = scene, card = byId("card");
  if (!card || i >= run.length || j >= run.length) return;
  const title = html("h3", {}, cardTitle(scene, run, i, j));
  if (!run.sees(layer, i, j)) {
    return card.replaceChildren(title, html("p", {}, `Masked${whyMasked(run, i, j)}.`));
  }
  const {sum, score} = scoreSteps(run, layer, head, i, j), weight = run.weight(layer, head, i, j);
  card.replaceChildren(
    title,
    html(
      "p", {}, "Weight ", numberElement(weight),
      ": exp(score), divided by the sum of its row. Score ", numberElement(score),
      ", from q · k = ", numberElement(sum), "."),
    html("p", {class: "note"}, "The parts of q · k, one bar for each number:"),
    productPicture(run.query(layer, head, i), run.key(layer, head, j), scene.paint),
    html("p", {class: "note"}, `The largest weights of ${place(run, i)}:`),
    largestList(run, run.row(layer, head, i)),
    html(
      "button", {
        type: "button",
        click: () => app.set({view: "why", head, query: i, key: j, ...asShown(scene, run)})
      },
      "All the arithmetic"),
    reachButtons(scene, i, j));
}

// Says which head and which model it is, where several are shown.
function cardTitle({view, beside, heads, head}, run, i, j) {
  const side = beside?.run ? (run === beside.run ? "B: " : "A: ") : "";
  const of = view === "heads" && heads.length > 1 ? `, head ${head}` : "";
  return `${side}${place(run, i)} → ${place(run, j)}${of}`;
}

// A bar up or down for each q × k.
function productPicture(q, k, paint) {
  const width = 300, height = 74, middle = height / 2;
  const parts = Array.from(q, (x, d) => x * k[d]), step = width / parts.length;
  const most = parts.reduce((a, x) => Math.max(a, Math.abs(x)), 0) || 1;
  const bars = parts.map((x, d) => {
    const size = (Math.abs(x) / most) * (middle - 2) || 0;  // weights may be NaN
    return svg("rect", {
      x: d * step,
      y: x > 0 ? middle - size : middle,
      height: size,
      width: Math.max(1, step - 1),
      fill: x > 0 ? paint.heads[0] : paint.less[3]
    });
  });
  return picture(
    width, height, paint, {role: "img", "aria-label": "parts of the product"}, ...bars,
    svg("path", {d: `M0 ${middle}H${width}`, stroke: paint.soft}));
}

function largestList(run, row) {
  const best = Array.from(row.keys()).sort((a, b) => row[b] - row[a]).slice(0, 5);
  return html(
    "ol", {},
    ...best.filter((j) => row[j] > 0)
      .map(
        (j) => html(
          "li", {}, barElement(row[j]), numberElement(row[j]), wordElement(run.words[j]),
          html("span", {class: "at"}, `@${j}`))));
}
