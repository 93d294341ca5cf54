// The steps of a tape, as `tapestry tape --json` and write_tape_steps write them. What stands in a
// file is checked before any of it is shown.

class NoTape extends Error {}

const tapeFormat = "tapestry tape steps 1";
const mostTapeBytes = 32 << 20;

// The steps of a text; throws NoTape with one sentence.
function parseTape(text) {
  let given = null;
  try {
    given = JSON.parse(text);
  } catch {
    throw new NoTape(
      "This file is damaged or no JSON: make it again, with tapestry tape PROGRAM --json FILE.");
  }
  return checkedTape(given);
}

function checkedTape(given) {
  const isObject = given !== null && typeof given === "object" && !Array.isArray(given);
  if (!isObject || given.format !== tapeFormat) {
    throw new NoTape(
      "This file holds no tape of this version: make it with tapestry tape PROGRAM --json FILE.");
  }
  const records = listOf(given, "records", "the tape"), lines = listOf(given, "lines", "the tape");
  if (records.length === 0) throw new NoTape("The tape in this file is empty: it has no records.");
  const steps = {
    name: textOf(given, "name", "the tape"),
    formula: textOf(given, "formula", "the tape")
  };
  steps.lines = lines.map((line, i) => checkedLine(line, `line ${i}`, records.length));
  steps.records = [];
  records.forEach((one, i) => steps.records.push(checkedRecord(one, i, lines.length)));
  steps.backward = listOf(given, "backward", "the tape")
                     .map((step, i) => checkedBackward(step, `backward step ${i}`, steps.records));
  steps.nonFinite =
    given.non_finite === null ? null : checkedFault(given.non_finite, steps.records);
  return steps;
}

const wrong = (of, name, what) => new NoTape(
  `This file is damaged: "${name}" of ${of} is not ${what}; make it again, with tapestry tape.`);

function field(object, name, of, test, what) {
  if (object === null || typeof object !== "object") throw wrong(of, name, "there");
  if (!Object.hasOwn(object, name) || !test(object[name])) throw wrong(of, name, what);
  return object[name];
}

const listOf = (object, name, of) => field(object, name, of, Array.isArray, "a list");
const textOf = (object, name, of) =>
  field(object, name, of, (x) => typeof x === "string", "a text");
const countOf = (object, name, of) =>
  field(object, name, of, (x) => Number.isSafeInteger(x) && x >= 0, "a whole number");
const truthOf = (object, name, of) =>
  field(object, name, of, (x) => typeof x === "boolean", "true or false");
const isPlace = (x) => Array.isArray(x) && x.every((n) => Number.isSafeInteger(n) && n >= 0);
const isBelow = (count) => (x) => Number.isInteger(x) && x >= 0 && x < count;
const placeOf = (object, name, of, count) =>
  field(object, name, of, isBelow(count), "the number of a record that can stand there");

function checkedLine(line, of, count) {
  const record = line?.record ?? null;
  if (record !== null) placeOf(line, "record", of, count);
  return {text: textOf(line, "text", of), label: textOf(line, "label", of), record};
}

function checkedRecord(one, i, lineCount) {
  const of = `record ${i}`, shape = listOf(one, "shape", of), inputs = listOf(one, "inputs", of);
  if (!shape.every((n) => Number.isSafeInteger(n) && n >= 0)) {
    throw wrong(of, "shape", "a list of sizes");
  }
  if (!inputs.every(isBelow(i))) throw wrong(of, "inputs", "a list of earlier records");
  const line = one.line ?? null;
  if (line !== null) field(one, "line", of, isBelow(lineCount), "the number of a line");
  return {
    operation: textOf(one, "operation", of),
    label: textOf(one, "label", of),
    inputs,
    line,
    shape,
    value: numbersOf(one, "value", of, shape),
    gradient: numbersOf(one, "gradient", of, shape),
    summary: textOf(one, "summary", of),
    savedBytes: countOf(one, "saved_bytes", of),
  };
}

const notNumbers = new Map([["nan", NaN], ["inf", Infinity], ["-inf", -Infinity]]);

// A number, or the text that stands for one that JSON lacks; undefined for all else.
const tapeNumber = (x) => (typeof x === "number" ? x : notNumbers.get(x));

// As many numbers as the shape says, or null.
function numbersOf(object, name, of, shape) {
  const given = field(object, name, of, (x) => x === null || Array.isArray(x), "a list of numbers");
  if (given === null) return null;
  const numbers = given.map(tapeNumber), count = shape.reduce((product, n) => product * n, 1);
  if (numbers.includes(undefined)) throw wrong(of, name, "a list of numbers");
  if (numbers.length !== count)
    throw wrong(of, name, `a list of ${count} numbers, as its shape says`);
  return numbers;
}

function checkedBackward(step, of, records) {
  const record = placeOf(step, "record", of, records.length);
  const gives = listOf(step, "gives", of).map((one) => {
    const to = placeOf(one, "to", of, records.length), {shape} = records[to];
    return {
      to,
      contribution: numbersOf(one, "contribution", of, shape),
      sum: numbersOf(one, "sum", of, shape),
    };
  });
  return {record, gives};
}

function checkedFault(fault, records) {
  const of = "non_finite", isNumber = (x) => tapeNumber(x) !== undefined;
  const causes = listOf(fault, "causes", of)
                   .map((cause) => ({
                          record: placeOf(cause, "record", of, records.length),
                          inGradient: truthOf(cause, "in_gradient", of),
                          place: field(cause, "place", of, isPlace, "a list of positions"),
                          value: tapeNumber(field(cause, "value", of, isNumber, "a number")),
                          why: textOf(cause, "why", of),
                        }));
  return {
    record: placeOf(fault, "record", of, records.length),
    inGradient: truthOf(fault, "in_gradient", of),
    text: textOf(fault, "text", of),
    causes,
  };
}
