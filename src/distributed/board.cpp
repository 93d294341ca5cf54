#include "distributed/board.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "tapestry/error.hpp"

namespace tapestry::board {
namespace {

template <std::size_t Size>
void copy(const std::string& text, std::array<char, Size>& into) {
  const std::size_t length = std::min(text.size(), Size - 1);
  std::memcpy(into.data(), text.data(), length);
  into[length] = '\0';
}

template <std::size_t Size>
std::string text_in(const std::array<char, Size>& letters) {
  return {letters.data(), ::strnlen(letters.data(), Size)};
}

}  // namespace

void Place::set(Index new_step, const char* new_operation) {
  copy(new_operation, operation);
  step = new_step;
}

std::string Place::text() const {
  if (step < 0) return "its start";
  return "step " + std::to_string(step) + ", " + text_in(operation);
}

Board::~Board() {
  if (slots_ != nullptr) ::munmap(slots_, sizeof(Slot) * static_cast<std::size_t>(size_));
  if (file_ >= 0) ::close(file_);
}

bool Board::map(int ranks) {
  void* const memory = ::mmap(nullptr, sizeof(Slot) * static_cast<std::size_t>(ranks),
                              PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) return false;
  slots_ = static_cast<Slot*>(memory);
  size_ = ranks;
  return true;
}

void Board::make(int ranks) {
  file_ = ::memfd_create("tapestry ranks", MFD_CLOEXEC);
  const auto bytes = static_cast<off_t>(sizeof(Slot)) * ranks;
  if (file_ < 0 || ::ftruncate(file_, bytes) != 0 || !map(ranks)) {
    throw Error("start_ranks: there is no shared memory for " + std::to_string(ranks) +
                " ranks: " + std::strerror(errno) + ".");
  }
  std::uninitialized_default_construct_n(slots_, ranks);
}

bool Board::open(const char* path, int ranks) {
  file_ = ::open(path, O_RDWR | O_CLOEXEC);
  return file_ >= 0 && map(ranks);
}

std::string Board::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file_);
}

void write_fault(Slot& slot, const std::string& line) {
  if (slot.failed != 0) return;
  copy(line, slot.fault);
  slot.failed = std::chrono::steady_clock::now().time_since_epoch().count();
}

std::string first_fault(const Board& board) {
  const Slot* first = nullptr;
  for (int rank = 0; rank < board.size(); ++rank) {
    const Slot& slot = board[rank];
    if (slot.failed != 0 && (first == nullptr || slot.failed < first->failed)) first = &slot;
  }
  return first == nullptr ? "" : text_in(first->fault);
}

}  // namespace tapestry::board
