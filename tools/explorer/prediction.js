// What becomes of a prediction under changes (reach.js), and of parts cut at random beside.

const prediction = {
  asked: "",
  timer: 0,
  number: 0
};
const draws = 20;

// Asks the engine a little later, since typing and sliders come first.
function askPrediction(scene) {
  const place = byId("prediction");
  if (!byId("reach").open || reaching.list.length === 0 || !live.engine) {
    prediction.asked = "";
    ++prediction.number;
    return place.replaceChildren();
  }
  const text = scene.source.texts[scene.text], changes = changesFor(text);
  const key = JSON.stringify([reaching.of, text.given, scene.query, changes]);
  if (key === prediction.asked) return;
  prediction.asked = key;
  clearTimeout(prediction.timer);
  const number = ++prediction.number;
  prediction.timer = setTimeout(() => tellPrediction(scene, text, changes, number), 250);
}

async function tellPrediction(scene, text, changes, number) {
  const {name, untrained = false} = live.names.get(reaching.of);
  const asked = {model: name, untrained, text: text.given, position: scene.query};
  const call = (request) => live.engine.call({...asked, ...request});
  const place = byId("prediction"), isOld = () => number !== prediction.number;
  try {
    const answer = await call({call: "answers", ...changes});
    if (isOld()) return;
    place.replaceChildren(tableElement(answerTable(scene, answer)), ...shareText(answer));
    const falls = [];
    for (const part of changes.cut) {
      const {each} = await call({call: "effects", parts: [part], draws});
      if (isOld()) return;
      falls.push([partText(part), each[0]]);
    }
    if (changes.cut.length > 1) {
      const {together} = await call({call: "effects", parts: changes.cut, draws});
      falls.push(["all together", together]);
    }
    if (!isOld() && falls.length > 0) place.append(...fallsElements(falls));
  } catch (error) {
    if (!isOld()) place.replaceChildren(html("p", {class: "note"}, error.message));
  }
}

function answerTable(scene, {words}) {
  return {
    title: `ln(probability) at ${place(scene.run, scene.query)}, the chosen position`,
    columns: ["word", "as it is", "with the changes", "fall"],
    rows: words.map(({word, before, after}, i) => {
      const what = i === 0 ? "likeliest as it is" : "likeliest with the changes";
      return [`${short(word)} (${what})`, before, after, before - after];
    }),
    hasNames: true,
  };
}

function shareText({share}) {
  if (share === undefined) return [];
  if (share === null) {
    return [html(
      "p", {class: "note"}, "Both texts give the same answer, so patches bring nothing.")];
  }
  return [html(
    "p", {id: "share"}, "The changes bring the answer ", numberElement(share.share),
    ` of the way to that of the second text: from ${isolated(share.against)} (0) to ` +
      `${isolated(share.token)} (1).`)];
}

function fallsElements(falls) {
  const asFar = (one) => one.random_deviation === 0 ? "all alike" : `${one.as_far} of ${draws}`;
  const rows = falls.map(
    ([name, one]) => one.no_others ?
      [name, one.fall, "no others", "", ""] :
      [name, one.fall, one.random_mean, one.random_deviation, asFar(one)]);
  const isPoor = falls.some(([, one]) => one.random_deviation === 0);
  return [
    html(
      "p", {class: "note"},
      "The fall of the likeliest word's ln(probability) when only this is cut, " +
        `beside ${
          draws} cuts of other parts of the same kind, drawn at random. A part matters if ` +
        "few of these reach as far." +
        (isPoor ? " All alike: there is only one other such part, so this says little." : "")),
    tableElement({
      title: "What each cut does",
      columns: ["cut", "fall", "random: mean", "deviation", "as far"],
      rows,
      hasNames: true
    }),
  ];
}
