#include "runtime/base/recycled.hpp"

#include <array>
#include <memory>
#include <semaphore>
#include <thread>

#include "runtime/base/sanitizers.hpp"
#include "tests/test.hpp"

namespace troupe::detail {
namespace {

#ifndef TROUPE_SANITIZED  // There nothing is kept.

constexpr std::size_t size = 1000;  // Of a kind of which a block is 1,024 bytes.

/// A thread that keeps a block until it is told to end.
class keeper {
 public:
  keeper()
      : thread_([this] {
          give_memory_back(take_memory(size), size);
          keeps_.release();
          ends_.acquire();
        }) {
    keeps_.acquire();
  }
  void end() {
    ends_.release();
    thread_.join();
  }

 private:
  std::binary_semaphore keeps_{0}, ends_{0};
  std::thread thread_;
};

TEST_CASE("recycled: what a thread keeps goes with it, in whatever order threads end") {
  for (const auto& order : {std::array{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 2, 0, 3}, {2, 0, 3, 1}}) {
    std::array<std::unique_ptr<keeper>, 4> threads;
    for (auto& t : threads) t = std::make_unique<keeper>();
    auto kept = kept_memory();
    for (const int next : order) {
      threads[static_cast<std::size_t>(next)]->end();
      CHECK(kept - kept_memory() == 1024);
      kept = kept_memory();
    }
  }
}

#endif

}  // namespace
}  // namespace troupe::detail
