// A text that arrives in pieces, such as the bytes of tokens, as it can be shown.
//
//   TextStream stream({"\n\n"});
//   while (!stream.stopped()) std::cout << stream.add(bytes_of_the_next_token()) << std::flush;
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tapestry {

class TextStream {
 public:
  // `stops` end the text: the first one that comes, and what follows it, is not shown. Throws Error
  // for an empty one.
  explicit TextStream(std::vector<std::string> stops = {});

  // What may be shown once these bytes have come: whole characters only, and nothing that may turn
  // out to begin a stop word. Bytes that are not UTF-8 become U+FFFD. Nothing after a stop word.
  std::string add(std::string_view bytes);

  // What was still held back; to be called when no more bytes will come.
  std::string finish();

  bool stopped() const { return stopped_; }

 private:
  std::size_t ready() const;

  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace tapestry
