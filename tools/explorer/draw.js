// Making elements, and colours. Text goes in as text, never as markup: words come from files.

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function")
      element.addEventListener(name, value);
    else
      element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// html("button", {type: "button", click: f}, "text", element, ...)
const html = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// A word of a text, kept apart from the direction of what stands around it.
const wordElement = (word, count = 24) => html(
  "bdi", {class: "word", title: word.length > count ? word.slice(0, 400) : null},
  short(word, count));

// A number with the float32 behind its digits.
const numberElement = (x, digits = 4, attributes = {}) =>
  html("span", {class: "number", "data-value": String(x), ...attributes}, fixed(x, digits));

const byId = (id) => document.getElementById(id);

// Paints: everything a picture needs, as fixed colours, since a saved picture has no style sheet.
// `heads` are Okabe and Ito's colours, which colour-blind people can tell apart; the light ones are
// darker on paper and the dark ones lighter.
const paints = {
  light: {
    paper: "#ffffff",
    ink: "#18212b",
    soft: "#566270",
    line: "#c9d1da",
    hidden: "#eef0f3",
    hatch: "#b9c1ca",
    mark: "#d1361b",
    ramp: ["#f5f9fd", "#c6dcef", "#7fb2da", "#3577b8", "#08366f"],
    less: ["#ffffff", "#d9cfe8", "#a792cb", "#6f4fa6", "#46207c"],
    more: ["#ffffff", "#fbd9b0", "#f0a44f", "#c86a0d", "#7d3f04"],
    heads: ["#0072b2", "#d55e00", "#009e73", "#b75c93", "#b98200", "#3d9bd0", "#7a6a00", "#444b54"],
  },
  dark: {
    paper: "#12171d",
    ink: "#e8edf2",
    soft: "#a3afbb",
    line: "#37424e",
    hidden: "#1b222a",
    hatch: "#4a5764",
    mark: "#ffb454",
    ramp: ["#17202a", "#1d4266", "#2a6ea6", "#62a8dd", "#e3f1fd"],
    less: ["#12171d", "#3b2c58", "#674b9c", "#9d83d4", "#e0d5fb"],
    more: ["#12171d", "#553410", "#9a5c12", "#e0953a", "#ffe1b8"],
    heads: ["#56b4e9", "#ff8a3d", "#2fc79a", "#e39bc5", "#f0c43c", "#7f9cff", "#d8d06a", "#c3cad2"],
  },
};

const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
const colourOf = (parts) =>
  "#" + parts.map((x) => Math.round(x).toString(16).padStart(2, "0")).join("");

// The colour at x in [0, 1] between the colours of a ramp; 256 steps, made once.
const tables = new Map();
function shade(ramp, x) {
  if (!tables.has(ramp)) tables.set(ramp, Array.from({length: 256}, (_, i) => between(ramp, i)));
  return tables.get(ramp)[Math.round(255 * Math.min(1, Math.max(0, x || 0)))];
}

function between(ramp, step) {
  const at = (step / 255) * (ramp.length - 1), first = Math.min(Math.floor(at), ramp.length - 2);
  const a = channels(ramp[first]), b = channels(ramp[first + 1]);
  return colourOf(a.map((x, i) => x + (b[i] - x) * (at - first)));
}

// The colour of a difference, x in [-1, 1].
const twoSided = (paint, x) => shade(x < 0 ? paint.less : paint.more, Math.abs(x));

// Black or white, whichever has the larger contrast to a colour (WCAG 2, relative luminance).
const inkOn = (colour) =>
  contrast(colour, "#000000") > contrast(colour, "#ffffff") ? "#000000" : "#ffffff";

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour) {
  const [r, g, b] =
    channels(colour).map((x) => x <= 10 ? x / 3294.6 : ((x / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Text in a picture. Its letters run as they do in any language; what follows it does not turn.
const label = (x, y, text, attributes = {}) => svg("text", {x, y, ...attributes}, text);

const font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

function picture(width, height, paint, attributes = {}, ...children) {
  return svg(
    "svg", {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "font-family": font,
      "font-size": 13,
      fill: paint.ink,
      ...attributes,
    },
    ...children);
}

// As much of a word as fits into so many pixels.
const ruler = document.createElement("canvas").getContext("2d");
const fitted = new Map();
function fit(word, width, size = 13) {
  const key = `${width}.${size}.${word.slice(0, 200)}`;
  if (!fitted.has(key)) {
    if (fitted.size > 20000) fitted.clear();
    fitted.set(key, measured(word, width, size));
  }
  return fitted.get(key);
}

function measured(word, width, size) {
  ruler.font = `${size}px ${font}`;
  const isFit = (text) => ruler.measureText(text).width <= width;
  const text = short(word, 60);
  if (isFit(text)) return text;
  const all = letters(text);
  while (all.length > 1 && !isFit(all.join("") + "…")) all.pop();
  return all.join("") + "…";
}
