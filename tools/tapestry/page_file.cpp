#include "page_file.hpp"

#include <functional>
#include <span>
#include <string_view>

#include "recorded_run.hpp"
#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"

// tools/explorer/, put together by make (page.S).
extern "C" const char tapestry_explorer_page[], tapestry_explorer_page_end[], tapestry_live_page[],
    tapestry_live_page_end[];

namespace tapestry::command {
namespace {

std::string without_markup(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) {
    text.replace(at, 1, "\\u003c");
  }
  return text;
}

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

using Write = std::function<void(std::string_view text)>;

void write_element(const Write& write, const std::string& id, const std::vector<std::byte>& bytes) {
  write("<script type=\"text/plain\" id=\"" + id + "\">");
  write(base64(bytes));
  write("</script>\n");
}

// "files" tells of each model where its files are: in elements of this page, by name.
void write_models(const Write& write, const std::vector<ModelFiles>& models) {
  Json list = Json::array();
  std::size_t count = 0;
  for (const ModelFiles& one : models) {
    Json files = Json::array();
    for (const PageFile& file : one.files) {
      const std::string id = "file-" + std::to_string(count++);
      files.push_back(Json{{"name", printable(file.name)}, {"element", id}});
      write_element(write, id, file.bytes);
    }
    list.push_back(Json{{"model", one.model}, {"folder", one.is_folder}, {"files", files}});
  }
  write("<script type=\"application/json\" id=\"model-files\">" + without_markup(list) +
        "</script>\n");
}

}  // namespace

bool has_live_page() { return !between(tapestry_live_page, tapestry_live_page_end).empty(); }

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

std::size_t write_page(const std::filesystem::path& path, const Recording& recording,
                       const std::vector<ModelFiles>& models) {
  const std::string_view page = models.empty()
                                    ? between(tapestry_explorer_page, tapestry_explorer_page_end)
                                    : between(tapestry_live_page, tapestry_live_page_end);
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
      write_element(write, "numbers-" + std::to_string(i), recording.numbers[i]);
    }
    if (!models.empty()) write_models(write, models);
    write(page.substr(place + marker.size()));
  });
  return size;
}

}  // namespace tapestry::command
