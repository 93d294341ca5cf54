// compare_bench OLD [NEW]: how much faster or slower each row of `make bench` became between two of
// its files (out/bench.json). `make bench-compare OLD=FILE` calls it.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "bench_changes.hpp"

namespace {

using namespace bench_changes;

Json read(const char* path) {
  std::ifstream file(path);
  if (!file) {
    throw tapestry::Error(std::string("cannot open ") + path +
                          "; `make bench` writes out/bench.json");
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("rows") || !json.contains("machine")) {
    throw tapestry::Error(std::string(path) + " is no file that `make bench` wrote");
  }
  return json;
}

void print_rows(const char* title, const std::vector<std::string>& rows) {
  if (rows.empty()) return;
  std::printf("\n%s\n", title);
  for (const std::string& row : rows) std::printf("  %s\n", row.c_str());
}

void print_change(const Change& change) {
  std::printf("%-43.43s %2d %10.4g %10.4g %6.2f", change.name.c_str(), change.threads,
              change.before.ms, change.after.ms, change.ratio());
  std::printf("%s\n", !change.is_clear() ? "=" : change.ratio() > 1 ? " +" : " -");
}

int print(const Comparison& found) {
  for (const std::string& difference : found.differences) {
    std::printf("not the same machine: %s\n", difference.c_str());
  }
  if (found.company >= 0.1) {
    std::printf("Other programs kept up to %.1f processors busy: differences may be theirs.\n",
                found.company);
  }
  std::printf("%-42s thr     old ms     new ms  ratio\n", "");
  int faster = 0, slower = 0;
  for (const Change& change : found.changes) {
    print_change(change);
    if (change.is_clear()) ++(change.ratio() > 1 ? faster : slower);
  }
  print_rows("only in the old file", found.gone);
  print_rows("only in the new file", found.added);
  std::printf(
      "\nratio: the old time over the new one; above 1 the row is faster now. =: both\n"
      "differ by no more than their own best two rounds.\n"
      "%zu rows: %d faster, %d slower, %zu the same\n",
      found.changes.size(), faster, slower,
      found.changes.size() - static_cast<std::size_t>(faster + slower));
  return slower > 0 ? 1 : 0;
}

}  // namespace

// Ends with 1 if a row is slower, with 2 if the files cannot be compared.
int main(int count, char** words) try {
  if (count < 2 || count > 3) {
    std::fprintf(stderr, "usage: compare_bench OLD.json [NEW.json]   (out/bench.json)\n");
    return 2;
  }
  return print(compare(read(words[1]), read(count == 3 ? words[2] : "out/bench.json")));
} catch (const std::exception& error) {
  std::fprintf(stderr, "compare_bench: %s\n", error.what());
  return 2;
}
