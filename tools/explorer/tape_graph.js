// The records of a tape as boxes, with an arrow from each input. Beside a long tape's record only
// what it is made of and what is made of it is drawn.

const tapeBox = {
  width: 148,
  height: 62,
  across: 26,
  down: 40,
  edge: 12
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

// The middle of each box: {x, y} by record, and the size of the whole.
function tapeLayout(tape, drawn) {
  const rows = tapeRows(tape, drawn), places = new Map(),
        {width, height, across, down, edge} = tapeBox;
  const wide = Math.max(...rows.map((row) => row.length)) * (width + across) - across + 2 * edge;
  rows.forEach((row, level) => {
    const wish = (i) => {
      const known = tape.records[i].inputs.filter((from) => places.has(from));
      return known.reduce((sum, from) => sum + places.get(from).x, 0) / (known.length || 1) || 0;
    };
    const sorted = level === 0 ? row : [...row].sort((a, b) => wish(a) - wish(b) || a - b);
    const left = (wide - sorted.length * (width + across) + across) / 2;
    sorted.forEach((i, at) => places.set(i, {
      x: left + at * (width + across) + width / 2,
      y: edge + level * (height + down) + height / 2,
    }));
  });
  return {places, width: wide, height: 2 * edge + rows.length * (height + down) - down};
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
  const {places, width, height} = tapeLayout(tape, drawn), state = tapeState(tape, step);
  const root = picture(width, height, paint, {
    role: "img",
    "aria-label": `Graph of ${plural(drawn.length, "record")}; now ${tapeFormula(tape, now)}`,
  });
  root.append(
    svg("defs", {}, arrowHead("tape-grey", paint.soft), arrowHead("tape-red", paint.mark)));
  for (const i of drawn) {
    [...new Set(tape.records[i].inputs)].filter((from) => places.has(from)).forEach((from) => {
      root.append(...tapeArrow(tape, {from, to: i, back, step, places, paint}));
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
function tapeArrow(tape, {from, to, back, step, places, paint}) {
  const a = places.get(from), b = places.get(to), half = tapeBox.height / 2;
  const flows = back?.record === to && back.gives.some((one) => one.to === from);
  const isNew = !back && step === to;
  const top = [a.x, a.y + half], bottom = [b.x, b.y - half], middle = (top[1] + bottom[1]) / 2;
  const [start, end] = flows ? [bottom, top] : [top, bottom];
  const curve = svg("path", {
    d: `M${start}C${start[0]} ${middle} ${end[0]} ${middle} ${end}`,
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
  return [curve, label((top[0] + bottom[0]) / 2, middle + 4, text, at)];
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
    line(1, `${short(operation, 30)} (${shape.join(", ")})`),
    shown ? line(2, back ? `gradient ${shown}` : shown, number) : null);
}
