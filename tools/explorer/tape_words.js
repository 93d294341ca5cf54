// What stands below the graph of a tape: the step in words, and its numbers as tables.

function forwardParts(tape, record) {
  const {operation, shape, savedBytes, value, inputs, summary} = tape.records[record];
  const saved = operation === "watched" ?
    "" :
    ` It keeps ${plural(savedBytes, "byte")} for the backward ` +
      `pass; all records up to here keep ${savedSoFar(tape, record)}.`;
  return [
    html("h3", {}, tapeFormula(tape, record)),
    html("p", {}, `The value ${shape.length === 0 ? "is" : "has"} ${shapeText(shape)}.${saved}`),
    html(
      "div", {class: "tape-tables"},
      tapeTable(
        `${tapeName(tape, record)}, its value`, value, shape, {record, part: "value"}, summary),
      ...[...new Set(inputs)].map(
        (i) => tapeTable(
          `from ${tapeName(tape, i)}`, tape.records[i].value, tape.records[i].shape,
          {record: i, part: "input"}, tape.records[i].summary))),
  ];
}

function backwardParts(tape, {record, gives}) {
  const {gradient, shape} = tape.records[record];
  const tables = gives.flatMap(({to, contribution, sum}, i) => {
    const name = tapeName(tape, to), its = tape.records[to].shape, known = {record: to, give: i};
    return [
      tapeTable(
        `its part for the gradient of ${name}`, contribution, its,
        {...known, part: "contribution"}),
      tapeTable(`gradient of ${name} so far`, sum, its, {...known, part: "sum"}),
    ];
  });
  const twice = gives.length > new Set(gives.map(({to}) => to)).size;
  const text = gives.length === 0 ?
    "No gradient passes it." :
    "Its gradient is complete. It gives each input a part, against the arrow." +
      (twice ? " An input that is used twice gets two parts, which are added." : "");
  return [
    html("h3", {}, `Back through ${tapeFormula(tape, record)}`),
    html("p", {}, text),
    html(
      "div", {class: "tape-tables"},
      tapeTable(
        `gradient of ${tapeName(tape, record)}`, gradient, shape, {record, part: "gradient"}),
      ...tables),
  ];
}

const mostTapeRows = 12, mostTapeColumns = 8;

// A tensor: a row of the table for each row of its last axis. `data`: what it is, for tests.
function tapeTable(caption, numbers, shape, {record, part, give = null}, summary = "") {
  const attributes = {class: "tape-table", "data-of": record, "data-part": part, "data-give": give};
  const table = html("table", attributes, html("caption", {}, caption));
  if (numbers === null || numbers.length === 0) {
    const why = numbers === null ? `not in the tape. ${short(summary, 200)}` : "no numbers";
    table.append(html("tbody", {}, html("tr", {}, html("td", {}, why))));
    return table;
  }
  const width = shape.length === 0 ? 1 : shape[shape.length - 1], rows = numbers.length / width;
  const cell = (x) => html(
    "td", {class: Number.isFinite(x) ? "number" : "number bad", "data-value": String(x)},
    tapeText(x));
  const body = html("tbody", {});
  for (let i = 0; i < Math.min(rows, mostTapeRows); ++i) {
    const row = numbers.slice(i * width, i * width + Math.min(width, mostTapeColumns));
    body.append(
      html("tr", {}, ...row.map(cell), width > mostTapeColumns ? html("td", {}, "…") : null));
  }
  table.append(body);
  const isCut = rows > mostTapeRows || width > mostTapeColumns;
  if (isCut) table.caption.append(` (the beginning of ${plural(numbers.length, "number")})`);
  return table;
}

// At the step where the first number that is not finite is made: the way back to its cause.
function faultParts(tape, step) {
  if (faultStep(tape) !== step) return [];
  const {causes, text} = tape.nonFinite;
  const items = causes.map((cause) => {
    const to = causeStep(tape, cause);
    const go =
      html("button", {type: "button", click: () => tapeStepTo(to)}, `Go to step ${to + 1}`);
    return html("li", {}, `${causeText(tape, cause)} `, go);
  });
  const last = causes.at(-1);
  return [
    html("h3", {class: "hit"}, "Here the first number that is not finite is made"),
    html("p", {}, short(text, 600).replace(/[^.?!]$/, "$&.")),
    causes.length > 0 ? html("p", {}, "The way back to its cause; rows and columns count from 0:") :
                        "",
    html("ol", {id: "tape-causes"}, ...items),
    last ? html("p", {class: "result"}, `It began with ${tapeName(tape, last.record)}.`) : "",
  ];
}
