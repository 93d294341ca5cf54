// The pages that the tests open: of which model and texts. `needs` names a folder in MODELS.
"use strict";

const small = (workshop, seed) => workshop.model(`induction${seed}.safetensors`, "induction",
  "--steps", "60", "--seed", String(seed));
const text = "a b c d a b e f a b c";

// Letters of a text of words, drawn by a fixed rule: as long as needed.
function prose(length) {
  const words = ["the", "cat", "sat", "on", "a", "mat", "and", "saw", "two", "red", "dogs"];
  let made = "";
  for (let i = 0; made.length < length; ++i) made += `${words[i * i % 11]} `;
  return made.slice(0, length);
}

// Texts that must stay texts. `server` hears if one does not.
const hostile = (server) => [
  `<script>fetch("${server}/text")</script>`,
  `<img src=${server}/text onerror=alert(1)>`,
  `"><svg/onload='new Image().src="${server}/text"'>`,
  "</script><script>window.foreign=1</script><!-- <![CDATA[ ]]> -->",
  "' \" ` & &lt;b&gt; &#60;i&#62; \\u003c ${1+1} {{1}} javascript:alert(1) %3Cb%3E",
  "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u202etfel\u202c e\u0301\u0300\u0302\u0328 \u0e01\u0e34\u0e49 \ud83d\ude00 \ud83d\udc69\u200d\ud83d\udc67",
  "a\u0001b\u0007c\u001b[31md\u007fe\u200bf\u00adg\ufeffh\u2028i",
];

const recipes = {
  // 2 layers of 4 heads, beside the untrained model.
  small: { make: (workshop) => ({ input: small(workshop, 1), texts: [text] }) },
  // Two texts, and another model beside.
  pair: { make: (workshop) => ({ input: small(workshop, 1), texts: [text, "f e d f e d f e d"],
    options: ["--beside", small(workshop, 2), "--beside", "untrained"] }) },
  // One model, nothing beside it.
  alone: { make: (workshop) => ({ input: small(workshop, 1), texts: ["a"],
    options: ["--beside", "none"] }) },
  hostile: { make: (workshop) => {
    const texts = hostile(workshop.server);
    const book = workshop.write("hostile.txt", texts.join("\n").repeat(20));
    const name = `<img src=x onerror="new Image().src='${workshop.server.slice(7)}'">&amp;.safetensors`;
    const input = workshop.model(name, book, "--steps", "2", "--layers", "1", "--heads", "2",
      "--width", "16", "--length", "100");
    return { input, texts };
  } },
  // 20 words, 2 layers of 4 heads: what the limit of 300 kB is about.
  twenty: { make: (workshop) => {
    const book = workshop.write("prose.txt", prose(3000));
    const input = workshop.model("twenty.safetensors", book, "--steps", "20");
    return { input, texts: [prose(20)], options: ["--beside", "none"] };
  } },
  // 1000 tokens: maps in bins.
  long: { make: (workshop) => {
    const book = workshop.write("long.txt", prose(20000));
    const input = workshop.model("long.safetensors", book, "--steps", "2", "--layers", "2",
      "--heads", "2", "--width", "16", "--length", "1000", "--batch", "2");
    return { input, texts: [prose(1000)] };
  } },
  // Many layers and heads.
  many: { make: (workshop) => ({ input: workshop.model("many.safetensors", "induction", "--steps",
    "2", "--layers", "16", "--heads", "16", "--width", "64"), texts: [text] }) },
  // Real models: key/value heads that are shared; windows and no scale; an encoder.
  shared: { needs: "stories260K", make: (workshop) => ({ input: workshop.real("stories260K"),
    texts: ["Once upon a time, there was a little girl named Lily.",
      "Lily saw a big red ball. The ball was in the"] }) },
  windows: { needs: "gpt_neo-random", make: (workshop) => ({
    input: workshop.real("gpt_neo-random"), texts: ["1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"] }) },
  encoder: { needs: "bert-random", make: (workshop) => ({ input: workshop.real("bert-random"),
    texts: ["1 2 3 4 5 6 7 8"] }) },
};

module.exports = recipes;
