#include "page_file.hpp"

#include <span>
#include <string_view>

#include "tapestry/error.hpp"
#include "tapestry/file.hpp"

// tools/explorer/, put together by make (page.S).
extern "C" const char tapestry_explorer_page[], tapestry_explorer_page_end[];

namespace tapestry::command {
namespace {

std::string without_markup(std::string json) {
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos;) {
    json.replace(at, 1, "\\u003c");
  }
  return json;
}

}  // namespace

std::string base64(const std::vector<std::byte>& bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    unsigned group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < count ? std::to_integer<unsigned>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= count ? digits[group >> (18 - 6 * i) & 63U] : '=';
    }
  }
  return text;
}

std::size_t write_page(const std::filesystem::path& path, const Recording& recording) {
  const std::string_view page(
      tapestry_explorer_page,
      static_cast<std::size_t>(tapestry_explorer_page_end - tapestry_explorer_page));
  const std::string_view marker = "@recording@\n";
  const std::size_t place = page.find(marker);
  if (place == page.npos) throw Error("the page that was built in has no place for a recording.");
  std::size_t size = 0;
  write_file_atomically("--out", path, [&](const Append& append) {
    const auto write = [&](std::string_view text) {
      append(std::as_bytes(std::span(text)));
      size += text.size();
    };
    write(page.substr(0, place));
    write("<script type=\"application/json\" id=\"recording\">" + without_markup(recording.json) +
          "</script>\n");
    for (std::size_t i = 0; i < recording.numbers.size(); ++i) {
      write("<script type=\"text/plain\" id=\"numbers-" + std::to_string(i) + "\">");
      write(base64(recording.numbers[i]));
      write("</script>\n");
    }
    write(page.substr(place + marker.size()));
  });
  return size;
}

}  // namespace tapestry::command
