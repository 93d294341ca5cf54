// The engine's worker. Emscripten's script, which defines makeEngine, stands before this one in the
// same text: a page from a folder may start no worker from a file, and no second script in it.
//
// The first message is the code of the engine, {code: ArrayBuffer}. Each later one is a request,
// {id, request, files: [{path, bytes}], read: path}, answered in order by {id, answer, blocks, bytes}:
// files are written before the call, and `read`, a field of the answer that holds a path, is read
// after it. An engine that fails for good answers {fatal: why}.
"use strict";

let engine = null;

async function begin(code) {
  // Its own words about errors go to nobody: what matters is in the answers.
  engine = await makeEngine({wasmBinary: code, print() {}, printErr() {}});
  return ask({call: "about"});
}

function ask(request) {
  const text = JSON.stringify(request), size = engine.lengthBytesUTF8(text) + 1;
  const place = engine._malloc(size);
  engine.stringToUTF8(text, place, size);
  const answer = JSON.parse(engine.UTF8ToString(engine._tapestry_call(place)));
  engine._free(place);
  return answer;
}

function blocks() {
  return Array.from({length: engine._tapestry_block_count()}, (_, i) => {
    const at = engine._tapestry_block(i);
    return engine.HEAPU8.slice(at, at + engine._tapestry_block_size(i)).buffer;
  });
}

function write({path, bytes}) {
  engine.FS.mkdirTree(path.replace(/\/[^/]*$/, "") || "/");
  engine.FS.writeFile(path, new Uint8Array(bytes));
}

function answered({id, request, files = [], read}) {
  files.forEach(write);
  const answer = ask(request), found = blocks();
  const bytes = read && answer[read] ? engine.FS.readFile(answer[read]).buffer : null;
  postMessage({id, answer, blocks: found, bytes}, bytes ? [...found, bytes] : found);
}

onmessage = async ({data}) => {
  try {
    if (data.code) return postMessage({ready: await begin(data.code)});
    answered(data);
  } catch (error) {
    postMessage({fatal: String(error?.message ?? error)});
  }
};
