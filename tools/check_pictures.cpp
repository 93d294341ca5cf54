// check_pictures [--update]: compares each picture that a lesson keeps beside itself
// (tutorials/phaseN_*/pictures/NAME.png or NAME.gif) with the one that the programs just drew
// (out/plots/NAME.*): same size, and nearly the same pixels; of an animation the first frame.
// --update copies instead: the fresh one over each picture that README.md or a lesson shows. A
// picture NAME_stories260K.png is drawn only where that model is (tutorials/course/real_model.hpp),
// and otherwise left out. Run it from the repository root.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_GIF
#include <stb/stb_image.h>

#include "course/real_model.hpp"
#include "tapestry/format.hpp"

namespace fs = std::filesystem;

namespace {

// The largest mean difference of a channel, of 255, for the same picture: training ends a little
// differently on each set of kernels, and moves a curve by a pixel or two.
constexpr double most_difference = 6;

// Pictures of a measurement, which differs between machines or with each edit of a lesson: only
// their size is compared.
const std::map<std::string, std::string> measured = {
    {"phase0_roofline.png", "speed of this machine"},
    {"phase6_density.png", "times on this machine"},
    {"phase7_cache.png", "times on this machine"},
    {"phase7_tokens.png", "the text of the lessons"},
    {"phase7_real_text.png", "the text of the lessons"},
    {"phase8_scaling.png", "times on this machine"},
};

struct Image {
  int width = 0, height = 0;
  std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels{nullptr, stbi_image_free};  // RGBA
};

Image read_image(const fs::path& path) {
  Image image;
  int channels = 0;
  image.pixels.reset(stbi_load(path.c_str(), &image.width, &image.height, &channels, 4));
  return image;
}

double mean_difference(const Image& a, const Image& b) {
  const std::size_t count =
      std::size_t{4} * static_cast<std::size_t>(a.width) * static_cast<std::size_t>(a.height);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += std::abs(a.pixels.get()[i] - b.pixels.get()[i]);
  return sum / static_cast<double>(count);
}

std::string size_of(const Image& image) {
  return std::to_string(image.width) + "x" + std::to_string(image.height);
}

// The error in the kept picture; empty if there is none.
std::string compare(const fs::path& kept_path, const fs::path& fresh_path) {
  if (!fs::exists(fresh_path)) return fresh_path.string() + " was not drawn: run `make tutorials`";
  const Image kept = read_image(kept_path), fresh = read_image(fresh_path);
  if (!kept.pixels) return "is no PNG or GIF file";
  if (!fresh.pixels) return fresh_path.string() + " is no PNG or GIF file";
  if (kept.width != fresh.width || kept.height != fresh.height) {
    return "is " + size_of(kept) + ", the fresh one " + size_of(fresh) + ": run `make pictures`";
  }
  if (measured.contains(kept_path.filename().string())) return "";
  const double difference = mean_difference(kept, fresh);
  if (difference <= most_difference) return "";
  return "differs from the fresh one by " + tapestry::exact_text(difference) +
         " of 255 on average (" + tapestry::exact_text(most_difference) +
         " are allowed): look at both, then `make pictures`";
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_picture(const std::string& name) {
  return name.ends_with(".png") || name.ends_with(".gif");
}

// The pictures/NAME.png or .gif that the text at `path` shows, as paths from the repository root.
void add_shown(const fs::path& path, std::set<fs::path>& shown) {
  const std::string text = read_text(path), folder = "pictures/";
  for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos; ++at) {
    const std::size_t start = text.find_last_of("(\"' \n", at) + 1;
    const std::size_t end = std::min(text.find_first_of(")\"' \n", at), text.size());
    const std::string target = text.substr(start, end - start);
    if (!is_picture(target) || target.find(':') != std::string::npos) continue;
    shown.insert((path.parent_path() / target).lexically_normal());
  }
}

std::set<fs::path> shown_pictures() {
  std::set<fs::path> shown;
  add_shown("README.md", shown);
  if (!fs::exists("tutorials")) return shown;
  for (const auto& folder : fs::directory_iterator("tutorials")) {
    if (!folder.is_directory()) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".md") add_shown(entry.path(), shown);
    }
  }
  return shown;
}

std::set<fs::path> kept_pictures() {
  std::set<fs::path> kept;
  if (!fs::exists("tutorials")) return kept;
  for (const auto& entry : fs::recursive_directory_iterator("tutorials")) {
    if (is_picture(entry.path().string())) kept.insert(entry.path());
  }
  return kept;
}

fs::path fresh(const fs::path& kept) { return "out/plots" / kept.filename(); }

bool is_left_out(const fs::path& kept) {
  return kept.stem().string().ends_with("_stories260K") && !tapestry::real_model();
}

int update() {
  for (const fs::path& path : shown_pictures()) {
    if (is_left_out(path)) continue;
    if (!fs::exists(fresh(path))) {
      std::cerr << path.string() << ": no program drew " << fresh(path).string() << "\n";
      return 1;
    }
    fs::create_directories(path.parent_path());
    fs::copy_file(fresh(path), path, fs::copy_options::overwrite_existing);
    std::cout << fresh(path).string() << " -> " << path.string() << "\n";
  }
  return 0;
}

int check() {
  const std::set<fs::path> shown = shown_pictures();
  std::set<fs::path> all = kept_pictures();
  all.insert(shown.begin(), shown.end());
  int passed = 0, failed = 0, left_out = 0;
  for (const fs::path& path : all) {
    std::string problem;
    if (!fs::exists(path))
      problem = "is shown but not there: run `make pictures`";
    else if (!shown.contains(path))
      problem = "is shown by no lesson: show it or remove it";
    else if (is_left_out(path))
      ++left_out;
    else
      problem = compare(path, fresh(path));
    if (!problem.empty()) std::cout << path.string() << ": " << problem << "\n";
    (problem.empty() ? passed : failed) += 1;
  }
  if (left_out > 0) std::cout << left_out << " left out (no stories260K)\n";
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** values) {
  return count > 1 && std::string(values[1]) == "--update" ? update() : check();
}
