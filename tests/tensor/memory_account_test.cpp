#include "tapestry/memory_account.hpp"

#include <cstddef>
#include <string>
#include <thread>

#include "catch.hpp"
#include "check_in_thread.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

TEST_CASE("an account counts the tensors of its thread until they are freed", "[phase8][tensor]") {
  const Tensor before = Tensor::zeros({1000});
  Tensor longer;
  {
    const MemoryAccount account;
    CHECK(account.live_bytes() == 0);
    longer = Tensor::zeros({1000});
    const std::size_t one = account.live_bytes();
    CHECK(one >= 1000 * sizeof(real));
    CHECK(one < 1200 * sizeof(real));
    {
      const Tensor sum = longer + before;
    }
    CHECK(account.live_bytes() == one);
    CHECK(account.peak_bytes() == 2 * one);
    std::thread same(
        [] { CHECK_IN_THREAD(Tensor::zeros({1000}).numel() == 1000); });  // in the freed block
    same.join();
    CHECK(account.live_bytes() == one);
    std::thread other([] { CHECK_IN_THREAD(Tensor::zeros({5000}).numel() == 5000); });
    other.join();
    CHECK(account.peak_bytes() == 2 * one);
    std::thread last([&] { longer = {}; });  // freed elsewhere
    last.join();
    CHECK(account.live_bytes() == 0);
    longer = Tensor::zeros({1000});
  }
  const MemoryAccount next;  // does not count what the one before did
  longer = {};
  CHECK(next.live_bytes() == 0);
}

TEST_CASE("an account's limit refuses the tensor that goes beyond", "[phase8][tensor]") {
  const MemoryAccount account(10000);
  const Tensor small = Tensor::zeros({100});
  std::string said;
  try {
    Tensor::zeros({10000});
  } catch (const Error& error) {
    said = error.what();
  }
  const std::string wanted = std::to_string(10000 * sizeof(real)) + " bytes for one tensor";
  CHECK(missing_word(said, {"out of memory", wanted.c_str(), "limit of 10000 bytes", "are in use",
                            "more ranks"}) == "");
  CHECK(Tensor::zeros({100}).numel() == 100);  // goes on
  CHECK_THROWS_AS(MemoryAccount{}, Error);
}

TEST_CASE("an account's limit may be reached to the last byte", "[phase8][tensor]") {
  const MemoryAccount account(2048);
  const Buffer first(1024 - 64), second(1024 - 64);  // and 64 each
  CHECK(account.live_bytes() == 2048);
  CHECK_THROWS_AS(Buffer(0), Error);
}
