// The arithmetic of attention, as src/attention does it, here in double precision.

function product(q, k) {
  let sum = 0;
  for (let d = 0; d < q.length; ++d) sum += q[d] * k[d];
  return sum;
}

// The steps from query i and key j to their score.
function scoreSteps(run, layer, head, i, j) {
  const {scale, softcap} = run.attention(layer);
  const sum = product(run.query(layer, head, i), run.key(layer, head, j));
  const scaled = sum * scale;
  const capped = softcap > 0 ? softcap * Math.tanh(scaled / softcap) : scaled;
  const bias = run.bias(layer, head, i, j);
  return {sum, scaled, capped, bias, score: capped + bias, seen: run.sees(layer, i, j)};
}

// Scores of a query on all keys; -Infinity where the mask hides the key.
function scoreRow(run, layer, head, i) {
  const row = new Float64Array(run.length).fill(-Infinity);
  for (let j = 0; j < run.length; ++j) {
    if (run.sees(layer, i, j)) row[j] = scoreSteps(run, layer, head, i, j).score;
  }
  return row;
}

// exp(score - the highest score): the same weights as exp(score), but nothing overflows.
function exponentials(scores) {
  const highest = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  return scores.map((score) => (score === -Infinity ? 0 : Math.exp(score - highest)));
}

function softmaxRow(run, layer, head, i) {
  const up = exponentials(scoreRow(run, layer, head, i));
  const sum = up.reduce((a, b) => a + b, 0);
  return up.map((x) => x / sum);
}

// The key with the largest weight.
function strongest(row) {
  let best = 0;
  row.forEach((w, j) => {
    if (w > row[best]) best = j;
  });
  return best;
}
