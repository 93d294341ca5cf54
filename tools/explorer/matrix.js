// Pictures of a matrix: rows are queries, columns are keys.

// A matrix is {title, rows, columns: [labels], value(r, c) -> number, or null where it is masked,
// lowest, highest, isDifference, rowAt, columnAt: positions of the first ones}.

function cellSize(rows, columns, width) {
  return Math.max(7, Math.min(46, Math.floor(width / Math.max(rows, columns, 1))));
}

// width: of the place on the page.
function matrixPicture(matrix, width, paint) {
  const rows = matrix.rows.length, columns = matrix.columns.length;
  const side = labelSpace(matrix.rows, width), top = labelSpace(matrix.columns, width) + 24;
  const size = cellSize(rows, columns, width - side - 30);
  const box = {side: side + 22, top: top + 26, size, rows, columns};
  const right = box.side + Math.max(columns * size + 4, 256);  // of the cells, the colour bar
  const bottom = box.top + rows * size + 74;
  const root = picture(right, bottom, paint, {
    role: "grid",
    "aria-label": `${matrix.title}. Rows are queries, columns are keys.`,
    class: "matrix",
    tabindex: "-1",  // a picture that listens for the focus would be a stop of its own
  });
  root.append(
    label(0, 15, fit(matrix.title, right), {"font-weight": "bold", "aria-hidden": "true"}));
  drawAxes(root, matrix, box, paint);
  drawCells(root, matrix, box, paint);
  drawColourBar(root, matrix, box, paint);
  root.append(marker(size, paint));
  root.box = box;
  return root;
}

// The frame round the cell that is pointed at.
const marker = (size, paint) => svg("rect", {
  class: "marker",
  "pointer-events": "none",
  width: size,
  height: size,
  fill: "none",
  stroke: paint.mark,
  "stroke-width": 2.5,
  visibility: "hidden"
});

function labelSpace(words, width) {
  const longest = Math.max(...words.map((word) => textWidth(word)));
  return Math.min(longest + 8, width < 420 ? 64 : 110);
}

function drawAxes(root, matrix, box, paint) {
  const every = Math.max(1, Math.ceil(11 / box.size)), small = Math.min(13, box.size + 2);
  const text = {fill: paint.ink, "font-size": Math.max(9, small), "aria-hidden": "true"};
  matrix.rows.forEach((word, r) => {
    if (r % every) return;
    root.append(label(
      box.side - 6, box.top + (r + 0.5) * box.size + 4, fit(word, box.side - 30),
      {...text, "text-anchor": "end", "data-side": `row${r}`}));
  });
  matrix.columns.forEach((word, c) => {
    if (c % every) return;
    const x = box.side + (c + 0.5) * box.size + 4, y = box.top - 6;
    root.append(label(x, y, fit(word, box.top - 58), {
      ...text,
      transform: `rotate(-90 ${x} ${y})`,
      "data-side": `column${c}`,
    }));
  });
  const y = box.top + (box.rows * box.size) / 2,
        soft = {fill: paint.soft, "font-size": 12, "aria-hidden": "true"};
  root.append(
    label(12, y, "query ↓", {...soft, transform: `rotate(-90 12 ${y})`, "text-anchor": "middle"}));
  root.append(label(box.side, 34, "key →", soft));
}

function drawCells(root, matrix, box, paint) {
  const crosses = [];
  for (let r = 0; r < box.rows; ++r) {
    const group = svg("g", {role: "row", "aria-label": `query ${short(matrix.rows[r])}`});
    for (let c = 0; c < box.columns; ++c) {
      const x = box.side + c * box.size, y = box.top + r * box.size, value = matrix.value(r, c);
      group.append(cellElement(matrix, r, c, value, x, y, box.size, paint));
      if (value === null)
        crosses.push(`M${x + 2} ${y + 2}l${box.size - 4} ${box.size - 4}`);
      else
        drawInside(root, matrix, value, x, y, box.size, paint);
    }
    root.append(group);
  }
  const lines = root.querySelectorAll("text.inside");
  root.append(
    svg("path", {d: crosses.join(""), stroke: paint.hatch, "pointer-events": "none"}), svg("rect", {
      x: box.side,
      y: box.top,
      width: box.columns * box.size,
      height: box.rows * box.size,
      fill: "none",
      stroke: paint.line,
      "pointer-events": "none"
    }),
    ...lines);
}

function cellElement(matrix, r, c, value, x, y, size, paint) {
  return svg("rect", {
    x,
    y,
    width: size,
    height: size,
    role: "gridcell",
    tabindex: "-1",
    "data-row": r,
    "data-column": c,
    "data-query": matrix.isPooled ? null : matrix.rowAt + r,
    "data-key": matrix.isPooled ? null : matrix.columnAt + c,
    "data-value": value === null ? null : String(value),
    "data-masked": value === null ? "true" : null,
    "aria-label": matrix.say(r, c).replace(/ \(.*\)$/, ""),
    fill: value === null ? paint.hidden : matrixColour(matrix, value, paint),
  });
}

const matrixColour = (matrix, value, paint) => matrix.isDifference ?
  twoSided(paint, value / matrix.highest) :
  shade(paint.ramp, value / matrix.highest);

// The number itself where there is room, and else the sign of a difference: colour never stands
// alone.
const numbersFrom = 40;
function drawInside(root, matrix, value, x, y, size, paint) {
  const isSign = matrix.isDifference && size >= 11 && Math.abs(value) >= 0.1 * matrix.highest;
  const text = size >= numbersFrom ? four(value) : isSign ? (value > 0 ? "+" : "−") : "";
  if (!text) return;
  root.append(label(x + size / 2, y + size / 2 + 4, text, {
    class: "inside",
    "text-anchor": "middle",
    "font-size": size < numbersFrom ? 12 :
      matrix.isDifference           ? 9.5 :
                                      10.5,
    fill: inkOn(matrixColour(matrix, value, paint)),
    "pointer-events": "none",
    "aria-hidden": "true",
  }));
}

function drawColourBar(root, matrix, box, paint) {
  const x = box.side, y = box.top + box.rows * box.size + 14, steps = 32, width = 5;
  const low = matrix.isDifference ? -matrix.highest : 0;
  const group = svg("g", {"aria-hidden": "true"});
  for (let i = 0; i < steps; ++i) {
    const value = low + ((matrix.highest - low) * (i + 0.5)) / steps;
    group.append(svg("rect", {
      x: x + i * width,
      y,
      width: width + 0.5,
      height: 10,
      fill: matrixColour(matrix, value, paint)
    }));
  }
  const text = {"font-size": 11, fill: paint.soft};
  drawBarNumbers(group, matrix, x, y + 23, steps * width, text);
  group.append(label(
    x, y + 40, matrix.isDifference ? "difference of weights: A − B" : matrix.barName ?? "weight",
    text));
  if (matrix.hasMask) {
    const at = x + steps * width + 14;
    group.append(
      svg("rect", {x: at, y, width: 12, height: 12, fill: paint.hidden}),
      svg("path", {d: `M${at + 2} ${y + 2}l8 8`, stroke: paint.hatch}),
      label(at + 17, y + 10, "masked", text));
  }
  root.append(group);
}

// The numbers below the bar. A map may hold a few that are larger than the last.
function drawBarNumbers(group, matrix, x, y, width, text) {
  const low = matrix.isDifference ? -matrix.highest : 0;
  [low, (low + matrix.highest) / 2, matrix.highest].forEach((value, i) => {
    const more = i === 2 && matrix.highest < 1 && !matrix.isDifference ? " and more" : "";
    const anchor = more ? "middle" : ["start", "middle", "end"][i];
    group.append(label(
      x + (i * width) / 2, y, Number(value.toFixed(3)) + more, {...text, "text-anchor": anchor}));
  });
}

// Puts the frame round a cell and makes its labels bold.
function markCell(root, row, column) {
  const {box} = root, marker = root.querySelector(".marker");
  const isInside = row >= 0 && row < box.rows && column >= 0 && column < box.columns;
  marker.setAttribute("visibility", isInside ? "visible" : "hidden");
  for (const text of root.querySelectorAll("[data-side][font-weight]")) {
    text.removeAttribute("font-weight");
  }
  if (!isInside) return;
  marker.setAttribute("x", box.side + column * box.size);
  marker.setAttribute("y", box.top + row * box.size);
  for (const side of [`row${row}`, `column${column}`]) {
    root.querySelector(`[data-side="${side}"]`)?.setAttribute("font-weight", "bold");
  }
}
