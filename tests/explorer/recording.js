// Reads the recording in a page file, without the page's own scripts: what the tests compare with.
"use strict";
const fs = require("node:fs");

class Recording {
  constructor(file) {
    this.html = fs.readFileSync(file, "utf8");
    this.json = JSON.parse(this.element("recording"));
    this.blocks = [];
    Object.assign(this, this.json);
  }

  // The text of the script element with that id.
  element(id) {
    const begin = this.html.search(new RegExp(`<script type="[a-z/]*" id="${id}">`));
    if (begin < 0) throw new Error(`the page has no element ${id}`);
    return this.html.slice(this.html.indexOf(">", begin) + 1, this.html.indexOf("</script", begin));
  }

  run(model, text) {
    return this.runs.find((run) => run.model === model && run.text === text);
  }

  // The numbers of a ref of a run: floats, or int32.
  numbers(run, {at, shape}, kind = Float32Array) {
    if (!this.blocks[run.numbers]) {
      const bytes = Buffer.from(this.element(`numbers-${run.numbers}`), "base64");
      this.blocks[run.numbers] =
        bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    }
    return new kind(this.blocks[run.numbers], at, shape.reduce((a, b) => a * b, 1));
  }

  // The weight that query i gives to key j.
  weight(run, layer, head, i, j) {
    const {causal} = this.models[run.model], length = this.texts[run.text].words.length;
    const ref = run.layers[layer].weights;
    if (causal && j > i) return 0;
    const cell = causal ? i * (i + 1) / 2 + j : i * length + j;
    return this.numbers(run, ref)[head * ref.shape[1] + cell];
  }
}

module.exports = {Recording};
