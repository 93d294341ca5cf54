// The small maps of all heads: their numbers and colours, and the saved picture of them.

// What is shown: A, and B and A − B if something stands beside. A side is {run, title, short: its
// column in the numbers, layers, heads, isDifference, has(layer, head), map(layer, head)}.
function sidesOf(scene) {
  const {run, beside} = scene, other = beside?.run;
  const side = (more, map) => {
    const {layers, heads} = {...more.run.model, ...more};
    return {layers, heads, has: (l, h) => l < layers && h < heads, map, ...more};
  };
  const a = side(
    {run, title: other ? `A: ${shownName(scene)}` : "", short: "weight"},
    (l, h) => smallMap(run, l, h));
  if (!other) return [a];
  const b = side(
    {run: other, title: `B: ${beside.name}`, short: "weight beside"},
    (l, h) => smallMap(other, l, h));
  if (!beside.isSameLength) return [a, b];
  const layers = Math.min(a.layers, b.layers), heads = Math.min(a.heads, b.heads);
  const difference = {run, title: "A − B", short: "difference", isDifference: true, layers, heads};
  return [a, b, side(difference, (l, h) => differenceMap(a.map(l, h), b.map(l, h)))];
}

// The numbers of a small map: exact, or 64 bins.
function smallMap(run, layer, head) {
  const n = run.length;
  if (n <= exactSize) {
    return {
      size: n,
      weights: (i, j) => run.sees(layer, i, j) ? run.weight(layer, head, i, j) : null
    };
  }
  const pool = run.pooled(layer, head), {causal} = run.model;
  return {size: bins, weights: (i, j) => (causal && j > i ? null : pool[i * bins + j])};
}

// Masked in one is 0 there.
function differenceMap(a, b) {
  const weights = (i, j) => {
    const [x, y] = [a.weights(i, j), b.weights(i, j)];
    return x === null && y === null ? null : (x ?? 0) - (y ?? 0);
  };
  return {size: a.size, weights};
}

// The colours of a small map: {size, colours: one for each cell}. Those of A, B and A − B end at the
// same weight.
function cellsOf(scene, side, layer, head) {
  const {size, weights} = side.map(layer, head), {paint} = scene;
  const highest = highestBeside(scene, layer, head);
  const colours = Array.from({length: size * size}, (_, at) => {
    const value = weights(Math.floor(at / size), at % size);
    if (value === null) return paint.hidden;
    return side.isDifference ? twoSided(paint, value / highest) :
                               shade(paint.ramp, value / highest);
  });
  return {size, colours};
}

// The largest weight of a head in A and B, found once.
function highestBeside(scene, layer, head) {
  scene.highest ??= new Map();
  const name = `${layer}.${head}`, sides = sidesOf(scene).slice(0, 2);
  if (!scene.highest.has(name)) {
    const maps = sides.filter((side) => side.has(layer, head)).map((side) => side.map(layer, head));
    const all = maps.map(({size, weights}) => highestOf(size, size, weights));
    scene.highest.set(name, Math.max(...all));
  }
  return scene.highest.get(name);
}

// One pixel for a weight; the page enlarges it.
function paintMap({size, colours}) {
  const canvas = html("canvas", {width: size, height: size});
  const context = canvas.getContext("2d"), image = context.createImageData(size, size);
  colours.forEach((colour, at) => image.data.set([...pixel(colour), 255], 4 * at));
  context.putImageData(image, 0, 0);
  return canvas;
}

const pixels = new Map();
function pixel(colour) {
  if (!pixels.has(colour)) pixels.set(colour, channels(colour));
  return pixels.get(colour);
}

// ---- the saved picture: a rectangle for each cell, or where they are too many a bitmap for each
// head
const mostCells = 40000;  // as rectangles they take up to 1.5 MB

const cellCount = (side) => side.layers * side.heads * side.map(0, 0).size ** 2;

function gridPicture(scene, side) {
  const {layers, heads} = side, size = 96, step = size + 8, top = side.title ? 62 : 40;
  const isBitmap = sidesOf(scene).reduce((sum, one) => sum + cellCount(one), 0) > mostCells;
  const note = isBitmap ? bitmapNote(scene, side) : "", width = 90 + heads * step;
  const root = picture(
    Math.max(width, textWidth(note, false, 2000)), top + layers * step + (note ? 26 : 0),
    scene.paint);
  if (side.title) root.append(label(10, 24, fit(side.title, width - 10), {"font-weight": "bold"}));
  root.append(
    label(10, top - 16, "Layer ↓ Head →", {"font-size": 9.5, fill: scene.paint.soft}),
    label(10, top + layers * step + 14, note, {"font-size": 11, fill: scene.paint.soft}));
  for (let h = 0; h < heads; ++h) {
    root.append(label(86 + h * step + size / 2, top - 16, `Head ${h}`, {"text-anchor": "middle"}));
  }
  for (let l = 0; l < layers; ++l) {
    root.append(label(10, top - 4 + l * step + size / 2, `Layer ${l}`));
    for (let h = 0; h < heads; ++h) {
      const cells = cellsOf(scene, side, l, h), at = {x: 86 + h * step, y: top - 8 + l * step};
      root.append(isBitmap ? bitmap(cells, {...at, size}) : shapes(cells, {...at, size}));
    }
  }
  return root;
}

const bitmapNote = (scene, side) =>
  `Each head is a bitmap: ${grouped(cellCount(side))} cells are ` +
  "too many to draw each as a rectangle.";

const bitmap = (cells, {x, y, size}) => svg("image", {
  x,
  y,
  width: size,
  height: size,
  href: paintMap(cells).toDataURL(),
  "image-rendering": "pixelated"
});

// One path for each colour: cells that stand side by side are one rectangle.
function shapes({size: count, colours}, {x, y, size}) {
  const found = new Map();
  for (let at = 0, end = 1; at < colours.length; at = end) {
    const row = Math.floor(at / count), last = (row + 1) * count;
    for (end = at + 1; end < last && colours[end] === colours[at];) ++end;
    const shape = `M${at % count} ${row}h${end - at}v1h${at - end}z`;
    found.set(colours[at], (found.get(colours[at]) ?? "") + shape);
  }
  return svg(
    "g",
    {transform: `translate(${x} ${y}) scale(${size / count})`, "shape-rendering": "crispEdges"},
    ...Array.from(found, ([fill, d]) => svg("path", {fill, d})));
}
