// Step 16. What does the backward pass of attention compute?
//
// New here: the gradients of softmax and of attention, derived by hand, written out, compared with
// the tape's and checked by differences. Then one query learns where to look, by one step.
// Writes out/plots/phase1_gradients.png; takes less than a second.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/gradcheck.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

// ---- By hand. "d" before a name: the gradient of the loss by it, of the same shape.

// weights = softmax(scores): weights (..., n), dweights (..., n) -> dscores (..., n)
Tensor softmax_backward(const Tensor& weights, const Tensor& dweights) {
  return weights * (dweights - sum(weights * dweights, -1, true));
}

struct Slopes {
  Tensor dq, dk, dv;  // shaped like q, k, v
};

// scores = q k^T / sqrt(d_k), weights = softmax(scores), output = weights v
Slopes attention_backward(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& weights,
                          const Tensor& doutput) {
  const double root = std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor dv = matmul(transpose(weights), doutput);       // (keys, d_v)
  const Tensor dweights = matmul(doutput, transpose(v));       // (queries, keys)
  const Tensor dscores = softmax_backward(weights, dweights);  // (queries, keys)
  const Tensor dq = matmul(dscores, k) / root;                 // (queries, d_k)
  const Tensor dk = matmul(transpose(dscores), q) / root;      // (keys, d_k)
  return {dq, dk, dv};
}

const char* verdict(double difference) {
  return difference < 1e-5 ? "less than 1e-5" : "MORE THAN 1e-5";
}

// Softmax has n^2 slopes, d weights[i] / d scores[j] = weights[i] * (i == j) - weights[i]
// weights[j]. The formula above is their product with the gradient, without the matrix.
void one_row() {
  const Tensor scores({3}, {1, 2, 0});             // (3)
  const Tensor dweights({3}, {0.5, -1, 2});        // (3): any gradient that arrives
  const Tensor weights = softmax(scores);          // (3)
  const Tensor column = reshape(weights, {3, 1});  // (3, 1)
  const Tensor slopes = Tensor::eye(3) * column - matmul(column, transpose(column));  // (3, 3)
  const Tensor by_matrix = reshape(matmul(slopes, reshape(dweights, {3, 1})), {3});   // (3)
  const Tensor by_formula = softmax_backward(weights, dweights);                      // (3)
  Tape tape({scores});
  const Tensor by_tape = tape.backward(softmax(scores), dweights)[scores];  // (3)
  std::cout << "1. Softmax of three scores\n"
            << "weights     " << to_string(weights, 4) << "\n"
            << "slopes      " << to_string(slopes, 4) << "\n"
            << "dweights    " << to_string(dweights, 4) << "\n"
            << "by matrix   " << to_string(by_matrix, 4) << "\n"
            << "by formula  " << to_string(by_formula, 4) << "\n"
            << "by the tape " << to_string(by_tape, 4) << "\n\n";
}

// A record of its own, with the backward pass above; `forgets`: without the sum over the row.
Tensor attention_by_hand(const Tensor& q, const Tensor& k, const Tensor& v, bool forgets = false) {
  const Attention made = attention(q.detach(), k.detach(), v.detach());
  return Tape::record(
      "attention_by_hand", {q, k, v}, made.output,
      [q = Tape::save(q), k = Tape::save(k), v = Tape::save(v), weights = Tape::save(made.weights),
       forgets](const Tensor& dy, GradientSink& to) {
        Slopes slopes = attention_backward(q, k, v, weights, dy);
        if (forgets) {
          const Tensor wrong = weights * matmul(dy, transpose(v));  // (queries, keys)
          slopes.dq = matmul(wrong, k) / std::sqrt(static_cast<double>(k.size(-1)));
        }
        to.accumulate(0, slopes.dq);
        to.accumulate(1, slopes.dk);
        to.accumulate(2, slopes.dv);
      });
}

void whole_attention() {
  Random random(42);
  const Tensor q = random.normal({5, 8}), k = random.normal({7, 8});  // (5, 8), (7, 8)
  const Tensor v = random.normal({7, 3});                             // (7, 3)
  const Tensor doutput = random.normal({5, 3});                       // (5, 3)
  const Slopes hand = attention_backward(q, k, v, attention(q, k, v).weights, doutput);
  Tape tape({q, k, v});
  const Gradients by_tape = tape.backward(attention(q, k, v).output, doutput);
  std::printf("2. Attention: 5 queries, 7 keys, d_k = 8, d_v = 3; by hand and by the tape\n");
  std::printf("dq differs by %s\n", verdict(largest_difference(hand.dq, by_tape[q])));
  std::printf("dk differs by %s\n", verdict(largest_difference(hand.dk, by_tape[k])));
  std::printf("dv differs by %s\n", verdict(largest_difference(hand.dv, by_tape[v])));
  for (const bool forgets : {false, true}) {
    const GradcheckResult result = gradcheck(
        [&](const std::vector<Tensor>& in) {
          return attention_by_hand(in[0], in[1], in[2], forgets);  // (5, 3)
        },
        {q, k, v});
    std::printf("%s%s\n", forgets ? "gradcheck, dq without the sum:\n" : "gradcheck: ",
                result ? "passed" : result.message.c_str());
  }
}

const std::vector<std::string> words = {"the", "cat", "sat", "on", "the", "mat"};

void draw(plot::Canvas& canvas, const Tensor& dscores, const Tensor& weights, const Tensor& after) {
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 2);
  plot::BarChart moves{.title = "Gradient of each score of \"sat\""};
  moves.y_axis.name = "dloss / dscore";
  moves.labels = words;
  moves.series = {{"", doubles(dscores), plot::theme::faded}};
  plot::draw(canvas, panels[0], moves);
  plot::BarChart chart{.title = "Weights before and after one step"};
  chart.y_axis.name = "weight";
  chart.labels = words;
  chart.series = {{"before", doubles(weights)}, {"after", doubles(after)}};
  plot::draw(canvas, panels[1], chart);
}

// The query "sat" of step 11: scores and values as there. Its output should be (1, 0), which is
// the value of "cat".
void one_query(plot::Canvas& canvas) {
  const Tensor scores({1, 6}, {0.4, 1.6, 0.75, 0.25, 0.35, 1.05});                       // (1, 6)
  const Tensor v({6, 2}, {0.0, 0.1, 1.0, 0.0, 0.2, 0.2, 0.0, 0.3, 0.0, 0.1, 0.1, 1.0});  // (6, 2)
  const Tensor wanted({1, 2}, {1, 0});                                                   // (1, 2)
  const Tensor weights = softmax(scores);                                                // (1, 6)
  const Tensor error = matmul(weights, v) - wanted;                                      // (1, 2)
  const Tensor dweights = matmul(2 * error, transpose(v));     // (1, 6): loss = sum of error^2
  const Tensor dscores = softmax_backward(weights, dweights);  // (1, 6)
  const Tensor after = softmax(scores - 2 * dscores);          // (1, 6)
  const Tensor error_after = matmul(after, v) - wanted;        // (1, 2)
  std::printf("\n3. The query \"sat\" of step 11 should answer (1, 0); learning rate 2\n");
  std::printf("      weight  dweight   dscore   weight after one step\n");
  for (Index j = 0; j < 6; ++j) {
    std::printf("%-4s %7.3f %8.3f %8.3f %10.3f\n", words[static_cast<std::size_t>(j)].c_str(),
                weights.at({0, j}), dweights.at({0, j}), dscores.at({0, j}), after.at({0, j}));
  }
  std::printf("mean of dweight, weighted %.3f; sum of dscore %.3f; loss %.3f, after %.3f\n",
              sum(weights * dweights).item(), std::abs(sum(dscores).item()),
              sum(error * error).item(), sum(error_after * error_after).item());
  std::printf("\nIt should answer (0.1, 1) instead, the value of \"mat\"; scores multiplied\n");
  for (const double factor : {1.0, 4.0, 16.0}) {
    const Tensor sharp = softmax(scores * factor);                             // (1, 6)
    const Tensor miss = matmul(sharp, v) - Tensor({1, 2}, {0.1, 1});           // (1, 2)
    const Tensor d = softmax_backward(sharp, matmul(2 * miss, transpose(v)));  // (1, 6)
    std::printf(
        "times %2.0f: weight of cat %.4f, loss %.3f, largest |dscore| %.4f, "
        "before the factor %.4f\n",
        factor, sharp.at({0, 1}), sum(miss * miss).item(), max(abs(d)).item(),
        factor * max(abs(d)).item());
  }
  draw(canvas, dscores, weights, after);
}

}  // namespace

int main() try {
  std::cout << "Step 16: gradients by hand (takes less than a second)\n\n";
  one_row();
  whole_attention();
  plot::Canvas canvas(1200, 400);
  one_query(canvas);
  plot::write_png(canvas, "out/plots/phase1_gradients.png");
  std::cout << "\nwrote out/plots/phase1_gradients.png\n";
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
