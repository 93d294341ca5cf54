// What the columns of the scores mean, and the patterns.

const patternMeanings = [
  ["self", "the mean weight of a word on itself"],
  ["previous, next, first word", "the mean weight on that word"],
  ["fixed offset", "the mean weight on the key at another fixed distance, the best one"],
  [
    "induction",
    "the mean weight on the key after the last earlier place of the query's word: in “a b … a” " +
      "the second a looks at b"
  ],
  ["uniform", "1 if all keys have equal weights: the entropy as a share of its largest value"],
  ["sparse", "1 if one key has all the weight, 0 if all have equal weights"],
];

const meanings = [
  ["head", "layer and head, counted from 0; choose one to open it"],
  [
    "name",
    "the pattern the head may be named after, or none: the score must be one half or more, and " +
      "0.2 above untrained models and equal weights. It says where the head looks, not what for"
  ],
  [
    "entropy",
    "how spread the weights of a row are, in nats, the mean over the rows: 0 if all weight " +
      "is on one key; in brackets, what equal weights give"
  ],
  ["distance", "how many positions lie between a query and its keys, on average over the weights"],
  [
    "score",
    "how far the head follows the pattern; ▲: more than two deviations above the untrained " +
      "models, and above equal weights; –: this text cannot show the pattern"
  ],
  [
    "untrained",
    "models of the same sizes with random weights: mean ± deviation. What they reach is " +
      "no result of training"
  ],
  ["equal weights", "the score of a head that spreads its weight over all keys alike"],
  [
    "shuffled",
    "the same model on the words in another order: a head that goes by places scores the " +
      "same, one that goes by words does not"
  ],
  [
    "by word, by place",
    "for induction in shuffled texts: the weight on the key after the same " +
      "word, and on the key at its old place"
  ],
  ["A − B", "in brackets, and as colour, the difference to what stands beside"],
];

function columnMeanings() {
  const list = html("dl", {});
  for (const [term, text] of [...meanings, ...patternMeanings]) {
    list.append(html("dt", {}, term), html("dd", {}, text));
  }
  return html("details", {open: true}, html("summary", {}, "What the columns mean"), list);
}
