// What mpirun writes to standard error: the ranks' own lines, and when a job fails, a banner of its
// own, of which one thing is worth knowing: which rank ended, and how.
#pragma once

#include <optional>
#include <string>

namespace tapestry {

// Takes lines apart.
class Banner {
 public:
  // Whether the line is one of a rank, to be shown.
  bool is_of_rank(const std::string& line);

  // All that was not shown, for a failure that nothing else explains.
  const std::string& text() const { return text_; }

  // The rank that ended early, by Open MPI's banner; none if that names no rank.
  std::optional<int> rank() const;

  // "was killed by signal 9", "ended with status 3", "has ended".
  std::string how() const;

 private:
  std::string text_;
  bool begun_ = false;  // from its first line on, all is banner
};

}  // namespace tapestry
