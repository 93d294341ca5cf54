// How numbers and words are printed.

// x with so many digits after the point, as the library prints it: a number half way between two
// goes to the even one (toFixed would take the larger: 1/32 is 0.0312 here and 0.0313 there).
// What is rounded to 0 has no sign.
const fixed = (x, digits) =>
  Number.isFinite(x) ? rounded(x, digits).replace(/^-(?=[0.]*$)/, "") : "–";

function rounded(x, digits) {
  const power = 10 ** digits, twice = x * power * 2;
  const half = Number.isInteger(twice) && Math.abs(twice % 2) === 1;
  if (!half) return x.toFixed(digits);
  const below = Math.floor(x * power);
  return ((below % 2 === 0 ? below : below + 1) / power).toFixed(digits);
}

const four = (x) => fixed(x, 4);
const signed = (x) => (x > 0 && /[1-9]/.test(four(x)) ? "+" : "") + four(x);
// Parameters and steps: 12,345. (The browser's language must not change what a picture says.)
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const plural = (n, thing) => `${grouped(n)} ${thing}${n === 1 ? "" : "s"}`;

const segmenter = "Segmenter" in Intl ? new Intl.Segmenter() : null;

// Letters as a reader counts them: an accent or the parts of an emoji are not cut off.
function letters(word) {
  return segmenter ? Array.from(segmenter.segment(word), (part) => part.segment) : [...word];
}

// At most `count` letters of a word. What is shown nowhere else gets a name.
function short(word, count = 24) {
  if (word === "") return "(empty)";
  if (word.length <= count) return word;
  const all = letters(word.slice(0, 40 * count));
  return all.length <= count && word.length <= 40 * count ? word :
                                                            all.slice(0, count - 1).join("") + "…";
}

// Text in which a word stands among others. Isolates keep a word that is written from right to
// left, or has marks of direction, from turning its neighbours round.
const turning = new RegExp(
  "[\\u0590-\\u08ff\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ufb1d-\\ufdff\\ufe70-\\ufeff]" +
  "|[\\ud802\\ud803\\ud83a\\ud83b]");
const isolated = (word) => (turning.test(word) ? `\u2068${short(word)}\u2069` : short(word));
const place = (run, i) => `${isolated(run.words[i])}@${i}`;
