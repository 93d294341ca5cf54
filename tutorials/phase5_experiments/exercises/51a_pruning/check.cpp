#include <algorithm>
#include <cmath>

#include "course/exercise.hpp"
#include "phase5.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::cost_alone) cost_alone;
decltype(learn::pruning_order) pruning_order;
}  // namespace solution

namespace {

using Cost = std::function<decltype(learn::cost_alone)>;
using Order = std::function<decltype(learn::pruning_order)>;
using Heads = std::vector<bool>;

// The loss by a table: of single heads, and of pairs that are both gone.
HeadLoss loss_of(const Tensor& costs) {
  return [=](const Heads& kept) {
    const Index heads = costs.size(0);
    if (Index(kept.size()) != heads) throw Error("loss: kept needs an element for each head");
    double loss = 1;
    for (Index place = 0; place < heads * heads; ++place) {
      const Index a = place / heads, b = place % heads;
      const bool gone = !kept[std::size_t(a)] && !kept[std::size_t(b)];
      if (gone) loss += double{costs.at({a, b})};
    }
    return loss;
  };
}

Attempt both(const Cost& cost, const Order& order) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const HeadLoss loss = loss_of(in[0].value);
    const Index heads = in[0].value.size(0);
    const std::vector<Index> found = order(loss, heads);
    Tensor as_numbers = Tensor::zeros({Index(found.size())});  // (heads)
    for (std::size_t i = 0; i < found.size(); ++i) as_numbers.set({Index(i)}, double(found[i]));
    return {{"cost alone", cost(loss, heads)}, {"order", as_numbers}};
  };
}

enum Kind { right, negative, stay_out, only_it, whole_loss, once, dearest, last_first, again };

Heads all(Index heads, bool kept = true) { return Heads(std::size_t(heads), kept); }

// Heads are taken out and put back.
Cost cost_in_place(Kind kind) {
  return [=](const HeadLoss& loss, Index heads) {
    Tensor costs = Tensor::zeros({heads});  // (heads)
    Heads kept = all(heads, kind != only_it);
    for (Index h = 0; h < heads; ++h) {
      kept[std::size_t(h)].flip();
      const double cost = loss(kept) - (kind == whole_loss ? 0 : loss(all(heads)));
      costs.set({h}, kind == negative ? -cost : cost);
      if (kind != stay_out) kept[std::size_t(h)].flip();
    }
    return costs;
  };
}

// A set of its own for each head.
Cost cost_by_sets(Kind kind) {
  return [=](const HeadLoss& loss, Index heads) {
    Tensor losses = Tensor::zeros({heads});  // (heads)
    for (Index h = 0; h < heads; ++h) {
      Heads kept;
      for (Index other = 0; other < heads; ++other) {
        const bool is_gone = kind == stay_out ? other <= h : other == h;
        kept.push_back(kind == only_it ? is_gone : !is_gone);
      }
      losses.set({h}, loss(kept));
    }
    if (kind == whole_loss) return losses;
    const double whole = loss(all(heads));
    return kind == negative ? whole - losses : losses - whole;  // (heads)
  };
}

// The heads that are left are sorted anew each time, or only once.
Order order_by_sorting(Kind kind) {
  return [=](const HeadLoss& loss, Index heads) {
    Heads kept = all(heads);
    std::vector<Index> order;
    while (Index(order.size()) < heads) {
      std::vector<std::pair<double, Index>> left;
      for (Index h = 0; h < heads; ++h) {
        Heads without = kept;
        without[std::size_t(h)] = false;
        if (kept[std::size_t(h)] || kind == again) left.emplace_back(loss(without), h);
      }
      std::sort(left.begin(), left.end());
      if (kind == dearest) std::reverse(left.begin(), left.end());
      for (std::size_t i = 0; i < (kind == once ? left.size() : 1); ++i) {
        order.push_back(left[i].second);
        kept[std::size_t(order.back())] = false;
      }
    }
    if (kind == last_first) std::reverse(order.begin(), order.end());
    return order;
  };
}

// By the set of heads that are gone, whose losses are all tried.
Order order_by_search(Kind kind) {
  return [=](const HeadLoss& loss, Index heads) {
    std::vector<Index> order, left;
    for (Index h = 0; h < heads; ++h) left.push_back(h);
    while (Index(order.size()) < heads) {
      const auto without = [&](Index h) {
        Heads kept = all(heads);
        kept[std::size_t(h)] = false;
        for (const Index gone : order) kept[std::size_t(gone)] = kind == once;
        return kind == dearest ? -loss(kept) : loss(kept);
      };
      const auto next = std::min_element(left.begin(), left.end(),
                                         [&](Index a, Index b) { return without(a) < without(b); });
      order.push_back(*next);
      if (kind != again) left.erase(next);
    }
    if (kind == last_first) return std::vector<Index>(order.rbegin(), order.rend());
    return order;
  };
}

KnownMistake known(Kind cost, Kind order, const char* name, const char* sentence) {
  return {name, sentence, both(cost_in_place(cost), order_by_sorting(order)),
          both(cost_by_sets(cost), order_by_search(order))};
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return known(kind, kind, name, sentence);
}

// Two heads do the same: cheap alone, dear together. The others each cost something of their own.
NamedTensors inputs(Random& random, Index size) {
  const Index heads = size < 3 ? 3 : 2 + size / 2 + random.randint(2);
  const std::vector<Index> places = random.permutation(heads);
  Tensor costs = Tensor::zeros({heads, heads});  // (heads, heads)
  for (Index i = 0; i < heads; ++i) {
    const double own = i < 2 ? 0.1 + 0.1 * double(i) : 0.5 + 0.3 * double(i) * random.uniform();
    costs.set({places[std::size_t(i)], places[std::size_t(i)]}, own);
  }
  costs.set({places[0], places[1]}, 3 + random.uniform());
  return {{"costs of removing, alone and together", costs}};
}

const std::vector<KnownMistake> mistakes = {
    known(negative, "the wrong sign",
          "The costs are loss(all) - loss(all but h). The loss grows when a head is missed; a cost "
          "is above 0 then."),
    known(stay_out, "heads that stay out",
          "In cost_alone, a head that was removed is not put back before the next one is measured. "
          "The later heads are charged for the earlier ones."),
    known(only_it, "each head on its own",
          "In cost_alone, head h is the only one that is kept. The question was what the others "
          "lack without it: all but h are kept."),
    known(whole_loss, "the loss, not what it grows by",
          "The costs are loss(all but h). The loss of the whole model has to be subtracted."),
    known(once, "measured once",
          "The order is that of the costs alone. Two heads that do the same are both cheap alone, "
          "and both removed early; when the first is gone, the second is dear. Measure anew after "
          "each removal."),
    known(dearest, "the dearest head first",
          "Each time the head was removed without which the loss is greatest. Remove the one that "
          "is missed least."),
    known(again, "heads that go twice",
          "The same head is removed again and again: without a head that is gone already, the "
          "loss does not grow. Skip heads that are gone."),
    known(last_first, "the order from its end",
          "The head that went last stands first; the first one to go has to."),
    known(negative, dearest, "two: the wrong sign, and the dearest head first",
          "The costs are loss(all) - loss(all but h): a cost is above 0 when the loss grows. And "
          "each time the head was removed that is missed most."),
    known(whole_loss, once, "two: the loss itself, and measured once",
          "The costs lack - loss(all). And the order is that of the costs alone: measure anew "
          "after each removal.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = both(learn::cost_alone, learn::pruning_order),
       .right = {both(solution::cost_alone, solution::pruning_order),
                 both(cost_in_place(right), order_by_sorting(right)),
                 both(cost_by_sets(right), order_by_search(right))},
       .mistakes = mistakes,
       .hints = {"cost_alone: a loop over heads; remove one, ask for the loss, put it "
                 "back. pruning_order: such a loop inside another, which removes for good.",
                 "In the inner loop skip heads that are gone, and remember the smallest "
                 "loss and its head. After it: kept[best] = false, order.push_back(best).",
                 "while (Index(order.size()) < heads) { ... for each h with kept[h]: "
                 "kept[h] = false; without = loss(kept); kept[h] = true; ... }"}},
      count, arguments);
}
