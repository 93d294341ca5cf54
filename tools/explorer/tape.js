// The tape time machine: a small program's tape, forward and backward, step by step. It needs no
// model, and without the engine it opens files.

const tapePlayer = {
  tape: null,
  step: 0,
  app: null
};

const tapeControls = [
  ["first", "First", "the first step"],
  ["back", "◀ Back", "one step back"],
  ["forward", "Forward ▶", "one step forward"],
  ["last", "Last", "the last step"],
  ["backward", "Backward pass", "where the backward pass begins"],
  ["fault", "First NaN or inf", "the first number that is NaN or infinite"],
];

function tapeSection() {
  const buttons = tapeControls.map(
    ([id, name, title]) =>
      html("button", {type: "button", id: `tape-${id}`, title, click: () => tapeGo(id)}, name));
  const open = html("input", {type: "file", id: "tape-file", accept: ".json,application/json"});
  open.addEventListener("change", () => open.files[0] && openTapeFile(open.files[0]));
  return html(
    "details", {id: "tape", class: "live"},
    html("summary", {}, "Tape: a small calculation, forward and backward, step by step"),
    html(
      "p", {class: "note"},
      "A tape is the list of operations that a program ran; each is a record. Forward, a record " +
        "computes its value from its inputs. Backward, from the last record to the first, each " +
        "record gives its inputs their parts of the gradient: how much the last number changes " +
        "with each of them."),
    html(
      "div", {class: "tape-choice"},
      html(
        "label", {id: "tape-of-program", hidden: true}, "Program ",
        html("select", {id: "tape-program"})),
      html(
        "label", {}, "Open a tape of your own (from tapestry tape --json, or drop the file here) ",
        open)),
    html("p", {id: "tape-problem", class: "note", role: "status"}),
    html(
      "div", {id: "tape-body", hidden: true}, html("p", {id: "tape-title"}),
      html(
        "div", {class: "tape-bar", role: "group", "aria-label": "Steps of the tape"}, ...buttons,
        html("output", {id: "tape-place"})),
      html(
        "p", {class: "note"},
        "After a click on a button or on the graph the keys ← and → step, too; Home and End go to " +
          "the first and the last step."),
      html(
        "div", {class: "tape-columns"}, html("ol", {id: "tape-lines", "aria-label": "The program"}),
        html("div", {
          id: "tape-graph",
          class: "scroll",
          tabindex: 0,
          role: "region",
          "aria-label": "Graph of the tape"
        })),
      html("div", {id: "tape-step", "aria-live": "polite"})));
}

live.keys.push(
  ["← and →", "in the part Tape: the step before, the step after"],
  ["Home, End", "in the part Tape: the first step, the last step"]);

// ---- choosing a tape
function showTape(tape) {
  Object.assign(tapePlayer, {tape, step: 0});
  sayTape("");
  byId("tape-body").hidden = false;
  byId("tape-title").textContent =
    [tape.name, tape.formula].filter(Boolean).map((text) => short(text, 200)).join(": ");
  drawTape();
}

const sayTape = (text) => byId("tape-problem").textContent = text;

async function openTapeFile(file) {
  try {
    if (file.size > mostTapeBytes) {
      throw new NoTape("This file is larger than 32 MiB, the most that a tape may have here.");
    }
    showTape(parseTape(await file.text()));
    setOptions(
      byId("tape-program"), [...tapePlayer.programs ?? [], ["", `file ${short(file.name, 40)}`]],
      "");
  } catch (error) {
    sayTape(error instanceof NoTape ? error.message : "This file cannot be read.");
  }
  byId("tape-file").value = "";
}

async function offerPrograms() {
  const {programs} = await live.engine.call({call: "tape_programs"});
  tapePlayer.programs = programs.map(({name}) => [name, name]);
  setOptions(byId("tape-program"), tapePlayer.programs, programs[0].name);
  byId("tape-of-program").hidden = false;
  byId("tape-program").addEventListener("change", () => loadProgram());
  if (!tapePlayer.tape) await loadProgram({first: true});
}

// The first one does not replace a file that was opened meanwhile.
async function loadProgram({first = false} = {}) {
  const program = byId("tape-program").value;
  if (!program) return;
  try {
    const {steps} = await live.engine.call({call: "tape", program});
    if (!(first && tapePlayer.tape)) showTape(checkedTape(steps));
  } catch (error) {
    sayTape(error.message);
  }
}

// ---- stepping
function tapeGo(where) {
  const {tape, step} = tapePlayer, count = tapeStepCount(tape);
  const to = {
    first: 0,
    back: step - 1,
    forward: step + 1,
    last: count - 1,
    backward: tape.backward.length > 0 ? tape.records.length : null,
    fault: faultStep(tape),
  }[where];
  const words = {
    back: "This is the first step.",
    forward: "This is the last step.",
    backward: "There was no backward pass.",
    fault: "All numbers are finite.",
  };
  const isThere = to !== null && to >= 0 && to < count;
  sayTape(isThere ? "" : words[where]);
  if (isThere) tapeStepTo(to);
}

function tapeStepTo(step) {
  tapePlayer.step = step;
  tapePlayer.app.say("");  // what was pointed at in a view would lie over the graph
  drawTape();
}

function onTapeKey(event) {
  const isInput = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  const where = {ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last"}[event.key];
  if (isInput || !where || !tapePlayer.tape || event.ctrlKey || event.altKey || event.metaKey)
    return;
  event.preventDefault();
  tapeGo(where);
}

// ---- drawing
function drawTape() {
  const {tape, step} = tapePlayer;
  if (!tape) return;
  const count = tape.records.length, back = step < count ? null : tape.backward[step - count];
  byId("tape-place").textContent =
    `Step ${step + 1} of ${tapeStepCount(tape)}, ${back ? "backward" : "forward"}`;
  drawTapeLines(tape, tape.records[back ? back.record : step].line);
  const graph = tapeGraph(tape, step, currentPaint(), tapeStepTo), box = byId("tape-graph");
  box.replaceChildren(graph);
  bringIntoSight(box, graph.querySelector(`[data-record="${back ? back.record : step}"]`));
  byId("tape-step")
    .replaceChildren(
      ...(back ? backwardParts(tape, back) : forwardParts(tape, step)), ...faultParts(tape, step));
}

const mostTapeLines = 40;

// The program; of a long one the part around the line.
function drawTapeLines(tape, now) {
  const {lines} = tape, middle = (now ?? 0) - mostTapeLines / 2;
  const from = Math.max(0, Math.min(middle, lines.length - mostTapeLines)),
        list = byId("tape-lines");
  list.hidden = lines.length === 0;
  list.start = from + 1;
  list.replaceChildren(...lines.slice(from, from + mostTapeLines).map((line, i) => {
    const isNow = from + i === now;
    return html(
      "li", {"aria-current": isNow ? "step" : null}, html("code", {}, short(line.text, 160)));
  }));
}

// ---- the start
function wireTape(app) {
  const section = tapeSection();
  tapePlayer.app = app;
  byId("live").after(section);
  byId("tape-body").addEventListener("keydown", onTapeKey);
  section.addEventListener("dragover", (event) => event.preventDefault());
  section.addEventListener("drop", (event) => {
    event.preventDefault();
    event.stopPropagation();
    const [file] = event.dataTransfer.files;
    if (file) openTapeFile(file);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTape);
  live.started?.then(() => live.engine && offerPrograms());
}
