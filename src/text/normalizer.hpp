// Normalising: changes of a text before it is cut into pieces. Bytes that are not UTF-8 stay,
// except where a step removes U+FFFD.
#pragma once

#include <string>
#include <vector>

namespace tapestry {

struct NormalizerStep {
  enum class Kind { nfc, nfd, nfkc, nfkd, lower, strip_accents, prepend, replace, strip, bert };
  Kind kind;
  std::string name;                        // as the file calls it
  std::string pattern = {}, content = {};  // of replace; content of prepend
  bool left = false, right = false;        // of strip
  bool clean = false, chinese = false, accents = false, lower = false;  // of bert
};

std::string normalised(const NormalizerStep& step, const std::string& text);
std::string normalised(const std::vector<NormalizerStep>& steps, std::string text);

// Each place of the pattern, which must not be empty, from left to right.
std::string replaced(const std::string& text, const std::string& pattern,
                     const std::string& content);

}  // namespace tapestry
