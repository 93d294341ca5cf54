#include "course/exercise.hpp"
#include "phase0.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::scalar_add) scalar_add;
decltype(learn::scalar_multiply) scalar_multiply;
}  // namespace solution

namespace {

using Operation = std::function<decltype(learn::scalar_add)>;

void append(ScalarTape& tape, const Operation& operation, std::size_t a, std::size_t b) {
  const std::size_t before = tape.records.size(), at = operation(tape, a, b);
  if (tape.records.size() != before + 1)
    throw Error("it has to append one record, not more or none");
  if (at == before) return;
  throw Error("it returned " + std::to_string(at) + ", but the new record is number " +
              std::to_string(before));
}

// Row i, column j: the slope of record i's value by that of record j. (records, records)
Tensor slopes_of(const ScalarTape& tape) {
  const auto count = static_cast<Index>(tape.records.size());
  Tensor slopes = Tensor::zeros({count, count});  // (records, records)
  for (Index i = 0; i < count; ++i) {
    for (const ScalarInput& input : tape.records[std::size_t(i)].inputs) {
      const auto j = static_cast<Index>(input.record);
      slopes.set({i, j}, double{slopes.at({i, j})} + input.slope);
    }
  }
  return slopes;
}

// Runs a drawn program: each row of `operations` is its kind (0 adds, 1 multiplies), a and b.
Attempt recorded(const Operation& add, const Operation& multiply) {
  return [=](const NamedTensors& in) -> NamedTensors {
    ScalarTape tape;
    for (const real value : in[0].value.values()) tape.records.push_back({value, {}});
    const Tensor& operations = in[1].value;
    for (Index i = 0; i < operations.size(0); ++i) {
      append(tape, operations.at({i, 0}) == 0 ? add : multiply, std::size_t(operations.at({i, 1})),
             std::size_t(operations.at({i, 2})));
    }
    std::vector<real> values;
    for (const ScalarRecord& record : tape.records) values.push_back(real(record.value));
    return {{"values of the records", Tensor({Index(values.size())}, values)},  // (records)
            {"slope of record (row) by record (column)", slopes_of(tape)}};
  };
}

// An operation from its value and both slopes, each a function of a's and b's values.
Operation made(double (*value)(double, double), double (*by_a)(double, double),
               double (*by_b)(double, double)) {
  return [=](ScalarTape& tape, std::size_t a, std::size_t b) {
    const double x = tape.records[a].value, y = tape.records[b].value;
    ScalarRecord record{value(x, y), {}};
    record.inputs.push_back({b, by_b(x, y)});
    record.inputs.push_back({a, by_a(x, y)});
    tape.records.push_back(record);
    return tape.records.size() - 1;
  };
}

// The right record, changed afterwards.
Operation changed(const Operation& right, void (*change)(ScalarTape& tape, ScalarRecord& record)) {
  return [=](ScalarTape& tape, std::size_t a, std::size_t b) {
    const std::size_t at = right(tape, a, b);
    change(tape, tape.records.back());
    return at;
  };
}

double sum(double x, double y) { return x + y; }
double product(double x, double y) { return x * y; }
double first(double x, double) { return x; }
double second(double, double y) { return y; }
double one(double, double) { return 1; }
double zero(double, double) { return 0; }

const Operation add = solution::scalar_add, multiply = solution::scalar_multiply;

void forget_inputs(ScalarTape&, ScalarRecord& record) { record.inputs.clear(); }

// Computes with the numbers of the records, not with their values.
Operation of_numbers(bool multiplies) {
  return [=](ScalarTape& tape, std::size_t a, std::size_t b) {
    const double x = double(a), y = double(b);
    if (multiplies) tape.records.push_back({x * y, {{a, y}, {b, x}}});
    if (!multiplies) tape.records.push_back({x + y, {{a, 1}, {b, 1}}});
    return tape.records.size() - 1;
  };
}

void take_numbers(ScalarTape&, ScalarRecord& record) {
  const double a = double(record.inputs[0].record), b = double(record.inputs[1].record);
  const bool multiplies = record.inputs[0].slope != 1 || record.inputs[1].slope != 1;
  record.value = multiplies ? a * b : a + b;
  if (multiplies) record.inputs = {{record.inputs[0].record, b}, {record.inputs[1].record, a}};
}

NamedTensors inputs(Random& random, Index size) {
  const Index leaves = size < 3 ? 2 : 3, count = 2 * size;
  Tensor operations = Tensor::zeros({count, 3});  // (count, 3)
  for (Index i = 0; i < count; ++i) {
    operations.set({i, 0}, i < 2 ? double(1 - i) : double(random.randint(2)));
    operations.set({i, 1}, i == 0 ? 0 : double(random.randint(leaves + i)));
    operations.set({i, 2}, i == 0 ? 1 : double(random.randint(leaves + i)));
  }
  return {{"values", random.uniform({leaves}, 0.5, 1.5)},
          {"operations (0 adds, 1 multiplies; a, b)", operations}};
}

const std::vector<KnownMistake> mistakes = {
    {"own factor as slope",
     "The slope of a product by a is recorded as a, and by b as b. If a grows by 1, a b grows by "
     "b: "
     "the slope by one factor is the other.",
     recorded(add, made(product, first, second)),
     recorded(add, changed(multiply,
                           [](ScalarTape&, ScalarRecord& record) {
                             std::swap(record.inputs[0].slope, record.inputs[1].slope);
                           }))},
    {"slopes of a product are 1",
     "The slopes of a product are recorded as 1, as if it were a sum. The slope by one factor is "
     "the other factor.",
     recorded(add, made(product, one, one)),
     recorded(add, changed(multiply,
                           [](ScalarTape&, ScalarRecord& record) {
                             for (ScalarInput& input : record.inputs) input.slope = 1;
                           }))},
    {"slopes of a sum are its values",
     "The slopes of a sum are recorded as those of a product. If a grows by 1, a + b grows by 1, "
     "whatever b is.",
     recorded(made(sum, second, first), multiply),
     recorded(changed(add,
                      [](ScalarTape& tape, ScalarRecord& record) {
                        const double x = tape.records[record.inputs[0].record].value;
                        const double y = tape.records[record.inputs[1].record].value;
                        record.inputs = {{record.inputs[0].record, y},
                                         {record.inputs[1].record, x}};
                      }),
              multiply)},
    {"no inputs",
     "The values are right, but the records do not say what they were made from, or all slopes are "
     "0. No gradient can pass such a record.",
     recorded(changed(add, forget_inputs), changed(multiply, forget_inputs)),
     recorded(made(sum, zero, zero), made(product, zero, zero))},
    {"one input only",
     "Only a is recorded as an input, b is not. Both change the result, and both need a gradient.",
     recorded(made(sum, one, zero), made(product, second, zero)),
     recorded(
         changed(add, [](ScalarTape&, ScalarRecord& record) { record.inputs.pop_back(); }),
         changed(multiply, [](ScalarTape&, ScalarRecord& record) { record.inputs.pop_back(); }))},
    {"numbers of records as values",
     "The operations compute with a and b themselves. These are numbers of records; the values are "
     "tape.records[a].value and tape.records[b].value.",
     recorded(of_numbers(false), of_numbers(true)),
     recorded(changed(add, take_numbers), changed(multiply, take_numbers))}};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = recorded(learn::scalar_add, learn::scalar_multiply),
                .right = {recorded(add, multiply),
                          recorded(made(sum, one, one), made(product, second, first))},
                .mistakes = mistakes,
                .hints = {"Read both values first: const double x = tape.records[a].value, and y "
                          "likewise. Then append, then return the number of the last record.",
                          "A sum has the slopes 1 and 1. A product x y has the slope y for a, and "
                          "the slope x for b.",
                          "tape.records.push_back({x * y, {{a, y}, {b, x}}}); return "
                          "tape.records.size() - 1;"}},
               count, arguments);
}
