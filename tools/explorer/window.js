// Long texts: the part that is shown exactly, chosen by numbers, by a drag on the overview, or by
// keys.

const windowViews = ["heads", "map", "lens"];

function drawWindow(scene, app) {
  const form = byId("window"), {range, run} = scene;
  form.hidden = !run || !range.isPart || !windowViews.includes(scene.view);
  if (form.hidden) return;
  const [q0, q1] = range.queries, [k0, k1] = range.keys, hasKeys = scene.view !== "lens";
  const fields = [
    partField(scene, "first query", q0), partField(scene, "last query", q1),
    partField(scene, "first key", k0), partField(scene, "last key", k1)
  ];
  const show = (parts) => showPart(scene, app, parts);
  form.onsubmit = (event) => {
    event.preventDefault();
    show(windowOf(scene, ...fields.map((input) => Number(input.value))));
  };
  const move = (by) => show(windowOf(scene, q0 + by, q1 + by, k0 + by, k1 + by));
  const button = (text, by) =>
    html("button", {type: "button", id: `part-${text}`, click: () => move(by)}, text);
  form.replaceChildren(
    html("p", {class: "note"}, windowText(scene)),
    html("span", {}, "Queries ", fields[0], " to ", fields[1]),
    ...(hasKeys ? [html("span", {}, "keys ", fields[2], " to ", fields[3])] : []),
    html("button", {type: "submit", id: "part-show"}, "Show"), button("Earlier", -32),
    button("Later", 32));
}

function partField(scene, name, value) {
  const id = name.replace(" ", "-"), max = scene.length - 1;
  return html("input", {type: "number", min: 0, max, value, id, "aria-label": name});
}

// The query moves into the part that is shown.
function showPart(scene, app, parts) {
  const [first, last] = parts.split(",")[0].split("-").map(Number);
  const isInside = scene.query >= first && scene.query <= last;
  app.set({window: parts, ...(isInside ? {} : {query: last, key: null})});
}

function windowText(scene) {
  const pooled = scene.view === "map" ?
    "The overview pools them to 64 bins: a cell is the mean over the queries of a bin of the " +
      "weight on all keys of a bin. Drag over it to choose a part, at most 64 by 64. " :
    "";
  const source = scene.run.isRecorded(scene.layer) || scene.view === "lens" ?
    "" :
    "The weights of the part are computed here from the recorded queries and keys.";
  return `This text has ${plural(scene.length, unitOf(scene))}. ${pooled}${source}`.trim();
}

// Sane limits: inside the text, in order, at most 64 each.
function windowOf(scene, q0, q1, k0, k1) {
  const last = scene.length - 1;
  const limits = (low, high) => {
    const a = Math.round(low) || 0, b = Math.round(high) || 0;
    const size = Math.min(exactSize, Math.max(1, b - a + 1));
    const first = Math.min(Math.max(0, a), last - size + 1);
    return `${first}-${first + size - 1}`;
  };
  return `${limits(q0, q1)},${limits(k0, k1)}`;
}

// The overview: a drag chooses a part; a click or Enter one of 64 positions around the place.
function wireOverview(root, matrix, scene, app) {
  const show = (r, c) => {
    markCell(root, r, c);
    app.say(matrix.say(r, c));
  };
  const choose = (r0, c0, r1, c1) => {
    const {run} = scene, isOne = r0 === r1 && c0 === c1;
    const span = (a, b) => {
      const first = run.bin(Math.min(a, b))[0], last = run.bin(Math.max(a, b))[1];
      return isOne ? [first - 24, first + 39] : [first, last];
    };
    showPart(scene, app, windowOf(scene, ...span(r0, r1), ...span(c0, c1)));
  };
  makeGrid(root, {
    rows: bins,
    columns: bins,
    start: [0, 0],
    cell: cellOf(root),
    arrive: show,
    enter: (r, c) => choose(r, c, r, c)
  });
  root.addEventListener("pointerover", (event) => {
    const at = positionOf(event.target);
    if (at) show(...at);
  });
  wireDrag(root, scene, choose);
  drawFrame(root, scene);
}

function wireDrag(root, scene, choose) {
  let from = null;
  const frame = svg("rect", {
    fill: scene.paint.mark,
    "fill-opacity": 0.2,
    stroke: scene.paint.mark,
    visibility: "hidden",
    "pointer-events": "none",
    class: "drag"
  });
  root.append(frame);
  root.classList.add("overview");
  root.addEventListener("pointerdown", (event) => {
    from = positionOf(event.target);
    if (!from) return;
    event.preventDefault();
    root.setPointerCapture(event.pointerId);  // the drag may end outside
  });
  root.addEventListener("pointermove", (event) => {
    if (from) placeFrame(frame, root.box, from, cellAt(root, event));
  });
  root.addEventListener("pointerup", (event) => {
    if (from) choose(...from, ...cellAt(root, event));
    from = null;
  });
  root.addEventListener("pointercancel", () => from = null);
}

// The cell of the overview that is nearest to the pointer.
function cellAt(root, event) {
  const place =
    new DOMPoint(event.clientX, event.clientY).matrixTransform(root.getScreenCTM().inverse());
  const {side, top, size} = root.box;
  const cell = (x) => Math.min(bins - 1, Math.max(0, Math.floor(x / size)));
  return [cell(place.y - top), cell(place.x - side)];
}

function placeFrame(frame, box, [r0, c0], [r1, c1]) {
  frame.setAttribute("x", box.side + Math.min(c0, c1) * box.size);
  frame.setAttribute("y", box.top + Math.min(r0, r1) * box.size);
  frame.setAttribute("width", (Math.abs(c1 - c0) + 1) * box.size);
  frame.setAttribute("height", (Math.abs(r1 - r0) + 1) * box.size);
  frame.setAttribute("visibility", "visible");
}

// Where the part that is shown exactly lies.
function drawFrame(root, {range, length, paint}) {
  const {box} = root, at = (i) => (i * bins) / length;
  root.append(svg("rect", {
    x: box.side + at(range.keys[0]) * box.size,
    y: box.top + at(range.queries[0]) * box.size,
    width: at(range.keys[1] - range.keys[0] + 1) * box.size,
    height: at(range.queries[1] - range.queries[0] + 1) * box.size,
    fill: "none",
    stroke: paint.mark,
    "stroke-width": 2,
    "pointer-events": "none",
    class: "part",
  }));
}
