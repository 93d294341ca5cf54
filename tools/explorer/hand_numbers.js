// The matrices of a head made by hand, as tables of numbers to change. Those of its phrase come
// first. A row is a column of the residual stream (what stands at a position), a column a number of
// the query, key or value.

const mostHandColumns = 40;
const handMatrices = [
  ["query", "W_Q", "what a position asks for"],
  ["key", "W_K", "what a position answers to"],
  ["value", "W_V", "what is copied from a position"],
];

live.keys.push(["Arrow keys", "in the numbers of a head made by hand: the number beside"]);

function closeNumbers() {
  hand.open = null;
  byId("hand-numbers").replaceChildren();
}

async function openNumbers(place) {
  const phrase = handPhrase(place);
  if (!phrase) return sayHand(`Head ${place} finds nothing: choose a phrase first.`);
  try {
    if (!hand.edited.has(place)) {
      const {task, sharpness} = handRequest();
      const {rows, query, key, value} =
        await live.engine.call({call: "matrices", task, sharpness, phrase});
      hand.numbers = {rows, query, key, value};
    } else {
      hand.numbers = hand.edited.get(place);
    }
    hand.open = place;
    sayHand("");
    drawNumbers("query", firstRows("query"));
  } catch (error) {
    sayHand(error.message);
  }
}

// The first group of rows in which a number is not 0.
function firstRows(which) {
  const {shape: [, columns], values} = hand.numbers[which];
  let row = Math.floor(values.findIndex((x) => x !== 0) / columns);
  return hand.numbers.rows.find(({names}) => (row -= names.length) < 0)?.group ?? "the word";
}

function drawNumbers(which, group) {
  const {rows} = hand.numbers, matrix = html("select", {id: "hand-matrix"});
  const part = html("select", {id: "hand-rows"});
  setOptions(matrix, handMatrices.map(([id, name, what]) => [id, `${name}, ${what}`]), which);
  setOptions(part, rows.map((one) => [one.group, one.group]), group);
  matrix.addEventListener("change", () => {
    drawNumbers(matrix.value, firstRows(matrix.value));
    byId("hand-matrix").focus();
  });
  part.addEventListener("change", () => {
    drawNumbers(matrix.value, part.value);
    byId("hand-rows").focus();
  });
  byId("hand-numbers")
    .replaceChildren(
      html("h3", {}, `Numbers of head ${hand.open}: ${handPhrase(hand.open)}`),
      html(
        "p", {class: "note"},
        "weights = softmax((x W_Q) · (x W_K) / √d_k), where x is what stands at a position: a 1 for " +
          "its word, a 1 for its place, and what earlier heads found. Change a number, then " +
          "choose Build. The arrow keys go from number to number."),
      html(
        "div", {class: "tape-choice"}, html("label", {}, "Matrix ", matrix),
        html("label", {}, "Rows: what x says about ", part)),
      numbersTable(which, group));
}

function numbersTable(which, group) {
  const {shape: [, columns], values} = hand.numbers[which];
  if (columns > mostHandColumns) {
    return html(
      "p", {},
      `This matrix has ${columns} columns, too many to edit here; at most ${mostHandColumns} are ` +
        "shown. Take a task with shorter texts or fewer words.");
  }
  const {rows} = hand.numbers, at = rows.findIndex((one) => one.group === group);
  const first = rows.slice(0, at).reduce((sum, one) => sum + one.names.length, 0);
  const input = (row, column) => html("input", {
    type: "text",
    inputmode: "decimal",
    value: String(Number(values[row * columns + column].toPrecision(6))),
    "aria-label": `${rows[at].group} ${rows[at].names[row - first]}, column ${column}`,
    tabindex: row === first && column === 0 ? 0 : -1,
    "data-row": row,
    "data-column": column,
    change: (event) => changeNumber(which, row * columns + column, event.target),
  });
  const head = html(
    "tr", {}, html("th", {}),
    ...Array.from({length: columns}, (_, i) => html("th", {scope: "col"}, String(i))));
  const body = rows[at].names.map(
    (name, i) => html(
      "tr", {}, html("th", {scope: "row"}, short(name, 12)),
      ...Array.from({length: columns}, (_, column) => html("td", {}, input(first + i, column)))));
  const table =
    html("table", {id: "hand-cells"}, html("thead", {}, head), html("tbody", {}, ...body));
  table.addEventListener("keydown", moveInNumbers);
  table.addEventListener("focusin", keepTabStop);
  return html("div", {class: "scroll"}, table);
}

// A number that is none is told, and the one before stays in the model.
function changeNumber(which, at, input) {
  const text = input.value.trim(), number = Number(text);
  const isGood = text !== "" && Number.isFinite(Math.fround(number));
  input.setAttribute("aria-invalid", String(!isGood));
  if (!isGood) {
    return sayHand(
      `“${short(text, 20)}” in ${
        input.getAttribute("aria-label")}, is no number that a matrix can ` +
      "hold: write one such as 2.5, for the number before stays in use.");
  }
  hand.numbers[which].values[at] = number;
  hand.edited.set(hand.open, hand.numbers);
  markEdited(hand.open);
  sayHand("");
}

// One of the numbers takes part in the order of Tab; the arrow keys lead to the others, to the left
// and right from the ends of a number.
function moveInNumbers(event) {
  const {value, selectionStart, selectionEnd, dataset: {row, column}} = event.target;
  const [down, right] = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, selectionEnd === 0 ? -1 : 0],
    ArrowRight: [0, selectionStart === value?.length ? 1 : 0],
  }[event.key] ??
    [0, 0];
  if (row === undefined || event.shiftKey || (down === 0 && right === 0)) return;
  const next =
    byId("hand-cells")
      .querySelector(`[data-row="${Number(row) + down}"][data-column="${Number(column) + right}"]`);
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function keepTabStop(event) {
  byId("hand-cells").querySelector('[tabindex="0"]').tabIndex = -1;
  event.target.tabIndex = 0;
}
