// The lines of the head view. A drawing holds one picture and what it shows.

const thinnest = 0.02;  // lines of smaller weights are drawn only for a word that is pointed at
const lineHeight = 26;

// The pictures: A, B and their difference.
function linePictures(scene, width) {
  const {beside, run, layer, head} = scene, title = headsTitle(scene);
  const count = beside?.run ? 3 : 1;
  const each =
    Math.max(320, Math.min(760, count > 1 ? Math.floor((width - 52) / count) - 8 : width - 8));
  const own = {run, title: beside?.run ? `A: ${title}` : `Weights of ${title}`, heads: scene.heads};
  const parts = [linePicture(scene, own, each)];
  if (!beside?.run) return parts;
  const heads = scene.heads.filter((h) => beside.run.has(layer, h));
  if (heads.length > 0) {
    parts.push(linePicture(scene, {run: beside.run, title: `B: ${beside.name}`, heads}, each));
  }
  if (!noDifference(scene)) {
    parts.push(linePicture(
      scene, {run, other: beside.run, title: `A − B, head ${head}`, heads: [head]}, each));
  }
  return parts;
}

const headsTitle = ({layer, heads}) =>
  `layer ${layer}, head${heads.length > 1 ? "s" : ""} ${heads.join(", ")}`;

function linePicture(scene, shown, width) {
  const {run} = shown, [q0, q1] = part(scene, run, "queries"), [k0, k1] = part(scene, run, "keys");
  const side = Math.min(150, Math.floor(width * 0.3)), count = Math.max(q1 - q0, k1 - k0) + 1;
  const box = {q0, q1, k0, k1, side, width, top: 52, left: side, right: width - side};
  const root = picture(width, box.top + count * lineHeight + 8, scene.paint, {
    role: "group",
    "aria-label": `${shown.title}: lines from queries, left, to keys, right`,
    class: "lines",
    tabindex: "-1",
  });
  root.append(
    label(0, 15, fit(shown.title, width), {"font-weight": "bold"}),
    label(side - 32, 38, "query", {"text-anchor": "end", fill: scene.paint.soft}),
    label(box.right + 32, 38, "key", {fill: scene.paint.soft}));
  const lines = svg("g", {class: "all-lines"}), single = svg("g", {class: "single-lines"});
  root.append(
    lines, single, wordColumn(scene, run, box, "query"), wordColumn(scene, run, box, "key"));
  const drawing = {root, box, shown, scene, single, lines};
  drawLines(drawing, lines, 0.1, (i, j, w) => Math.abs(w) >= thinnest);
  return drawing;
}

function wordColumn(scene, run, box, side) {
  const isQuery = side === "query", [first, last] = isQuery ? [box.q0, box.q1] : [box.k0, box.k1];
  const group = svg("g", {role: "list", "aria-label": isQuery ? "queries" : "keys"});
  for (let i = first; i <= last; ++i) {
    const isChosen = i === (isQuery ? scene.query : scene.key);
    const item = svg("g", {
      role: "listitem",
      class: "line-word",
      tabindex: "-1",
      "data-side": side,
      "data-position": i,
      "aria-label": `${side} ${place(run, i)}`
    });
    const y = box.top + (i - first) * lineHeight;
    item.append(...lineWord(run.words[i], i, y, box, isQuery, isChosen, scene.paint));
    group.append(item);
  }
  return group;
}

// A word, its position, and a place for the colour of what is pointed at.
function lineWord(word, i, y, box, isQuery, isChosen, paint) {
  const x = isQuery ? box.side - 32 : box.right + 32, anchor = isQuery ? "end" : "start";
  const size = {width: box.side, height: lineHeight, rx: 5, fill: "transparent"};
  return [
    svg("rect", {x: isQuery ? 0 : box.right, y, ...size}),
    label(
      x, y + 18, fit(word, box.side - 40),
      {"text-anchor": anchor, "font-weight": isChosen ? "bold" : null}),
    label(
      isQuery ? x + 24 : x - 24, y + 18, String(i),
      {"text-anchor": anchor, "font-size": 10, fill: paint.soft})
  ];
}

// The weight a line stands for, or the difference of two.
function lineWeight({shown, scene}, head, i, j) {
  const {run, other} = shown, seen = run.sees(scene.layer, i, j);
  if (other) {
    const a = seen ? run.weight(scene.layer, head, i, j) : 0;
    const b = other.sees(scene.layer, i, j) ? other.weight(scene.layer, head, i, j) : 0;
    return a - b;
  }
  return seen ? run.weight(scene.layer, head, i, j) : null;
}

function drawLines(drawing, into, least, keep) {
  const {box, shown} = drawing, paths = [];
  for (const head of shown.heads) {
    for (let i = box.q0; i <= box.q1; ++i) {
      for (let j = box.k0; j <= box.k1; ++j) {
        const w = lineWeight(drawing, head, i, j);
        if (w !== null && keep(i, j, w)) paths.push(linePath(drawing, head, i, j, w, least));
      }
    }
  }
  into.replaceChildren(...paths);
}

// Where the line from query i to key j begins and ends.
const lineEnds =
  (box, i, j) => [i - box.q0, j - box.k0].map((at) => box.top + (at + 0.5) * lineHeight);

// least: the opacity of the faintest line.
function linePath({box, shown, scene}, head, i, j, w, least) {
  const [from, to] = lineEnds(box, i, j), middle = (box.left + box.right) / 2;
  const size = Math.min(1, Math.abs(w));
  const {paint} = scene;
  const colour = shown.other ? (w > 0 ? paint.more[3] : paint.less[3]) : headColour(paint, head);
  const isDashed = shown.other ? w < 0 : head >= paint.heads.length;
  return svg("path", {
    d: `M${box.left} ${from}C${middle} ${from} ${middle} ${to} ${box.right} ${to}`,
    fill: "none",
    stroke: colour,
    "stroke-width": (0.6 + 4.4 * size).toFixed(2),
    "stroke-opacity": (least + (1 - least) * size).toFixed(3),
    "stroke-dasharray": isDashed ? "6 4" : null,
    "data-query": i,
    "data-key": j,
    "data-head": head,
    "data-value": String(w),
  });
}

// Thin lines are hard to hit: the nearest one counts, up to so many pixels away.
const reach = {
  mouse: 8,
  pen: 8,
  touch: 16
};

// The line at a pointer, or null: the one under it, or the nearest one that is shown.
function lineAt({root, box, single, lines}, event) {
  if (event.target.dataset?.key !== undefined) return event.target;
  const {x, y} =
    new DOMPoint(event.clientX, event.clientY).matrixTransform(root.getScreenCTM().inverse());
  if (wordAt(event.target) || x <= box.left || x >= box.right) return null;
  let best = null, least = reach[event.pointerType] ?? reach.mouse;
  const near = sharesAround(box, x, least);
  for (const path of (single.childElementCount > 0 ? single : lines).querySelectorAll("path")) {
    const ends = lineEnds(box, Number(path.dataset.query), Number(path.dataset.key));
    const away = distanceTo(near, ends, y);
    if (away < least) [best, least] = [path, away];
  }
  return best;
}

// At an x all lines have gone the same share of their way down. [[x beside the pointer's, share]].
function sharesAround(box, x, most) {
  const found = [], width = box.right - box.left;
  for (let by = -most; by <= most; by += 2) {
    const at = (x + by - box.left) / width;
    if (at >= 0 && at <= 1) found.push([by, shareAt(at)]);
  }
  return found;
}

// The curve of linePath is at time t at x = 3/2 t (1 - t) + t^3 and down 3 t^2 - 2 t^3.
function shareAt(x) {
  let low = 0, high = 1;
  for (let i = 0; i < 20; ++i) {
    const t = (low + high) / 2;
    if (1.5 * t * (1 - t) + t ** 3 < x)
      low = t;
    else
      high = t;
  }
  return 3 * low ** 2 - 2 * low ** 3;
}

// From the pointer to a line, as a chain of straight pieces.
function distanceTo(near, [from, to], y) {
  const points = near.map(([by, share]) => [by, from + (to - from) * share - y]);
  let least = Infinity;
  for (let i = 1; i < points.length; ++i) {
    const [[x0, y0], [x1, y1]] = [points[i - 1], points[i]], dx = x1 - x0, dy = y1 - y0;
    const t = Math.min(1, Math.max(0, -(x0 * dx + y0 * dy) / (dx * dx + dy * dy)));
    least = Math.min(least, Math.hypot(x0 + t * dx, y0 + t * dy));
  }
  return least;
}
