// What a step of a tape says. Steps count from 0: first all records in the order of recording, then
// those of the backward pass.

const tapeStepCount = (tape) => tape.records.length + tape.backward.length;

// A short text of a number, as the terminal shows it.
function tapeText(x) {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x < 0 ? "-inf" : "inf";
  return String(Number(x.toPrecision(4)) + 0);
}

const tapeName = (tape, record) => short(tape.records[record].label || `record ${record}`, 60);
const shapeText = (shape) =>
  (shape.length === 0 ? "a single number" : `shape (${shape.join(", ")})`);

// "weights = divide(up, total)"
function tapeFormula(tape, record) {
  const {operation, label, inputs} = tape.records[record];
  if (operation === "watched") return `${tapeName(tape, record)}, watched: it gets a gradient`;
  const made = `${short(operation, 40)}(${inputs.map((i) => tapeName(tape, i)).join(", ")})`;
  return label ? `${tapeName(tape, record)} = ${made}` : made;
}

const isBad = (numbers) => Boolean(numbers?.some((x) => !Number.isFinite(x)));

// The step at which the first number that is not finite is made. Of a gradient: the step that made
// it so; in a file without its numbers the first that added to it.
function faultStep(tape) {
  const fault = tape.nonFinite;
  if (!fault || !fault.inGradient) return fault ? fault.record : null;
  let adds = null, is = null;
  for (const [i, {record, gives}] of tape.backward.entries()) {
    const step = tape.records.length + i;
    if (record === fault.record) is ??= step;
    for (const {to, sum} of gives) {
      if (to !== fault.record) continue;
      if (isBad(sum)) return step;
      adds ??= step;
    }
  }
  return adds ?? is ?? fault.record;
}

// Where a cause is seen: the forward step of its record, or the backward step that completed its
// gradient.
function causeStep(tape, {record, inGradient}) {
  if (!inGradient) return record;
  const at = tape.backward.findIndex((step) => step.record === record);
  return at < 0 ? record : tape.records.length + at;
}

// "row 1, column 0 of shifted is NaN: -inf - -inf is NaN, of ..."
function causeText(tape, cause) {
  const {place, value, why, record, inGradient} = cause, all = place.join(", ");
  const of = `${inGradient ? "the gradient of " : ""}${tapeName(tape, record)}`;
  const where = place.length === 0 ? of :
    place.length === 1             ? `number ${all} of ${of}` :
                place.length === 2 ? `row ${place[0]}, column ${place[1]} of ${of}` :
                                     `the number at [${all}] of ${of}`;
  return `${where[0].toUpperCase()}${where.slice(1)} is ${tapeText(value)}: ${short(why, 400)}.`;
}

// What every record has at a step: {value, gradient}, null where there is none yet. The gradient
// before its own step is the sum so far.
function tapeState(tape, step) {
  const count = tape.records.length, back = step - count;
  const state = tape.records.map(
    ({value}, i) => ({isMade: i <= step, value: i <= step ? value : null, gradient: null}));
  if (back < 0) return state;
  state[tape.backward[0].record].gradient = tape.records[tape.backward[0].record].gradient;
  for (const {gives} of tape.backward.slice(0, back + 1)) {
    for (const {to, sum} of gives) state[to].gradient = sum;
  }
  return state;
}

// The bytes that the records up to this step keep for the backward pass.
const savedSoFar = (tape, step) =>
  tape.records.slice(0, step + 1).reduce((sum, {savedBytes}) => sum + savedBytes, 0);
