#include "course/exercise.hpp"
#include "number_by_number.hpp"
#include "phase1.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::embedding_forward) embedding_forward;
}

namespace {

using LookUp = std::function<decltype(learn::embedding_forward)>;

Indices ids_of(const Tensor& x) {
  const std::vector<real> values = x.values();
  return {x.shape(), std::vector<std::int32_t>(values.begin(), values.end())};
}

Attempt embedded(const LookUp& function) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return {{"result", function(in[0].value, ids_of(in[1].value))}};
  };
}

// Number c of the row of id `id`, which stands at place i, is number where(i, id, c) of the table.
template <class Where>
Attempt by_numbers(Where where) {
  return embedded([=](const Tensor& table, const Indices& ids) {
    const Index n = ids.shape[0], words = table.size(0), d = table.size(1);
    const std::vector<real> numbers = table.values();
    return matrix(n, d,
                  [&](Index i, Index c) {
                    const Index id = ids.values[static_cast<std::size_t>(i)];
                    return numbers[static_cast<std::size_t>(where(i, id, c, words, d))];
                  })
        .tensor();
  });
}

Indices plus_one(Indices ids) {
  for (std::int32_t& id : ids.values) ++id;
  return ids;
}

Tensor by_one_hot(const Tensor& table, const Indices& ids) {
  Tensor chosen = Tensor::zeros({ids.shape[0], table.size(0)});  // (n, words)
  for (Index i = 0; i < ids.shape[0]; ++i) {
    chosen.set({i, ids.values[static_cast<std::size_t>(i)]}, 1);
  }
  return matmul(chosen, table);  // (n, d)
}

// Windows of d numbers: row i of the result begins at number ids_i of the table.
Tensor windows(const Tensor& table, const Indices& ids) {
  const Tensor flat = reshape(table, {-1});  // (words d)
  std::vector<Tensor> rows;                  // (d) each
  for (const Index id : ids.values) rows.push_back(slice(flat, 0, id, id + table.size(1)));
  return stack(rows, 0);  // (n, d)
}

Tensor by_columns(const Tensor& table, const Indices& ids) {
  const Tensor turned = transpose(reshape(table, {table.size(1), table.size(0)}));  // (words, d)
  return embedding(turned, ids);                                                    // (n, d)
}

// Neither the first nor the last id occurs, so that a row before or after can be read.
NamedTensors inputs(Random& random, Index size) {
  const Index words = size + 4, d = size + 1, n = size + 1 + random.randint(2);
  Tensor ids = Tensor::zeros({n});  // (n)
  for (Index i = 0; i < n; ++i) {
    ids.set({i}, static_cast<double>(words - 2 - random.randint(words - 2)));
  }
  return {{"table", random.normal({words, d})}, {"ids", ids}};
}

const std::vector<KnownMistake> mistakes = {
    {"the row of the place",
     "Row i of the result is row i of the table: the ids are not used. It has to be row ids_i.",
     by_numbers([](Index i, Index, Index c, Index, Index d) { return i * d + c; }),
     embedded([](auto& table, auto& ids) { return slice(table, 0, 0, ids.shape[0]); })},
    {"begun at number id",
     "A word's vector begins at number id of the table, as if rows were one number long. Row id "
     "begins at number id * d.",
     by_numbers([](Index, Index id, Index c, Index, Index) { return id + c; }), embedded(windows)},
    {"rows and columns confused",
     "The table is read as if its columns lay together in memory. It lies row by row: element "
     "(id, c) is number id * d + c.",
     by_numbers([](Index, Index id, Index c, Index words, Index) { return c * words + id; }),
     embedded(by_columns)},
    {"ids counted from 1 to 0",
     "Each word gets the vector of the id before its own. Ids start at 0, as rows do: nothing is "
     "to be subtracted.",
     by_numbers([](Index, Index id, Index c, Index, Index d) { return (id - 1) * d + c; }),
     embedded([](const Tensor& table, const Indices& ids) {
       const Tensor moved = concat({slice(table, 0, 0, 1), table}, 0);  // (words + 1, d)
       return embedding(moved, ids);                                    // (n, d)
     })},
    {"one row too far",
     "Each word gets the vector of the id after its own. The first row of the table is row 0.",
     by_numbers([](Index, Index id, Index c, Index, Index d) { return (id + 1) * d + c; }),
     embedded([](auto& table, auto& ids) { return embedding(table, plus_one(ids)); })}};

}  // namespace

int main(int count, char** arguments) {
  const LookUp library = [](const Tensor& table, const Indices& ids) {
    return embedding(table, ids);  // (n, d)
  };
  return judge(
      {.inputs = inputs,
       .learner = embedded(learn::embedding_forward),
       .right = {embedded(solution::embedding_forward), embedded(by_one_hot), embedded(library)},
       .mistakes = mistakes,
       .hints = {"Two loops: one over the words of the sentence, in it one over the "
                 "numbers of a vector.",
                 "The word at place i has the id ids.values[i]; copy that row of the table "
                 "to row i of the result.",
                 "const Index id = ids.values[i]; then, for each c, result.set({i, c}, "
                 "table.at({id, c}))."}},
      count, arguments);
}
