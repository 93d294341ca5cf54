// Grids for the keyboard: one cell is in the tab order, the arrow keys move on to the others.

// cell(row, column) -> element or null. The first cell in the tab order is `start`. What happens on
// arriving at a cell and on Enter is the caller's: arrive(row, column), enter(row, column).
function makeGrid(root, {rows, columns, start, cell, arrive, enter}) {
  let [row, column] = start;
  cell(row, column)?.setAttribute("tabindex", "0");
  root.addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey) return;
    const target = stepped(event, row, column, rows, columns);
    if (target)
      cell(...target)?.focus();
    else if (event.key === "Enter" || event.key === " ")
      enter?.(row, column);
    else
      return;
    event.preventDefault();
  });
  root.addEventListener("focusin", (event) => {
    const at = positionOf(event.target);
    if (!at) return;
    cell(row, column)?.setAttribute("tabindex", "-1");
    [row, column] = at;
    event.target.setAttribute("tabindex", "0");
    arrive?.(row, column);
  });
}

// Cells say where they stand, and are found by it.
const cellOf = (root) => (row, column) =>
  root.querySelector(`[data-row="${row}"][data-column="${column}"]`);

function positionOf(element) {
  const {row, column} = element.dataset ?? {};
  return row === undefined ? null : [Number(row), Number(column)];
}

function stepped(event, row, column, rows, columns) {
  const last = [rows - 1, columns - 1], wide = event.ctrlKey;
  const targets = {
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    Home: [wide ? 0 : row, 0],
    End: [wide ? last[0] : row, last[1]],
    PageUp: [row - 8, column],
    PageDown: [row + 8, column],
  };
  const target = targets[event.key];
  return target?.map((at, axis) => Math.min(last[axis], Math.max(0, at)));
}

// A row or column of buttons (tabs, the words of the text) of which the arrow keys choose one.
function makeRow(root, selector, choose) {
  root.addEventListener("keydown", (event) => {
    const all = [...root.querySelectorAll(selector)], now = all.indexOf(document.activeElement);
    const steps = {ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: all.length - 1};
    if (now < 0 || !(event.key in steps) || event.altKey || event.metaKey) return;
    event.preventDefault();
    const next = all[(steps[event.key] + all.length) % all.length];
    next.focus();
    choose(next);
  });
}
