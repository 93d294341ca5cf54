// The numbers of a run lie in the page as base64: the bytes of float32 and int32 numbers, one
// tensor after the other. A reference {at, shape} names one of them. Nothing is decoded before it
// is needed.

class Damaged extends Error {}

const cutFile =
  "The recording in this file is damaged, as if the file had been cut. Make it again with " +
  "tapestry explore.";

class Block {
  #id;
  #bytes = null;

  // The id of an element of the page, or the bytes themselves (a Uint8Array).
  constructor(from) {
    if (typeof from === "string")
      this.#id = from;
    else
      this.#bytes = from;
  }

  floats(ref) {
    return this.#numbers(ref, Float32Array);
  }

  ints(ref) {
    return this.#numbers(ref, Int32Array);
  }

  #numbers(ref, Kind) {
    const count = ref.shape.reduce((product, n) => product * n, 1);
    this.#bytes ??= decoded(this.#id);
    const inside = Number.isInteger(ref.at) && ref.at >= 0 && ref.at % 4 === 0 &&
      ref.at + 4 * count <= this.#bytes.length;
    if (!inside) throw new Damaged(cutFile);
    return new Kind(this.#bytes.buffer, ref.at, count);
  }
}

function decoded(id) {
  const element = document.getElementById(id);
  if (!element) throw new Damaged(cutFile);
  let text = "";
  try {
    text = atob(element.textContent);
  } catch {
    throw new Damaged(cutFile);
  }
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}
