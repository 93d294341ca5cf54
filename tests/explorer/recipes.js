// The pages that the tests open: of which model and texts. `needs` names a folder in MODELS.
"use strict";

const small = (workshop, seed) => workshop.model(
  `induction${seed}.safetensors`, "induction", "--steps", "60", "--seed", String(seed));
const text = "a b c d a b e f a b c";

// Letters of a text of words, drawn by a fixed rule: as long as needed.
function prose(length) {
  const words = ["the", "cat", "sat", "on", "a", "mat", "and", "saw", "two", "red", "dogs"];
  let made = "";
  for (let i = 0; made.length < length; ++i) made += `${words[i * i % 11]} `;
  return made.slice(0, length);
}

const story =
  "Once upon a time, there was a little girl named Lily. She had a big red ball. ".repeat(8).trim();

// Texts that must stay texts. `server` hears if one does not.
const hostile = (server) =>
  [`<script>fetch("${server}/text")</script>`,
   `<img src=${server}/text onerror=alert(1)>`,
   `"><svg/onload='new Image().src="${server}/text"'>`,
   "</script><script>window.foreign=1</script><!-- <![CDATA[ ]]> -->",
   "' \" ` & &lt;b&gt; &#60;i&#62; \\u003c ${1+1} {{1}} javascript:alert(1) %3Cb%3E",
   "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u202etfel\u202c e\u0301\u0300\u0302\u0328 " +
     "\u0e01\u0e34\u0e49 \ud83d\ude00 \ud83d\udc69\u200d\ud83d\udc67",
   "a\u0001b\u0007c\u001b[31md\u007fe\u200bf\u00adg\ufeffh\u2028i",
];

const recipes = {
  // 2 layers of 4 heads, beside the untrained model.
  small: {make: (workshop) => ({input: small(workshop, 1), texts: [text]})},
  // The same with the engine, if it was built.
  live: {live: true, make: (workshop) => ({input: small(workshop, 1), texts: [text]})},
  // 20 characters and the engine: what the time from a key to the picture is measured with.
  lively: {
    live: true,
    make: (workshop) => {
      const book = workshop.write("prose.txt", prose(3000));
      const input = workshop.model("twenty.safetensors", book, "--steps", "20");
      return {input, texts: [prose(20)], options: ["--beside", "none"]};
    }
  },
  // A real model and the engine.
  storyteller: {
    live: true,
    needs: "stories260K",
    make: (workshop) => ({
      input: workshop.real("stories260K"),
      texts: ["Once upon a time"],
      options: ["--beside", "none"]
    })
  },
  // Two texts, and another model beside.
  pair: {
    make: (workshop) => ({
      input: small(workshop, 1),
      texts: [text, "f e d f e d f e d"],
      options: ["--beside", small(workshop, 2), "--beside", "untrained"]
    })
  },
  // One model, nothing beside it.
  alone: {
    make: (workshop) => ({input: small(workshop, 1), texts: ["a"], options: ["--beside", "none"]})
  },
  hostile: {
    make: (workshop) => {
      const texts = hostile(workshop.server);
      const book = workshop.write("hostile.txt", texts.join("\n").repeat(20));
      const name =
        `<img src=x onerror="new Image().src='${workshop.server.slice(7)}'">&amp;.safetensors`;
      const input = workshop.model(
        name, book, "--steps", "2", "--layers", "1", "--heads", "2", "--width", "16", "--length",
        "100");
      return {input, texts};
    }
  },
  // 20 words, 2 layers of 4 heads: what the limit of 300 kB is about.
  twenty: {
    make: (workshop) => {
      const book = workshop.write("prose.txt", prose(3000));
      const input = workshop.model("twenty.safetensors", book, "--steps", "20");
      return {input, texts: [prose(20)], options: ["--beside", "none"]};
    }
  },
  // So many layers, heads and tokens that the page holds maps in bins.
  pooled: {
    make: (workshop) => {
      const book = workshop.write("long.txt", prose(6000));
      const input = workshop.model(
        "pooled.safetensors", book, "--steps", "1", "--layers", "16", "--heads", "16", "--width",
        "64", "--length", "140", "--batch", "1");
      return {input, texts: [prose(140)], options: ["--beside", "none"]};
    }
  },
  // 40 snapshots of a training, of 2 layers of 4 heads.
  steps: {
    make: (workshop) => ({
      input:
        workshop.model("steps.safetensors", "induction", "--steps", "200", "--snapshots", "40"),
      texts: [text]
    })
  },
  // Many layers and heads.
  many: {
    make: (workshop) => ({
      input: workshop.model(
        "many.safetensors", "induction", "--steps", "2", "--layers", "16", "--heads", "16",
        "--width", "64"),
      texts: [text]
    })
  },
  // A real model, of which two query heads share keys and values.
  shared: {
    needs: "stories260K",
    make: (workshop) => ({
      input: workshop.real("stories260K"),
      texts: [
        "Once upon a time, there was a little girl named Lily.",
        "Lily saw a big red ball. The ball was in the"
      ]
    })
  },
  // Made-up numbers (made_up.js): an encoder with windows and capped scores, beside a decoder with
  // biases and shared keys, and one that predicts nothing.
  forms:
    {
      models:
        () =>
          [{
            name: "encoder",
            causal: false,
            guess: "hidden",
            layers: 3,
            attention: [{}, {window: 3}, {softcap: 2, scale: 1}]
          },
           {name: "decoder", groups: 2, bias: true, layers: 2, attention: [{window: 4}, {}]},
           {name: "single", layers: 1, heads: 1, groups: 1, guess: "none", single_head: true}],
      texts: () => [prose(60).trim().split(" "), ["one", "word"]]
    },
  // Markup in every word and name of a recording.
  poison: {
    models: ({server}) => ["<script>", "</script>"].map(
      (name) => ({
        layers: 1,
        heads: 2,
        groups: 2,
        name: `${name}<img src=${server}/name onerror="window.foreign=1">`,
        about: `<script>window.foreign=1</script><img src=${server}/about>`,
        unit: "<b>",
        vocabulary:
          Array.from({length: 50}, (_, i) => `<img src=${server}/word${i} onerror=foreign=1>`)
      })),
    texts: ({server}) => [hostile(server), hostile(server).reverse()]
  },
  // Words that a spreadsheet takes for formulas.
  formula: {
    models: () => [{layers: 1, heads: 1, groups: 1}],
    texts: () => [["=1+1", "+2", "-3", "@x", 'a,"b', "-", "c"]]
  },
  // 1000 words: maps in bins, windows.
  endless: {
    models: () => [{layers: 2, heads: 4, groups: 2}],
    texts: () => [prose(4000).trim().split(" ").slice(0, 1000)]
  },
  // A real model on 200 tokens.
  story: {
    needs: "stories260K",
    make: (workshop) => ({input: workshop.real("stories260K"), texts: [story]})
  },
  // Some steps of training, with known losses.
  slider: {
    models: () => [{loss: 0.5}].concat(Array.from(
      {length: 10},
      (_, i) => ({kind: "snapshot", step: 25 * i, loss: 3 / (i + 1), name: `step ${25 * i}`}))),
    texts: () => [prose(60).trim().split(" ").slice(0, 12)]
  },
};

module.exports = recipes;
