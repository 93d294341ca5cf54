// Tables, on the page and as a picture. A table is {title, columns: [text], rows: [[cell]]}; a
// cell is a text or number, or {text, value, fill, bar}: what is printed, the number behind it, a
// colour, and a share in [-1, 1] drawn as a bar.

const asCell = (cell) => typeof cell === "object" && cell !== null ? cell :
  typeof cell === "number" ? {text: four(cell), value: cell} :
                             {text: String(cell ?? "")};

// A cell on the page.
function tableCell(given, tag = "td") {
  const cell = asCell(given), isNumber = cell.value !== undefined;
  const element = html(tag, {class: isNumber ? "number" : null, ...cell.attributes});
  if (isNumber) element.setAttribute("data-value", String(cell.value));
  if (cell.bar !== undefined) element.append(barElement(cell.bar));
  element.append(cell.element ?? cell.text);
  if (cell.fill) {
    element.style.background = cell.fill;
    element.style.color = inkOn(cell.fill);
  }
  return element;
}

function barElement(share) {
  const inside = html("span", {class: share < 0 ? "bar-inside less" : "bar-inside"});
  inside.style.width = `${100 * Math.min(1, Math.abs(share || 0))}%`;
  return html("span", {class: "bar", "aria-hidden": "true"}, inside);
}

function tableElement(table, attributes = {}) {
  const head = html("tr", {}, ...table.columns.map((text) => html("th", {scope: "col"}, text)));
  const rows = table.rows.map(
    (row) => html(
      "tr", row.attributes ?? {},
      ...row.map((cell, i) => tableCell(cell, i === 0 && table.hasNames ? "th" : "td"))));
  return html(
    "div", {class: "scroll", tabindex: "0", role: "group", "aria-label": table.title},
    html(
      "table", attributes, html("caption", {}, table.title), html("thead", {}, head),
      html("tbody", {}, ...rows)));
}

// The same as a picture.
function tablePicture(tables, paint) {
  const groups = [];
  let width = 0, y = 16;
  for (const table of tables) {
    const [group, w, height] = drawTable(table, paint);
    group.setAttribute("transform", `translate(16 ${y})`);
    groups.push(group);
    width = Math.max(width, w);
    y += height + 24;
  }
  return picture(width + 32, y, paint, {}, ...groups);
}

function drawTable(table, paint) {
  const rows = [table.columns.map(asCell), ...table.rows.map((row) => row.map(asCell))];
  const cellWidth = (cell, isHead) =>
    (cell ? textWidth(cell.text, isHead) + (cell.bar === undefined ? 0 : 64) : 0) + 20;
  const widths =
    table.columns.map((_, c) => Math.max(...rows.map((row, r) => cellWidth(row[c], r === 0))));
  const isNumber = table.columns.map((_, c) => rows.some((row) => row[c]?.value !== undefined));
  const group = svg("g", {}, label(0, 14, table.title, {"font-weight": "bold"}));
  rows.forEach((row, r) => drawRow(group, row, {widths, isNumber, y: 26 + r * 22, paint, r}));
  const width = Math.max(widths.reduce((a, b) => a + b, 0), textWidth(table.title, true, 2000));
  return [group, width, 26 + rows.length * 22];
}

function drawRow(group, row, {widths, isNumber, y, paint, r}) {
  let x = 0;
  row.forEach((cell, c) => {
    if (cell.fill) group.append(svg("rect", {x, y, width: widths[c], height: 22, fill: cell.fill}));
    if (cell.bar !== undefined) {
      group.append(svg("rect", {
        x: x + 6,
        y: y + 6,
        height: 10,
        width: 56 * Math.min(1, Math.abs(cell.bar || 0)),
        fill: cell.bar < 0 ? paint.less[3] : paint.heads[0]
      }));
    }
    const text = cell.text === "" ? "" : fit(cell.text, 400);
    group.append(label(isNumber[c] ? x + widths[c] - 10 : x + 10, y + 16, text, {
      "text-anchor": isNumber[c] ? "end" : "start",
      "font-weight": r === 0 ? "bold" : null,
      fill: cell.fill ? inkOn(cell.fill) : paint.ink,
    }));
    x += widths[c];
  });
  group.append(svg("path", {d: `M0 ${y + 22}H${x}`, stroke: paint.line}));
}

function textWidth(text, isBold = false, most = 400) {
  ruler.font = `${isBold ? "bold " : ""}13px ${font}`;
  return text === "" ? 0 : Math.min(most, ruler.measureText(short(text, 240)).width);
}

// The numbers of tables as rows for a file.
function tableNumbers(tables) {
  const [first] = tables;
  const plain = (cell) => asCell(cell).value ?? asCell(cell).plain ?? asCell(cell).text;
  if (tables.length === 1)
    return {columns: first.columns, rows: first.rows.map((r) => r.map(plain))};
  const width = Math.max(...tables.map((table) => table.columns.length));
  const rows = tables.flatMap(
    (table) => [[table.title], table.columns, ...table.rows.map((r) => r.map(plain))]);
  return {columns: Array.from({length: width}, (_, i) => `column ${i + 1}`), rows};
}
