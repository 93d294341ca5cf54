#include "tapestry/plot/svg.hpp"

#include <algorithm>
#include <limits>

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "plot/words.hpp"
#include "tapestry/plot/surface.hpp"
#include "temporary_folder.hpp"

namespace tapestry::plot {
namespace {

constexpr Colour red{200, 0, 16};

// What is not well-formed: tags that do not close in order, and signs that stand for themselves
// where XML wants them written. "" when all is well.
std::string mistake_in(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < xml.size(); ++at) {
    if (xml[at] == '&') {
      const std::string sign = xml.substr(at, xml.find(';', at) - at);
      if (sign != "&amp" && sign != "&lt" && sign != "&gt") return "an & that names no sign";
    }
    if (xml[at] == '>') return "a > outside of a tag";
    if (static_cast<unsigned char>(xml[at]) < 0x20 && xml[at] != '\n') return "a control character";
    if (xml[at] != '<') continue;
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return "a tag without an end";
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos) return "a < inside of a tag";
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "a quote without an end: " + tag;
    const std::string name = tag.substr(0, tag.find(' '));
    if (name[0] == '/') {
      if (open.empty() || "/" + open.back() != name) return "a tag that closes nothing: " + tag;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    at = end;
  }
  return open.empty() ? "" : "a tag that is not closed: " + open.back();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

// The file of a picture on which that was drawn, without its first lines and its last.
template <class Draw>
std::string body(Draw draw) {
  Canvas canvas(100, 80, 1);
  draw(canvas);
  const std::string svg = encode_svg(canvas);
  CHECK(mistake_in(svg) == "");
  const std::string paper = "fill=\"#ffffff\"/>\n";
  const std::size_t start = svg.find(paper) + paper.size();
  return svg.substr(start, svg.size() - start - std::string("</svg>\n").size());
}

TEST_CASE("every picture is well-formed SVG, with its words as text", "[phase1][plot]") {
  using namespace sample;
  Heatmap odd = matrix({"<&>", "\"q\"", "'"}, {"\x01\xFF", "a\tb", "\xEF\xBF\xBF"});
  odd.title = "A <title> & more";
  for (const Canvas& canvas :
       {render(matrix(sentence, sentence)), render(odd), render(indices(40, 60)),
        render(grid(sentence)), render(lines(true)), render(bars(sentence)), render(flow()),
        render(diagram(Direction::down)), render_surface(matrix(sentence, sentence))}) {
    const std::string svg = encode_svg(canvas);
    CHECK(mistake_in(svg) == "");
    CHECK(count(svg, "<text") == all<Text>(canvas).size());
    CHECK(svg == encode_svg(canvas));
    CHECK(count(svg, "<title>") == 1);
    for (const char* bad : {"nan", "inf", "\"\""}) CHECK(count(svg, bad) == 0);
  }
  CHECK(count(encode_svg(render(odd)), "<title>A &lt;title&gt; &amp; more</title>") == 1);
  CHECK(count(encode_svg(render(odd)), ">&lt;&amp;&gt;</text>") == 1);
}

TEST_CASE("the picture has its size, its ground, and a typeface to fall back on",
          "[phase0][plot]") {
  CHECK(encode_svg(Canvas(10.25, 7, 2, red)) ==
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10.25\" height=\"7\" "
        "viewBox=\"0 0 10.25 7\" font-family=\"'DejaVu Sans', Verdana, sans-serif\" "
        "xml:space=\"preserve\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n"
        "<rect x=\"0\" y=\"0\" width=\"10.25\" height=\"7\" fill=\"#c80010\"/>\n</svg>\n");
}

TEST_CASE("shapes have their places, colours and opacities", "[phase0][plot]") {
  CHECK(body([](Canvas& c) { c.fill_rect({1, 2.5, 3, 4.0004}, red); }) ==
        "<rect x=\"1\" y=\"2.5\" width=\"3\" height=\"4\" fill=\"#c80010\"/>\n");
  CHECK(body([](Canvas& c) { c.fill_rect({1, 2, 3, 4}, {200, 0, 16, 51}, 2); }) ==
        "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\" rx=\"2\" fill=\"#c80010\" "
        "fill-opacity=\"0.2\"/>\n");
  CHECK(body([](Canvas& c) { c.fill_circle({-0.0001, 20}, 1.5, red); }) ==
        "<circle cx=\"0\" cy=\"20\" r=\"1.5\" fill=\"#c80010\"/>\n");
  const Point corners[] = {{1, 2}, {-1e12, 4}, {5, 1e12}};
  CHECK(body([&](Canvas& c) { c.fill_polygon(corners, red); }) ==
        "<polygon points=\"1,2 -1000000000,4 5,1000000000\" fill=\"#c80010\"/>\n");
  CHECK(contains(body([](Canvas& c) { c.fill_rect({1, 2, 3, 4}, {200, 0, 16, 254}, 0.5); }),
                 " rx=\"0.5\" fill=\"#c80010\" fill-opacity=\"0.996\"/>"));
}

TEST_CASE("lines have gaps, dashes and dots", "[phase0][plot]") {
  constexpr double gap = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Point points[] = {{1, 2}, {3, 4}, {gap, 5}, {7, 7}, {gap, 6}, {8, 8}, {9, 9}};
  const std::string rest = "\" fill=\"none\" stroke=\"#c80010\" stroke-width=\"2\"/>\n";
  CHECK(body([&](Canvas& c) { c.polyline(points, {red, 2}); }) ==
        "<polyline points=\"1,2 3,4" + rest + "<polyline points=\"8,8 9,9" + rest);
  CHECK(contains(body([&](Canvas& c) { c.line({1, 1}, {2, 2}, {red, 1.5, 6}); }),
                 " stroke-dasharray=\"4.5 7.5\"/>"));
  CHECK(contains(body([&](Canvas& c) { c.line({1, 1}, {2, 2}, {red, 0.1, 0.5}); }),
                 " stroke-dasharray=\"0.4 0.6\"/>"));
  CHECK(!contains(body([&](Canvas& c) { c.line({1, 1}, {2, 2}, {red, 1.5, infinity}); }), "dash"));
  CHECK(body([&](Canvas& c) { c.line({1, 1}, {gap, 2}, {red, 3}); }) == "");
  const Point nowhere[] = {{4, gap}};
  CHECK(body([&](Canvas& c) { c.polyline(nowhere, {red, 3}); }) == "");
  const Point dot[] = {{4, 5}};
  CHECK(body([&](Canvas& c) { c.polyline(dot, {red, 3}); }) ==
        "<circle cx=\"4\" cy=\"5\" r=\"1.5\" fill=\"#c80010\"/>\n");
}

TEST_CASE("text is placed by its base line, with class, anchor and turn", "[phase0][plot]") {
  CHECK(
      body([](Canvas& c) { c.text({8, 9}, "a  b", {10, red}, Role::row_label); }) ==
      "<text class=\"row-label\" x=\"8\" y=\"9\" font-size=\"10\" fill=\"#c80010\">a  b</text>\n");
  CHECK(body([](Canvas& c) {
          c.text({8, 9}, "x", {10, red, true, Align::right, VerticalAlign::middle, 90}, Role::note);
        }) ==
        "<text class=\"note\" x=\"8\" y=\"12.645\" font-size=\"10\" fill=\"#c80010\" "
        "text-anchor=\"end\" font-weight=\"bold\" transform=\"rotate(-90 8 9)\">x</text>\n");
  CHECK(contains(body([](Canvas& c) { c.text({8, 9}, "x", {.align = Align::centre}); }),
                 "text-anchor=\"middle\""));
  CHECK(contains(
      body([](Canvas& c) { c.text({8, 9}, "d_k = W_Q x", {10, red}); }),
      ">d<tspan dy=\"1.6\" font-size=\"7.2\">k</tspan><tspan dy=\"-1.6\"> = W</tspan>"
      "<tspan dy=\"1.6\" font-size=\"7.2\">Q</tspan><tspan dy=\"-1.6\"> x</tspan></text>"));
  CHECK(contains(body([](Canvas& c) { c.text({8, 9}, "d_k", {5, red}); }),
                 ">d<tspan dy=\"0.8\" font-size=\"3.6\">k</tspan></text>"));
  CHECK(contains(body([](Canvas& c) { c.text({8, 9}, "a\x1F\xEF\xBF\xBE\xEF\xBF\xBF!", {5}); }),
                 ">a\xEF\xBF\xBD\xEF\xBF\xBD!</text>"));
}

TEST_CASE("the name of a picture is its first title, with all of its lines", "[phase0][plot]") {
  const auto title = [](const std::vector<std::string>& words) {  // "" for a shape
    Canvas canvas(100, 80, 1);
    for (const std::string& line : words) {
      if (line.empty()) canvas.fill_circle({5, 5}, 2, red);
      canvas.text({5, 9}, line, {5}, Role::title);
    }
    const std::string svg = encode_svg(canvas);
    const std::size_t start = svg.find("<title>"), end = svg.find("</title>");
    return start == svg.npos ? "" : svg.substr(start + 7, end - start - 7);
  };
  CHECK(title({"One", "line more", "", "Another"}) == "One line more");
  CHECK(title({"", "One", "", "Another"}) == "One");
  CHECK(title({""}) == "");
}

TEST_CASE("what is clipped stands in a picture of its own", "[phase0][plot]") {
  const std::string svg = body([](Canvas& c) {
    c.set_clip(Rect{1, 2, 30, 40});
    c.fill_circle({5, 5}, 3, red);
    c.fill_circle({6, 6}, 3, red);
    c.set_clip(Rect{1, 2, 3, 4});
    c.fill_circle({7, 7}, 3, red);
    c.set_clip(std::nullopt);
    c.fill_circle({8, 8}, 3, red);
  });
  const auto place = [&](const char* part) { return svg.find(part); };
  CHECK(svg.starts_with("<svg x=\"1\" y=\"2\" width=\"30\" height=\"40\" viewBox=\"1 2 30 40\">"));
  CHECK(place("cx=\"6\"") < place("</svg>\n<svg x=\"1\" y=\"2\" width=\"3\" height=\"4\""));
  CHECK(place("cx=\"7\"") < svg.rfind("</svg>"));
  CHECK(place("cx=\"8\"") > svg.rfind("</svg>"));
}

std::vector<std::uint8_t> from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  unsigned bits = 0, known = 0;
  for (const char digit : text.substr(0, text.find('='))) {
    bits = bits << 6 | static_cast<unsigned>(digits.find(digit));
    known += 6;
    if (known < 8) continue;
    known -= 8;
    bytes.push_back(static_cast<std::uint8_t>(bits >> known & 255));
  }
  return bytes;
}

TEST_CASE("few cells are rectangles, many an image with a pixel each", "[phase0][plot]") {
  std::vector<Colour> colours;
  for (int i = 0; i < 1025; ++i) {
    const auto level = [&](int step) { return static_cast<std::uint8_t>(i * step % 256); };
    colours.push_back({level(1), level(7), level(31)});
  }
  const std::string image = body([&](Canvas& c) { c.cells({10, 20, 41, 25}, 25, 41, colours); });
  CHECK(image.starts_with("<image x=\"10\" y=\"20\" width=\"41\" height=\"25\" "));
  const std::string before = "base64,";
  const std::size_t start = image.find(before) + before.size();
  const Decoded picture = decode_png(from_base64(image.substr(start, image.rfind('"') - start)));
  CHECK((picture.width == 41 && picture.height == 25));
  CHECK(picture.pixels == colours);
  colours.pop_back();
  const std::string rects = body([&](Canvas& c) { c.cells({10, 20, 64, 8}, 16, 64, colours); });
  CHECK(count(rects, "<rect") == 1024);
  CHECK(contains(rects, "<rect x=\"73\" y=\"20.5\" width=\"1\" height=\"0.5\" fill=\"#7f7961\"/>"));
  CHECK(body([](Canvas& c) { c.cells({0, 0, 5, 5}, 0, 3, {}); }) == "");
}

TEST_CASE("base64 ends in as many signs as bytes are missing", "[phase0][plot]") {
  for (int columns = 1030; columns < 1036; ++columns) {  // of several lengths
    const std::vector<Colour> colours(static_cast<std::size_t>(columns), red);
    const std::string image = body([&](Canvas& c) { c.cells({0, 0, 9, 9}, 1, columns, colours); });
    const std::size_t start = image.find("base64,") + 7, end = image.rfind('"');
    CHECK((end - start) % 4 == 0);
    CHECK(decode_png(from_base64(image.substr(start, end - start))).pixels == colours);
  }
}

TEST_CASE("the end of its name tells what a picture is written as", "[phase0][plot]") {
  const TemporaryFolder folder;
  Canvas canvas(20, 20, 1);
  canvas.fill_rect({1, 1, 5, 5}, red);
  write_picture(canvas, folder / "new/a.svg");
  write_picture(canvas, folder / "a.png");
  const std::vector<std::uint8_t> bytes = read_bytes(folder / "new/a.svg");
  CHECK(std::string(bytes.begin(), bytes.end()) == encode_svg(canvas));
  CHECK(decode_png(read_bytes(folder / "a.png")).at(2, 2) == red);
  for (const char* name : {"a.jpg", "svg", "a.SVG", "a.png.gz"}) {
    CHECK(contains(words_of_error([&] { write_picture(canvas, folder / name); }),
                   std::string(name) + " must end in .png or .svg"));
  }
  CHECK(contains(words_of_error([&] { write_svg(canvas, folder / ""); }), "names no file"));
}

}  // namespace
}  // namespace tapestry::plot
