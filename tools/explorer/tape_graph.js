// The records of a tape as boxes, with an arrow from each input. Beside a long tape's record only
// what it is made of and what is made of it is drawn. An arrow that passes a row of boxes has a
// lane there (the dummy nodes of Sugiyama, Tagawa and Toda 1981), so that it lies behind no box.

const tapeBox = {
  width: 148,
  height: 62,
  across: 26,
  down: 40,
  edge: 12,
  lane: 8
};
const mostBoxes = 48, mostNeighbours = 8;

// The records to draw.
function drawnRecords(tape, now) {
  const all = tape.records.map((_, i) => i);
  if (all.length <= mostBoxes) return all;
  const users = all.filter((i) => tape.records[i].inputs.includes(now)).slice(0, mostNeighbours);
  const inputs = tape.records[now].inputs.slice(0, mostNeighbours);
  return [...new Set([...inputs, now, ...users])].sort((a, b) => a - b);
}

// A row for each record below all its inputs; a watched one stands just above what uses it first.
function tapeRows(tape, drawn) {
  const depth = new Map(), inside = new Set(drawn);
  const inputsOf = (i) => tape.records[i].inputs.filter((from) => inside.has(from));
  for (const i of drawn)
    depth.set(i, Math.max(-1, ...inputsOf(i).map((from) => depth.get(from))) + 1);
  for (const i of drawn.filter((one) => inputsOf(one).length === 0)) {
    const users = drawn.filter((one) => inputsOf(one).includes(i)).map((one) => depth.get(one));
    if (users.length > 0) depth.set(i, Math.min(...users) - 1);
  }
  const rows = [];
  for (const i of drawn) (rows[depth.get(i)] ??= []).push(i);
  return rows.filter(Boolean);
}

// The rows as {record} for a box and {lane} for the arrows of that record which pass this row.
function withLanes(tape, rows) {
  const levels = new Map(rows.flatMap((row, level) => row.map((i) => [i, level])));
  const items = rows.map((row) => row.map((record) => ({record})));
  for (const [to, last] of levels) {
    for (const from of tape.records[to].inputs.filter((one) => levels.has(one))) {
      for (let level = levels.get(from) + 1; level < last; ++level) {
        if (!items[level].some(({lane}) => lane === from)) items[level].push({lane: from});
      }
    }
  }
  return items;
}

// The middle of each box by record, {x, y, level}, of each lane by "record.level", and the size of
// the whole.
function tapeLayout(tape, drawn) {
  const {width, height, across, down, edge, lane} = tapeBox, places = new Map(), lanes = new Map();
  const rows = withLanes(tape, tapeRows(tape, drawn));
  const sizeOf = (item) => (item.lane === undefined ? width : lane);
  const total = (row) => row.reduce((sum, item) => sum + sizeOf(item) + across, -across);
  const wide = Math.max(...rows.map(total)) + 2 * edge;
  rows.forEach((row, level) => {
    const y = edge + level * (height + down) + height / 2;
    let left = (wide - total(row)) / 2;
    for (const item of inOrder(tape, row, level, {places, lanes})) {
      const x = left + sizeOf(item) / 2;
      if (item.lane === undefined)
        places.set(item.record, {x, y, level});
      else
        lanes.set(`${item.lane}.${level}`, {x, y});
      left += sizeOf(item) + across;
    }
  });
  return {places, lanes, width: wide, height: 2 * edge + rows.length * (height + down) - down};
}

// Boxes and lanes of a row from left to right: each below what leads to it.
function inOrder(tape, row, level, {places, lanes}) {
  if (level === 0) return row;
  const above = (from) => lanes.get(`${from}.${level - 1}`) ?? places.get(from);
  const wish = ({record, lane}) => {
    const from = lane === undefined ? tape.records[record].inputs : [lane];
    const known = from.filter((one) => places.has(one));
    return known.reduce((sum, one) => sum + above(one).x, 0) / (known.length || 1);
  };
  return [...row].sort((a, b) => wish(a) - wish(b));
}

// The points of an arrow, from an input down to its result.
function tapeWay({places, lanes}, from, to) {
  const a = places.get(from), b = places.get(to), half = tapeBox.height / 2;
  const way = [[a.x, a.y + half]];
  for (let level = a.level + 1; level < b.level; ++level) {
    const {x, y} = lanes.get(`${from}.${level}`);
    way.push([x, y - half], [x, y + half]);
  }
  return [...way, [b.x, b.y - half]];
}

// Between two points it leaves the one and reaches the other straight down or up.
function wayPath(way) {
  return way.slice(1).reduce((path, [x, y], i) => {
    const [before, above] = way[i], middle = (above + y) / 2;
    return `${path}C${before} ${middle} ${x} ${middle} ${x} ${y}`;
  }, `M${way[0]}`);
}

// The numbers of a box in short: up to three of them.
function numbersText(numbers) {
  if (numbers === null) return "";
  if (numbers.length <= 3) return numbers.map(tapeText).join("  ");
  const bad = numbers.filter((x) => !Number.isFinite(x)).length;
  return bad > 0 ? `${bad} of ${numbers.length} not finite` : `${numbers.length} numbers`;
}

function tapeGraph(tape, step, paint, choose) {
  const count = tape.records.length, back = step < count ? null : tape.backward[step - count];
  const now = back ? back.record : step, drawn = drawnRecords(tape, now);
  const layout = tapeLayout(tape, drawn), {places, width, height} = layout;
  const state = tapeState(tape, step);
  const root = picture(width, height, paint, {
    role: "img",
    "aria-label": `Graph of ${plural(drawn.length, "record")}; now ${tapeFormula(tape, now)}`,
  });
  root.append(
    svg("defs", {}, arrowHead("tape-grey", paint.soft), arrowHead("tape-red", paint.mark)));
  for (const i of drawn) {
    [...new Set(tape.records[i].inputs)].filter((from) => places.has(from)).forEach((from) => {
      root.append(...tapeArrow(layout, {from, to: i, back, step, paint}));
    });
  }
  for (const i of drawn)
    root.append(tapeRecord(tape, i, {now, back, state, places, paint, choose}));
  return root;
}

const arrowHead = (id, colour) => svg(
  "marker", {
    id,
    viewBox: "0 0 8 8",
    refX: 7,
    refY: 4,
    markerWidth: 10,
    markerHeight: 10,
    orient: "auto",
    markerUnits: "userSpaceOnUse"
  },
  svg("path", {d: "M0 0L8 4L0 8z", fill: colour}));

// Forward it leads from input to result; in a backward step of the result the other way, with what
// flows.
function tapeArrow(layout, {from, to, back, step, paint}) {
  const way = tapeWay(layout, from, to), [near, end] = way.slice(-2);
  const flows = back?.record === to && back.gives.some((one) => one.to === from);
  const isNew = !back && step === to;
  const curve = svg("path", {
    d: wayPath(flows ? way.reverse() : way),
    fill: "none",
    stroke: flows ? paint.mark :
      isNew       ? paint.heads[0] :
                    paint.soft,
    "stroke-width": flows || isNew ? 3 : 1.2,
    "marker-end": `url(#tape-${flows ? "red" : "grey"})`,
    "data-from": from,
    "data-to": to,
    "data-flows": flows ? "true" : null,
  });
  if (!flows) return [curve];
  const what =
    back.gives.filter((one) => one.to === from).map((one) => numbersText(one.contribution));
  const text = fit(what.join(" and "), tapeBox.width, 12);
  const at = {
    "font-size": 12,
    "text-anchor": "middle",
    fill: paint.mark,
    stroke: paint.paper,
    "stroke-width": 4,
    "paint-order": "stroke"
  };
  return [curve, label((near[0] + end[0]) / 2, (near[1] + end[1]) / 2 + 4, text, at)];
}

function tapeRecord(tape, i, {now, back, state, places, paint, choose}) {
  const {operation, shape, value} = tape.records[i], {x, y} = places.get(i), s = state[i];
  const isNow = i === now, isMade = s.isMade, bad = isMade && (isBad(value) || isBad(s.gradient));
  const {width, height} = tapeBox, left = x - width / 2, top = y - height / 2;
  const line = (row, text, more) => label(
    x, top + 17 + 18 * row, fit(text, width - 12, 12),
    {"text-anchor": "middle", "font-size": 12, fill: isMade ? paint.ink : paint.soft, ...more});
  const numbers = back ? s.gradient : s.value, shown = numbersText(numbers);
  const number = bad ? {fill: paint.mark, "font-weight": 700} : {};
  return svg(
    "g", {
      "data-record": i,
      "data-bad": bad ? "true" : null,
      class: "tape-record",
      click: () => choose(i)
    },
    svg("rect", {
      x: left,
      y: top,
      width,
      height,
      rx: 7,
      fill: isMade ? paint.paper : paint.hidden,
      stroke: bad ? paint.mark :
        isNow     ? paint.heads[0] :
                    paint.line,
      "stroke-width": isNow ? 3.5 :
        bad                 ? 2.5 :
                              1.2,
      "stroke-dasharray": isMade ? null : "4 3",
    }),
    line(0, tapeName(tape, i), {"font-weight": 700}),
    line(1, short(operation, 30) + (shape.length > 0 ? ` (${shape.join(", ")})` : "")),
    shown ? line(2, back ? `gradient ${shown}` : shown, number) : null);
}
