#include "plot/snapshot.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "catch.hpp"
#include "tapestry/plot/png.hpp"

namespace tapestry::plot {
namespace {

// Where the picture was written, or why not.
std::string written(const Canvas& canvas, std::string name) {
  std::replace(name.begin(), name.end(), ' ', '-');
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / "tapestry-snapshots" / (name + ".png");
  try {
    write_png(canvas, path);
  } catch (const std::exception& error) {
    return error.what();
  }
  return path.string();
}

}  // namespace

std::uint64_t fingerprint(const std::vector<Canvas>& frames) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  const auto add = [&](int value) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x100000001B3u;
  };
  for (const Canvas& frame : frames) {
    add(frame.pixel_width());
    add(frame.pixel_height());
    for (const Colour c : frame.pixels()) {
      for (const int channel : {c.r, c.g, c.b, c.a}) add(channel);
    }
  }
  return hash;
}

void check_snapshot(const std::string& name, std::uint64_t expected,
                    const std::vector<Canvas>& frames) {
  const std::uint64_t seen = fingerprint(frames);
  if (seen == expected) {
    CHECK(seen == expected);
    return;
  }
  std::ostringstream message;
  message << "the picture \"" << name << "\" " << (expected == 0 ? "is new" : "changed")
          << ". Look at";
  for (std::size_t i = 0; i < frames.size(); ++i) {
    message << ' ' << written(frames[i], i == 0 ? name : name + "-" + std::to_string(i));
  }
  message << "; if it is right, its fingerprint is now 0x" << std::hex << std::uppercase << seen;
  FAIL_CHECK(message.str());
}

std::vector<double> sample_values(std::size_t count, double low, double high) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(low +
                     (high - low) * static_cast<double>((i * i * 7 + i * 37 + 11) % 101) / 100);
  }
  return values;
}

std::vector<std::string> sample_words(const std::string& stem, std::size_t count) {
  std::vector<std::string> words;
  for (std::size_t i = 1; i <= count; ++i) words.push_back(stem + std::to_string(i));
  return words;
}

}  // namespace tapestry::plot
