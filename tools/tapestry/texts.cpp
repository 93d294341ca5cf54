#include "texts.hpp"

#include <algorithm>
#include <cmath>

#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/plot/dot_plot.hpp"
#include "text_lines.hpp"

namespace tapestry::command {
namespace {

// Numbers of one table of each text: their means, and the deviations from them (Welford 1962).
class Mean {
 public:
  explicit Mean(const Table& first) : table_(first) {
    mean_.resize(static_cast<std::size_t>(first.values.numel()));
    squares_ = mean_;
  }

  // False if the table has other rows or columns.
  bool add(const Table& table) {
    if (table.values.shape() != table_.values.shape()) return false;
    rename(table_.rows, table.rows);
    rename(table_.columns, table.columns);
    const std::vector<real> values = table.values.contiguous().values();
    ++count_;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double away = double{values[i]} - mean_[i];
      mean_[i] += away / static_cast<double>(count_);
      squares_[i] += away * (double{values[i]} - mean_[i]);
    }
    return true;
  }

  Table table() const {
    Table table = table_;
    const double one = plot::half_of_interval(1, count_), less = static_cast<double>(count_ - 1);
    std::vector<real> means, halves;
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      means.push_back(static_cast<real>(mean_[i]));
      halves.push_back(static_cast<real>(one * std::sqrt(squares_[i] / less)));
    }
    table.values = Tensor(table_.values.shape(), means);     // (rows, columns)
    table.interval = Tensor(table_.values.shape(), halves);  // (rows, columns)
    return table;
  }

 private:
  // Of "␣cat@3" and "␣dog@3" only the place is left.
  static void rename(Words& labels, const Words& others) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] == others[i]) continue;
      const std::size_t at = labels[i].rfind('@');
      labels[i] = at == labels[i].npos ? std::to_string(i) : labels[i].substr(at);
    }
  }

  Table table_;
  std::vector<double> mean_, squares_;
  std::size_t count_ = 0;
};

// Asks about one line after the other.
class Asking {
 public:
  Asking(const AskOptions& options, const ManyTexts& how)
      : options_(options), how_(how), many_{open_asked(options), options.texts} {}

  void operator()(const TextLine& line, const Look& look) {
    Asked& asked = many_.asked;
    named_ = line.columns.size() > how_.texts;
    ask(asked, options_of(line), how_.against,
        named_ ? TokenNames{"token", "other token"} : TokenNames{});
    count_length(asked.reading.ids.shape[0]);
    const std::vector<Table> tables = look(asked, line.columns);
    if (questions_.empty()) means_ = std::vector<Mean>(tables.begin(), tables.end());
    for (std::size_t i = 0; i < tables.size(); ++i) {
      if (means_[i].add(tables[i])) continue;
      Words& names = many_.left_out;
      if (std::find(names.begin(), names.end(), tables[i].name) == names.end()) {
        names.push_back(tables[i].name);
      }
    }
    questions_.push_back(asked.question);
    many_.texts.push_back(asked.reading.text);
    many_.answers.push_back(asked.answer);
  }

  Many result() {
    many_.words = words();
    for (const Mean& mean : means_) {
      Table table = mean.table();
      const Words& out = many_.left_out;
      if (std::find(out.begin(), out.end(), table.name) == out.end()) many_.tables.push_back(table);
    }
    return many_;
  }

 private:
  AskOptions options_of(const TextLine& line) const {
    AskOptions one = options_;
    one.text = line.columns.front();
    if (line.columns.size() > how_.texts) one.token = line.columns[how_.texts];
    if (line.columns.size() > how_.texts + 1) one.against = line.columns[how_.texts + 1];
    return one;
  }

  void count_length(Index length) {
    many_.shortest = questions_.empty() ? length : std::min(many_.shortest, length);
    many_.longest = std::max(many_.longest, length);
    if (how_.places.empty() || many_.shortest == many_.longest) return;
    const Index before = length == many_.longest ? many_.shortest : many_.longest;
    throw Error("the text has " + std::to_string(length) + " " + many_.asked.subject.unit +
                ", those before it have " + std::to_string(before) + ": with " + how_.places +
                " all must be equally long (tapestry tokens shows them).");
  }

  // "logit(␣he) - logit(␣she) at the end"; without names of tokens that are not always the same.
  std::string words() const {
    const Question& first = questions_.front();
    const bool same = std::all_of(questions_.begin(), questions_.end(), [&](const Question& one) {
      return one.token == first.token && one.against == first.against;
    });
    const Subject& subject = many_.asked.subject;
    const std::string any = named_ ? "token" : "likeliest";
    const std::string token = same ? subject.word(first.token) : any;
    const std::string other = !first.against ? "" : same ? subject.word(*first.against) : "other";
    return (first.against ? "logit(" + token + ") - logit(" + other + ")" : "ln p(" + token + ")") +
           (options_.position ? " at position " + std::to_string(*options_.position)
            : subject.guess == Guess::next_word ? " at the end"
                                                : " at the hidden word");
  }

  const AskOptions& options_;
  const ManyTexts& how_;
  Many many_;
  std::vector<Mean> means_ = {};
  std::vector<Question> questions_ = {};
  bool named_ = false;  // tokens in the lines
};

}  // namespace

std::string mean_text(const std::vector<double>& values) {
  const plot::MeanInterval found = plot::mean_interval(values);
  return two_digits(found.mean) + formatted(" ±%.2f", found.high - found.mean);
}

Many ask_many(const AskOptions& options, const ManyTexts& how, const Look& look) {
  Asking asking(options, how);
  const std::vector<TextLine> lines = lines_of(options.texts, how.texts);
  if (lines.front().columns.size() > how.texts && !(options.token + options.against).empty()) {
    throw Error(options.texts.string() +
                " names the tokens in its lines: leave out --token and --against.");
  }
  const auto progress = slow_progress("reading", "texts");
  Index done = 0;
  for (const TextLine& line : lines) {
    try {
      asking(line, look);
    } catch (const Error& error) {
      throw Error(place_of(options.texts, line) + error.what());
    }
    progress(++done, std::ssize(lines));
  }
  return asking.result();
}

std::string subtitle_of(const Many& many) {
  return many.asked.subject.path.filename().string() + ", mean over " +
         std::to_string(many.answers.size()) + " texts";
}

void print_question(const Many& many) {
  const Subject& subject = many.asked.subject;
  const auto count = (long long)many.answers.size();
  const auto above = std::count_if(many.answers.begin(), many.answers.end(),
                                   [](double answer) { return answer > 0; });
  const std::string lengths =
      many.shortest == many.longest
          ? std::to_string(many.longest)
          : std::to_string(many.shortest) + " to " + std::to_string(many.longest);
  print("%s\n", folded("model:  " + subject.path.string() + ": " + subject.description, 8).c_str());
  print("%s\n", folded(formatted("texts:  %lld of ", count) + many.file.string() + ", with " +
                           lengths + " " + subject.unit,
                       8)
                    .c_str());
  print("%s\n\n", folded("answer: " + many.words + " = " + mean_text(many.answers) +
                             (many.asked.question.against
                                  ? formatted("; above 0 in %lld of them", (long long)above)
                                  : ""),
                         8)
                      .c_str());
}

void print_tables(const Many& many) {
  print("%s\n\n", folded("All numbers are means over the texts; behind ± is half the 95 % interval "
                         "of the mean, if the texts are independent. Even if all true means were "
                         "0, five of a hundred would lie outside theirs.",
                         0)
                      .c_str());
  for (const Table& table : many.tables) print_table(table);
  if (many.left_out.empty()) return;
  std::string names;
  for (const std::string& name : many.left_out) names += (names.empty() ? "" : ", ") + name;
  print("%s\n\n", folded("Left out: " + names +
                             "; the texts are not equally long, so that their places are "
                             "not the same.",
                         0)
                      .c_str());
}

Findings findings_of(const std::string& command, const Many& many) {
  Findings findings{command,
                    {{"model", many.asked.subject.path.string()},
                     {"texts", many.file.string()},
                     {"question", many.words}}};
  const plot::MeanInterval found = plot::mean_interval(many.answers);
  const auto count = static_cast<Index>(many.answers.size());
  findings.numbers = {{"count", static_cast<double>(count)},
                      {"answer", found.mean},
                      {"answer_interval", found.high - found.mean}};
  findings.tables = many.tables;
  const std::vector<real> answers(many.answers.begin(), many.answers.end());
  findings.tables.push_back(
      {"answers", "text", "", many.texts, {"answer"}, Tensor({count, 1}, answers)});
  return findings;
}

}  // namespace tapestry::command
