#include "tapestry/plot/flow.hpp"

#include <algorithm>
#include <limits>

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"

namespace tapestry::plot {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Blue: a link to another word; orange: to itself. What is mixed with paper keeps its hue.
bool is_blue(Colour c) { return c.b > c.r + 40; }
bool is_orange(Colour c) { return c.r > c.b + 40; }

// How much of a hue a column of pixels has, between two rows: the sum over its pixels of how far
// they are from white.
template <typename Hue>
double ink(const Decoded& picture, int column, int top, int bottom, Hue hue) {
  double sum = 0;
  for (int row = top; row < bottom; ++row) {
    const Colour c = picture.at(column, row);
    if (hue(c)) sum += (765 - c.r - c.g - c.b) / 765.0;
  }
  return sum;
}

// Words "a", "b": 50 wide, rows 36 high, from 50 = margin + heads down.
Decoded two_words(std::vector<double> weights, double threshold = 0.15) {
  return decode_png(render(Flow{{"a", "b"}, {"a", "b"}, std::move(weights), threshold}, 400, 1));
}
constexpr int first = 50, second = 86, end = 122, behind_queries = 78, before_keys = 310;

TEST_CASE("an arrow leaves its query and ends at its key", "[phase3][plot]") {
  const Decoded picture = two_words({0, 1, 0, 0});
  CHECK(ink(picture, behind_queries, first, second, is_blue) > 3);
  CHECK(ink(picture, behind_queries, second, end, is_blue) == 0);
  CHECK(ink(picture, before_keys, second, end, is_blue) > 3);
  CHECK(ink(picture, before_keys, first, second, is_blue) == 0);
}

TEST_CASE("a word's look at itself has its own colour", "[phase3][plot]") {
  const Decoded picture = two_words({1, 0, 0, 1});
  for (const int column : {behind_queries, 200, before_keys}) {
    CHECK(ink(picture, column, first, second, is_orange) > 3);
    CHECK(ink(picture, column, second, end, is_orange) > 3);
    CHECK(ink(picture, column, first, end, is_blue) == 0);
  }
  // Between different lists of words there is no such look.
  const Decoded other = decode_png(render(Flow{{"a", "b"}, {"c", "d"}, {1, 0, 0, 1}}, 400, 1));
  CHECK(ink(other, 200, first, end, is_orange) == 0);
  CHECK(ink(other, 200, first, end, is_blue) > 3);
}

TEST_CASE("arrows to one word end in the order of their queries", "[phase3][plot]") {
  const Decoded picture = two_words({0.5, 0, 0.5, 0});
  const auto height = [&](auto hue) {
    double sum = 0, all = 0;
    for (int row = first; row < second; ++row) {
      const double share = ink(picture, before_keys, row, row + 1, hue);
      sum += share * row;
      all += share;
    }
    return sum / all;
  };
  CHECK(height(is_orange) + 2 < height(is_blue));
}

TEST_CASE("a larger weight makes an arrow wider and darker", "[phase3][plot]") {
  double before = 0;
  for (const double weight : {0.2, 0.4, 0.6, 0.8, 1.0}) {
    const double now = ink(two_words({weight, 0, 0, 0}), 200, first, second, is_orange);
    CHECK(now > before + 0.3);
    before = now;
  }
}

TEST_CASE("below the threshold nothing is drawn", "[phase3][plot]") {
  const auto drawn = [](double weight, double threshold) {
    return ink(two_words({weight, 0, 0, 0}, threshold), 200, first, second, is_orange) > 0;
  };
  CHECK(drawn(0.15, 0.15));
  CHECK_FALSE(drawn(0.149, 0.15));
  CHECK(drawn(0.149, 0.1));
  CHECK_FALSE(drawn(not_a_number, 0));
}

TEST_CASE("without a threshold it is twice the even weight", "[phase3][plot]") {
  const auto says = [](std::size_t keys, const std::string& begin) {
    const Names said =
        words(render(Flow{{"a"}, Names(keys, "k"), std::vector<double>(keys, 0.2)}, 400, 1),
              Role::legend);
    return std::any_of(said.begin(), said.end(),
                       [&](const std::string& line) { return line.starts_with(begin); });
  };
  CHECK(says(16, "16 of 16 links are drawn: those of weight 0.125 or more"));
  CHECK(says(5, "0 of 5 links are drawn: those of weight 0.4 or more"));
  CHECK(says(3, "0 of 3 links are drawn: those of weight 0.5 or more"));
}

TEST_CASE("without a threshold each query has that of the keys it sees", "[phase3][plot]") {
  const Names six(6, "w");
  Flow flow{six, six, std::vector<double>(36)};
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j <= i; ++j) flow.weights[6 * i + j] = 1.0 / double(i + 1);
  }
  const auto told = [&] { return words(render(flow, 640, 1), Role::legend); };
  const auto has = [](const Names& lines, const std::string& begin) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.starts_with(begin); });
  };
  // One key has all, two have a half each: 0.5 is drawn, and an even weight is not.
  CHECK(has(told(), "3 of 21 links are drawn: those of twice the even weight of their row,"));
  flow.weights[6 * 4] = 0.41;  // of five keys; 0.4 is twice the even weight
  flow.weights[6 * 5] = 0.3;   // of six keys; a third is
  CHECK(has(told(), "4 of 21 links are drawn"));
  flow.threshold = 0.25;
  CHECK(has(told(), "12 of 21 links are drawn: those of weight 0.25 or more"));
}

TEST_CASE("a legend counts no link that a mask forbids", "[phase3][plot]") {
  const auto says = [](const Flow& flow, const std::string& begin) {
    const Names said = words(render(flow, 400, 1), Role::legend);
    return std::any_of(said.begin(), said.end(),
                       [&](const std::string& line) { return line.starts_with(begin); });
  };
  const Names queries{"a", "b", "c"};
  CHECK(says({queries, {"d"}, {0.5, 1, 1}}, "3 of 3 links are drawn"));
  CHECK(says({queries, {"d", "e"}, {0.5, 0, 1, 0, 0, 1}}, "3 of 3 links are drawn"));
  CHECK(says({queries, {"d", "e"}, {0.5, 0, 1, 0, 0.01, 1}}, "3 of 4 links are drawn"));
}

TEST_CASE("a legend says what share of the attention is not drawn", "[phase3][plot]") {
  const auto said = [](const std::vector<double>& weights) {
    std::string all;
    for (const std::string& line :
         words(render(Flow{{"a"}, Names(weights.size(), "k"), weights, 0.25}, 900, 1),
               Role::legend)) {
      if (line.find("links") != std::string::npos) all += line;
    }
    return all;
  };
  CHECK(said({0.5, 0.25}) == "2 of 2 links are drawn: those of weight 0.25 or more.");
  CHECK(said({0.3, 0.1, 0.1, 0}) ==
        "1 of 3 links are drawn: those of weight 0.25 or more. The other 2 hold 40 % of the "
        "attention.");
  CHECK(said({0.3, 0.2, not_a_number}) ==
        "1 of 2 links are drawn: those of weight 0.25 or more. The other one holds 40 % of the "
        "attention. NaN: 1.");
  CHECK(said({0.1}) ==
        "0 of 1 links are drawn: those of weight 0.25 or more. The other one holds 100 % of the "
        "attention.");
}

TEST_CASE("entries of a legend that do not fit are left out, the weakest first", "[phase3][plot]") {
  const Flow flow{{"a", "b"}, {"a", "b"}, {1, 0, 0, 1}, 0};
  const Names all_entries{"0.25", "0.5", "weight 1", "to itself"};
  double needed = 3 * 8;
  for (const std::string& entry : all_entries) needed += 40 + measure_text(entry, {12}).width;
  const auto entries = [&](double width) {
    Canvas canvas(500, 400, 1);
    draw(canvas, {10, 10, width, 380}, flow);
    Names found = words(canvas, Role::legend);
    std::erase_if(found, [&](const std::string& entry) {
      return std::find(all_entries.begin(), all_entries.end(), entry) == all_entries.end();
    });
    return found;
  };
  CHECK(entries(needed) == all_entries);
  CHECK(entries(needed - 0.1) == Names(all_entries.begin() + 1, all_entries.end()));
  CHECK(entries(190).back() == "to itself");
}

TEST_CASE("links of one weight are drawn in their order, rounding up to 1 is not seen",
          "[phase3][plot]") {
  const auto links = [](double weight) {
    return all<FilledPolygon>(
        render(Flow{{"a", "b", "c"}, {"d"}, {weight, weight, weight}, 0.5}, 400, 1));
  };
  REQUIRE(links(1).size() > 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(links(1.0005)[i].points == links(1)[i].points);
    if (i > 0) CHECK(links(1)[i].points[0].y > links(1)[i - 1].points[0].y);
  }
}

TEST_CASE("words of a flow are cut where they become wider than 150, and stand 36 apart",
          "[phase3][plot]") {
  const double longest = widest_cut([](const std::string& word) {
    return measure_text(words(render(Flow{{word}, {"k"}, {1}}), Role::row_label).at(0), {13}).width;
  });
  CHECK(longest <= 150);
  CHECK(longest > 149.5);
  Canvas canvas(400, 600, 1);
  draw(canvas, canvas.area(), Flow{{"a", "b"}, {"c"}, {1, 1}});
  const std::vector<Text> queries = texts(canvas, Role::row_label);
  CHECK(queries.at(1).at.y - queries.at(0).at.y == 36);
}

TEST_CASE("the legend grows with what it has to say", "[phase3][plot]") {
  const std::vector<std::string> few(2, "word"), many(60, "word");
  const auto height = [](const std::vector<std::string>& queries,
                         const std::vector<std::string>& keys) {
    const std::vector<double> weights(queries.size() * keys.size(), 0.1);
    Flow flow{queries, keys, weights};
    flow.threshold = 0.2;  // or the words would depend on the number of keys
    return render(flow, 400, 1).pixel_height();
  };
  // 48 words and the words on the cut against 48 words without.
  const std::vector<std::string> most(48, "word");
  CHECK(height(many, few) > height(most, few));
  CHECK(height(many, few) < height(most, few) + 40);
  CHECK(height(few, many) == height(many, few));
}

TEST_CASE("no word of a flow is cut off by the border", "[phase3][plot]") {
  const std::vector<std::string> words{"internationalisation", "a-much-longer-word-than-fits-here",
                                       "\n", " x", ""};
  Flow flow{words, {"a", "b", "c"}, std::vector<double>(15, 0.33), 0.15, "Title", "and more"};
  CHECK(trouble(render(flow, 400, 1)) == "");
  flow = {words, words, std::vector<double>(25, 0.2)};
  CHECK(trouble(render(flow, 640, 1)) == "");
  const std::vector<std::string> many(70, "word");
  std::vector<double> each(4900, 0.01);
  for (std::size_t i = 0; i < 70; ++i) each[71 * i] = 0.3;
  CHECK(trouble(render(Flow{many, many, each}, 300, 1)) == "");
}

TEST_CASE("the legend of a narrow flow ends where the flow does", "[phase3][plot]") {
  const Flow flow{{"a", "b"}, {"a", "b"}, {1, 0, 0, 1}};
  for (const double width : {360.0, 320.0, 260.0, 210.0}) {
    Canvas canvas(500, 300, 1);
    draw(canvas, {10, 10, width, 280}, flow);
    const Decoded picture = decode_png(canvas);
    int right = 0;
    for (int column = 0; column < 500; ++column) {
      if (ink(picture, column, 0, 300, [](Colour) { return true; }) > 0) right = column;
    }
    CHECK(right <= 10 + static_cast<int>(width));
    CHECK(ink(picture, 30, 125, 160, [](Colour) { return true; }) > 0);  // there is one
  }
}

TEST_CASE("the more words of a flow, the less room for each", "[phase3][plot]") {
  const auto height = [](std::size_t words) {
    const std::vector<double> weights(words, 0.5);
    const std::vector<std::string> queries(words, "word");
    return render(Flow{queries, {"key"}, weights}, 900, 1).pixel_height();
  };
  const int rest = height(1) - 36;
  CHECK(height(12) == rest + 12 * 36);
  CHECK(height(13) == rest + 13 * 28);
  CHECK(height(24) == rest + 24 * 28);
  CHECK(height(25) == rest + 25 * 20);
}

TEST_CASE("every link of weight 1, or of any weight, can be asked for", "[phase3][plot]") {
  for (const double threshold : {0.0, 1.0}) {
    CHECK(words_of_error([&] { render(Flow{{"a"}, {"b"}, {1}, threshold}); }).empty());
  }
  for (const double rounded : {-1e-3, 1 + 1e-3}) {
    CHECK(words_of_error([&] { render(Flow{{"a"}, {"b"}, {rounded}}); }).empty());
  }
}

TEST_CASE("a flow is the same bytes every time", "[phase3][plot]") {
  CHECK(two_words({0.3, 0.7, 0.6, 0.4}).pixels == two_words({0.3, 0.7, 0.6, 0.4}).pixels);
}

TEST_CASE("a flow says what does not fit together", "[phase3][plot]") {
  const auto words = [](const Flow& flow) { return words_of_error([&] { render(flow); }); };
  CHECK(contains(words({}), "0 queries x 0 keys give no links"));
  CHECK(contains(words({{"a"}, {"b", "c"}, {1}}), "need 2 weights, but 1 were given"));
  CHECK(contains(words({{"a"}, {"b", "c"}, {0.5, 1.5}}),
                 "have the weight 1.5 from query 0 to key 1; weights lie between 0 and 1"));
  CHECK(contains(words({{"a"}, {"b"}, {-0.5}}), "have the weight -0.5"));
  CHECK(contains(words({{"a"}, {"b"}, {-1.5e-3}}), "have the weight -0.0015"));
  CHECK(contains(words({{"a"}, {"b"}, {1 + 1.5e-3}}), "have the weight 1.0015"));
  CHECK(contains(words({{"a"}, {}, {}}), "1 queries x 0 keys give no links"));
  CHECK(contains(words({{"a"}, {"b"}, {1}, 2}), "a threshold of 2; choose 0 to 1"));
  CHECK(contains(words({{"a"}, {"b"}, {1}, not_a_number}), "choose 0 to 1"));
  CHECK(contains(words_of_error([&] { render(Flow{{"a"}, {"b"}, {1}}, 200); }), "too small"));
  Canvas canvas(400, 100, 1);
  CHECK(contains(words_of_error([&] { draw(canvas, {0, 0, 400, 60}, Flow{{"a"}, {"b"}, {1}}); }),
                 "too small"));
}

}  // namespace
}  // namespace tapestry::plot
