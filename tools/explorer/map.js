// The map: all weights of one head.

const mapView = {
  id: "map",
  name: "Map",
  intro: () =>
    "Each cell is one attention weight: its row is the query, the word that looks, and " +
    "its column is the key, the word it looks at. The weights of a row add up to 1. Point at a " +
    "cell or move with the arrow keys to read it; click it to see where the number comes from.",

  draw(scene, panel, app) {
    const maps = mapsOf(scene);
    const width = mapWidth(panel.clientWidth || 800, maps.length);
    const place = html("div", {class: "pictures"});
    const drawn = maps.map((matrix) => matrixPicture(matrix, width, scene.paint));
    drawn.forEach((root) => place.append(html("div", {class: "scroll"}, root)));
    panel.append(colourChoice(scene, app));
    if (scene.beside) panel.append(besideNote(scene));
    place.append(cardPlace());
    panel.append(place);
    const exact =
      maps.map((matrix, m) => [matrix, drawn[m]]).filter(([matrix]) => !matrix.isPooled);
    wireMaps(exact, scene, app);
    maps.forEach((matrix, m) => matrix.isPooled && wireOverview(drawn[m], matrix, scene, app));
  },

  picture(scene) {
    return sideBySide(
      mapsOf(scene).map((matrix) => matrixPicture(matrix, 700, scene.paint)), scene);
  },

  numbers(scene) {
    const maps = mapsOf(scene).filter((matrix) => !matrix.isPooled), rows = [];
    const [a] = maps;
    for (let r = 0; r < a.rows.length; ++r) {
      for (let c = 0; c < a.columns.length; ++c) {
        rows.push([
          a.rowAt + r, a.rows[r], a.columnAt + c, a.columns[c],
          ...maps.map((matrix) => (holds(matrix, r, c) ? matrix.value(r, c) ?? "masked" : ""))
        ]);
      }
    }
    const names = maps.map((matrix) => matrix.short);
    return {columns: ["query", "query word", "key", "key word", ...names], rows};
  },
};

// Another text may be shorter.
const holds = (matrix, r, c) => r < matrix.rows.length && c < matrix.columns.length;

// Of each of several maps. One alone leaves room for the card.
function mapWidth(width, count) {
  if (width < 700) return width - 6;
  if (count === 1) return Math.min(1400, width - 340);
  return Math.min(1000, Math.max(320, Math.floor((width - 26 * (count - 1)) / count) - 8));
}

// The matrices to show: an overview of a long text, the head, the one beside, their difference.
function mapsOf(scene) {
  const {run, beside, layer, head} = scene, maps = [];
  const name = `layer ${layer}, head ${head}`;
  if (scene.range.isPart) maps.push(overviewMatrix(scene, run, `Overview of ${name}`));
  maps.push(weightMatrix(scene, run, beside ? `A: ${name}` : `Weights of ${name}`, "weight"));
  if (beside?.run?.has(layer, head) && fitsRange(scene, beside.run)) {
    maps.push(weightMatrix(scene, beside.run, `B: ${beside.name}`, "weight beside"));
    if (!noDifference(scene)) maps.push(differenceMatrix(scene, ...maps.slice(-2)));
  }
  const highest = scene.state.colours === "largest" || scene.range.isPart;
  maps.forEach((matrix) => {
    matrix.highest = highest || matrix.isPooled ? largest(maps, matrix) : 1;
  });
  return maps;
}

// The highest of the matrices of the same kind, so that A and B have the same colours.
function largest(maps, like) {
  const same =
    maps.filter((m) => m.isPooled === like.isPooled && m.isDifference === like.isDifference);
  return Math.max(...same.map((m) => highestOf(m.rows.length, m.columns.length, m.value)));
}

// Where the colours of a map end: at the largest number, but one in a hundred of those above 0 may
// be larger. Rows that see one key only do not count: their weight is always 1.
function highestOf(rows, columns, value) {
  const found = [];
  for (let r = 0; r < rows; ++r) {
    const row = Array.from({length: columns}, (_, c) => value(r, c)).filter((x) => x !== null);
    if (row.length > 1) found.push(...row.map(Math.abs).filter((x) => x > 0));
  }
  found.sort((a, b) => a - b);
  return found[Math.floor(found.length * 0.99)] || 1;
}

// A window of a long text can lie behind the end of a shorter one.
const fitsRange = (scene, run) =>
  !scene.range.isPart || (scene.range.queries[1] < run.length && scene.range.keys[1] < run.length);

function weightMatrix(scene, run, title, name) {
  const {layer, head, range} = scene;
  const part = ([first, last]) => run.words.slice(first, range.isPart ? last + 1 : run.length);
  const rowAt = range.queries[0], columnAt = range.keys[0];
  const value = (r, c) => run.sees(layer, rowAt + r, columnAt + c) ?
    run.weight(layer, head, rowAt + r, columnAt + c) :
    null;
  return {
    title,
    short: name,
    run,
    rowAt,
    columnAt,
    value,
    rows: part(range.queries),
    columns: part(range.keys),
    isPooled: false,
    isDifference: false,
    hasMask: run.model.causal || run.attention(layer).window > 0,
    say: (r, c) => weightText(run, layer, head, rowAt + r, columnAt + c),
  };
}

function differenceMatrix(scene, a, b) {
  const value = (r, c) => {
    const [x, y] = [a.value(r, c), b.value(r, c)];
    return x === null && y === null ? null : (x ?? 0) - (y ?? 0);
  };
  return {
    ...a,
    value,
    isDifference: true,
    title: "A − B",
    short: "difference",
    say: (r, c) => {
      const start = `query ${place(a.run, a.rowAt + r)} -> key ${place(a.run, a.columnAt + c)}: `;
      const x = value(r, c);
      return start + (x === null ? "masked in both" : `difference ${signed(x)}`);
    },
  };
}

function overviewMatrix(scene, run, title) {
  const pool = run.pooled(scene.layer, scene.head), {causal} = run.model;
  const names = Array.from({length: bins}, (_, b) => String(run.bin(b)[0]));
  const hides = (r, c) => causal && run.bin(c)[0] > run.bin(r)[1];
  const value = (r, c) => (hides(r, c) ? null : pool[r * bins + c]);
  return {
    title,
    short: "mean weight",
    run,
    rowAt: 0,
    columnAt: 0,
    value,
    rows: names,
    columns: names,
    isPooled: true,
    isDifference: false,
    hasMask: causal,
    barName: "mean weight on a bin",
    say: (r, c) => {
      const [a, b] = run.bin(r), [x, y] = run.bin(c), w = value(r, c);
      return `queries ${a} to ${b} -> keys ${x} to ${y}: ` +
        (w === null ? "masked" : `mean weight of a query on all these keys ${four(w)}`);
    },
  };
}

// Pointing at a cell of one map marks it in all, and says what all of them hold.
function wireMaps(pairs, scene, app) {
  const mark = (r, c) => pairs.forEach(([, root]) => markCell(root, r, c));
  const home = () => {
    mark(scene.query - scene.range.queries[0], scene.key - scene.range.keys[0]);
    drawCard(scene, scene.run, scene.query, scene.key);
  };
  for (const [matrix, root] of pairs) {
    const at = (r, c) => ({query: matrix.rowAt + r, key: matrix.columnAt + c});
    const show = (r, c) => {
      mark(r, c);
      app.say(cellText(pairs, matrix, scene, r, c));
      drawCard(scene, matrix.run, matrix.rowAt + r, matrix.columnAt + c);
    };
    const go = (r, c) => app.set({view: "why", ...at(r, c), ...asShown(scene, matrix.run)});
    wireCells(root, matrix, scene, go, (r, c) => {
      app.note(at(r, c));
      show(r, c);
    });
    wirePointer(root, {show, home, go});
  }
  home();
}

function wireCells(root, matrix, scene, enter, arrive) {
  const rows = matrix.rows.length, columns = matrix.columns.length, cell = cellOf(root);
  const near = [scene.query - matrix.rowAt, scene.key - matrix.columnAt];
  const start = cell(...near) ? near : [0, 0];
  makeGrid(root, {rows, columns, cell, start, enter, arrive});
}

// A finger cannot hover: its first touch shows, its second goes on.
function wirePointer(root, {show, home, go}) {
  let touched = "";
  root.addEventListener("pointerover", (event) => {
    const at = positionOf(event.target);
    if (at) show(...at);
  });
  root.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && home());
  root.addEventListener("click", (event) => {
    const at = positionOf(event.target);
    if (!at) return;
    const isFirst = event.pointerType === "touch" && touched !== String(at);
    touched = String(at);
    if (!isFirst) go(...at);
  });
}

function cellText(pairs, matrix, scene, r, c) {
  const {layer, head} = scene;
  if (pairs.length === 1) {
    return matrix.say(r, c) +
      shortWhy(matrix.run, layer, head, matrix.rowAt + r, matrix.columnAt + c);
  }
  const print = (m) => {
    const value = holds(m, r, c) ? m.value(r, c) : null;
    if (value === null) return "masked or outside";
    return m.isDifference ? signed(value) : four(value);
  };
  if (pairs.every(([m]) => !holds(m, r, c) || m.value(r, c) === null)) return matrix.say(r, c);
  const names = ["A", "B", "A − B"];
  return `${matrix.say(r, c)} (${pairs.map(([m], i) => `${names[i]}: ${print(m)}`).join(", ")})`;
}

function colourChoice(scene, app) {
  if (scene.range.isPart) {
    return html("p", {class: "note"}, "The colours go up to the largest weights shown.");
  }
  const box = html("input", {
    type: "checkbox",
    id: "colours",
    change: () => {
      app.set({colours: box.checked ? "largest" : null});
    }
  });
  box.checked = scene.state.colours === "largest";
  return html(
    "label", {class: "check"}, box, " Let the colours end at the largest weights, not at 1");
}

// What A and B are, or why there is nothing beside. why: there is no difference; "" if there is.
const colourNote = "In A − B, orange or + is more in A, violet, dashed or − is more in B.";
function besideNote(scene, note = colourNote, why = null) {
  const {beside} = scene;
  if (beside.problem) return html("p", {class: "note"}, beside.problem);
  const none = why ?? noDifference(scene);
  const other =
    beside.sameWords ? "" : " The two texts have different words: positions are compared.";
  return html(
    "p", {class: "note"}, "A is ", html("bdi", {}, shownName(scene)), ", B is ",
    html("bdi", {}, beside.name), ".", none ? " " + none : other + " " + note);
}

// Several pictures in one.
function sideBySide(parts, scene) {
  let x = 16, height = 0;
  for (const part of parts) {
    part.setAttribute("x", x);
    part.setAttribute("y", 16);
    x += Number(part.getAttribute("width")) + 24;
    height = Math.max(height, Number(part.getAttribute("height")));
  }
  return picture(x, height + 32, scene.paint, {}, ...parts);
}
