// The source of all numbers. The views ask a source and its runs, and know nothing of how the
// numbers are kept. A source has models, texts, patterns (names) and run(model, text): what one
// model computed for one text, or null. This one reads the recording in the page.

class RecordedSource {
  #recording;
  #runs = new Map();

  constructor(recording) {
    this.#recording = recording;
    this.models = recording.models;
    this.texts = recording.texts;
    this.patterns = recording.patterns;
    this.program = recording.program;
    for (const run of recording.runs) this.#runs.set(`${run.model}.${run.text}`, run);
  }

  // The run is made when it is first asked for.
  run(model, text) {
    const key = `${model}.${text}`, found = this.#runs.get(key);
    if (!found || found instanceof Run) return found ?? null;
    const about = this.models[model];
    const block = new Block(`numbers-${found.numbers}`);
    const run = new Run(found, about, this.texts[text], this.#recording.words, block);
    if (about.kind === "snapshot") run.learned = this.run(about.of, text);
    this.#runs.set(key, run);
    return run;
  }

  // What was computed since: numbers (a Block) of a run that `data` describes, with the words that
  // it refers to. It takes the place of an earlier one.
  setRun(model, text, data, words, block) {
    const run = new Run(data, this.models[model], this.texts[text], words, block);
    this.#runs.set(`${model}.${text}`, run);
  }

  // Forgets the runs of a model, or of a text.
  forget({model = null, text = null}) {
    for (const key of [...this.#runs.keys()]) {
      const [ofModel, ofText] = key.split(".").map(Number);
      if (ofModel === model || ofText === text) this.#runs.delete(key);
    }
  }
}

// The recording of the page; throws Damaged.
function readRecording() {
  try {
    const source = JSON.parse(document.getElementById("recording").textContent);
    if (source.format !== 1) {
      throw new Damaged(
        "This page and its recording do not fit together: format " +
        `${source.format} instead of 1.`);
    }
    return new RecordedSource(source);
  } catch (error) {
    throw error instanceof Damaged ? error : new Damaged(cutFile);
  }
}

const bins = 64;  // of a pooled map

// What one model computed for one text of `length` words. Layers, heads and positions count from 0.
class Run {
  #data;
  #block;
  #vocabulary;
  #computed = new Map();  // rows of weights that are not recorded
  #pools = new Map();

  constructor(data, model, text, vocabulary, block) {
    this.#data = data;
    this.#block = block;
    this.#vocabulary = vocabulary;
    this.model = model;
    this.text = text;
    this.words = text.words;
    this.length = text.words.length;
    this.learned = null;  // of a step of training: the run of the model in the end
  }

  has(layer, head) {
    return layer < this.model.layers && head < this.model.heads;
  }

  // ---- vectors of one position
  query(layer, head, i) {
    return this.#row(this.#data.layers[layer].query, head, i);
  }

  key(layer, head, i) {
    return this.#row(this.#data.layers[layer].key, this.#group(head), i);
  }

  value(layer, head, i) {
    return this.#row(this.#data.layers[layer].value, this.#group(head), i);
  }

  // Several query heads may share the keys and values of one group.
  #group(head) {
    return Math.floor((head * this.model.groups) / this.model.heads);
  }

  #row(ref, head, i) {
    const width = ref.shape[2], from = (head * this.length + i) * width;
    return this.#block.floats(ref).subarray(from, from + width);
  }

  // ---- weights
  attention(layer) {
    return this.model.attention[layer];
  }

  // Added to the score for the distance of two positions; 0 without one.
  bias(layer, head, i, j) {
    const ref = this.#data.layers[layer].bias;
    if (!ref) return 0;
    return this.#block.floats(ref)[head * (2 * this.length - 1) + j - i + this.length - 1];
  }

  hasBias(layer) {
    return Boolean(this.#data.layers[layer].bias);
  }

  sees(layer, i, j) {
    const window = this.attention(layer).window;
    return !(this.model.causal && j > i) && !(window > 0 && Math.abs(i - j) >= window);
  }

  // Whether it was measured what models reach that learned nothing.
  get hasBaselines() {
    return this.#data.layers.some(
      (layer) => layer.patterns.some((head) => head.some((one) => one.untrained)));
  }

  isRecorded(layer) {
    return Boolean(this.#data.layers[layer].weights);
  }

  // The weights of query i on all keys; masked ones are 0. The model's own where they are recorded,
  // else computed from queries and keys.
  row(layer, head, i) {
    const n = this.length, ref = this.#data.layers[layer].weights;
    if (!ref) return this.#computedRow(layer, head, i);
    const all = this.#block.floats(ref), size = ref.shape[1];
    if (!this.model.causal) return all.subarray(head * size + i * n, head * size + (i + 1) * n);
    const row = new Float32Array(n), from = head * size + (i * (i + 1)) / 2;
    row.set(all.subarray(from, from + i + 1));
    return row;
  }

  weight(layer, head, i, j) {
    const ref = this.#data.layers[layer].weights;
    if (!ref) return this.#computedRow(layer, head, i)[j];
    if (this.model.causal && j > i) return 0;
    const from = this.model.causal ? (i * (i + 1)) / 2 : i * this.length;
    return this.#block.floats(ref)[head * ref.shape[1] + from + j];
  }

  #computedRow(layer, head, i) {
    const key = (layer * this.model.heads + head) * this.length + i;
    if (this.#computed.size > 4096) this.#computed.clear();
    if (!this.#computed.has(key)) {
      this.#computed.set(key, softmaxRow(this, layer, head, i).map(Math.fround));
    }
    return this.#computed.get(key);
  }

  // 64 x 64 numbers: the mean over the queries of a bin of the weight on all keys of a bin.
  pooled(layer, head) {
    const ref = this.#data.layers[layer].pooled;
    if (ref) return this.#block.floats(ref).subarray(head * bins * bins, (head + 1) * bins * bins);
    const key = layer * this.model.heads + head;
    if (!this.#pools.has(key)) this.#pools.set(key, this.#pool(layer, head));
    return this.#pools.get(key);
  }

  #pool(layer, head) {
    const result = new Float32Array(bins * bins), n = this.length;
    for (let b = 0; b < bins; ++b) {
      const [first, last] = this.bin(b);
      for (let i = first; i <= last; ++i) {
        this.row(layer, head, i).forEach((w, j) => {
          result[b * bins + Math.floor((j * bins + bins - 1) / n)] += w / (last - first + 1);
        });
      }
    }
    return result;
  }

  // First and last position of a bin.
  bin(b) {
    return [Math.floor((b * this.length) / bins), Math.floor(((b + 1) * this.length) / bins) - 1];
  }

  // ---- predictions
  get hasNext() {
    return Boolean(this.#data.next);
  }

  // The likeliest words at a position: [{word, probability}].
  next(i) {
    const {words, probabilities} = this.#data.next;
    return this.#ranking(words, probabilities, i);
  }

  // Probability of what really stands there; NaN where nothing follows.
  actual(i) {
    return this.#block.floats(this.#data.next.actual)[i];
  }

  get hasLens() {
    return Boolean(this.#data.lens);
  }

  // What would be said after the embedding (0) and after each layer.
  lens(layer, i) {
    const {words, probabilities} = this.#data.lens;
    return this.#ranking(words, probabilities, layer * this.length + i);
  }

  // After the embedding or a layer: the probability of what the last layer says.
  lensFinal(layer, i) {
    return this.#block.floats(this.#data.lens.final)[layer * this.length + i];
  }

  #ranking(words, probabilities, at) {
    const count = words.shape[words.shape.length - 1];
    const ids = this.#block.ints(words), likely = this.#block.floats(probabilities);
    return Array.from({length: count}, (_, r) => ({
                                         word: this.#vocabulary[ids[at * count + r]] ?? "?",
                                         probability: likely[at * count + r],
                                       }));
  }

  // ---- measures of a head. What untrained models reach is the same at each step of training, and
  // recorded once.
  measures(layer, head) {
    const data = this.#data.layers[layer], learned = this.learned?.measures(layer, head).patterns;
    const patterns = data.patterns[head];
    return {
      entropy: data.entropy[head],
      evenEntropy: data.even_entropy[head],
      distance: data.distance[head],
      evenDistance: data.even_distance[head],
      patterns: learned ? patterns.map((one, p) => ({untrained: learned[p].untrained, ...one})) :
                          patterns,
      name: data.named ? data.named[head] : null,
    };
  }
}
