#include "runtime/base/recycled.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <utility>

#include "runtime/base/sanitizers.hpp"

namespace troupe::detail {

#ifdef TROUPE_SANITIZED  // it follows memory from its allocation to its end

void* take_memory(std::size_t size) { return ::operator new(size); }
void give_memory_back(void* memory, std::size_t) noexcept { ::operator delete(memory); }
std::size_t kept_memory() { return 0; }

#else

namespace {

// Blocks are of 64 bytes, 128, ..., 64 KiB. What is larger costs more to fill than to allocate.
constexpr std::size_t smallest = 64, largest = 65'536;
constexpr std::size_t kinds = std::countr_zero(largest) - std::countr_zero(smallest) + 1;

constexpr std::size_t kind_of(std::size_t size) {
  return std::bit_width((std::max(size, smallest) - 1) / smallest);
}
constexpr std::size_t size_of(std::size_t kind) { return smallest << kind; }
/// Blocks that go from thread to thread at once, at most 16 KiB.
constexpr std::size_t batch_of(std::size_t kind) {
  return std::clamp<std::size_t>(16'384 / size_of(kind), 1, 32);
}

/// Batches of a kind that wait for another thread. Of small blocks they are as many as tens of
/// thousands of calls need that end at the same time: 30 MiB together. Of others they are at most
/// 512 KiB a kind.
constexpr std::size_t most_batches = 1024;
constexpr std::size_t batches_of(std::size_t kind) {
  return size_of(kind) <= 512 ? most_batches : 32;
}

/// A free block.
struct block {
  block* next;
};

/// A number that one thread changes and any may read.
class tally {
 public:
  constexpr tally() = default;
  tally(const tally& other) : number_(other) {}
  tally& operator=(const tally& other) { return set(other); }
  operator std::size_t() const { return number_.load(std::memory_order_relaxed); }
  tally& operator++() { return set(*this + 1); }
  tally& operator--() { return set(*this - 1); }

 private:
  tally& set(std::size_t number) {
    number_.store(number, std::memory_order_relaxed);
    return *this;
  }
  std::atomic<std::size_t> number_ = 0;
};

struct stack {
  block* top = nullptr;
  tally count;

  void push(void* memory) {
    top = new (memory) block{top};
    ++count;
  }
  block* pop() {
    --count;
    return std::exchange(top, top->next);
  }
  /// The first `n`.
  stack take(std::size_t n) {
    stack taken;
    while (taken.count < n) taken.push(pop());
    return taken;
  }
  void release() {
    while (top) ::operator delete(pop());
  }
};

/// Where threads leave batches for each other.
class exchange_place {
 public:
  /// Empty if there is none.
  stack take() {
    std::lock_guard lock(mutex_);
    return count_ > 0 ? batches_[--count_] : stack();
  }
  /// Unless there are as many as `most`.
  void leave(stack batch, std::size_t most) {
    {
      std::lock_guard lock(mutex_);
      if (count_ < most) {
        batches_[count_++] = batch;
        return;
      }
    }
    batch.release();
  }
  /// Blocks in all batches.
  std::size_t blocks() {
    std::lock_guard lock(mutex_);
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count_; ++i) sum += batches_[i].count;
    return sum;
  }

 private:
  std::mutex mutex_;
  std::array<stack, most_batches> batches_{};
  std::size_t count_ = 0;
};

constinit std::array<exchange_place, kinds> left_for_others;
constinit thread_local std::array<stack, kinds> kept;
constinit thread_local bool thread_ends = false;

/// Of each thread that keeps blocks.
struct thread_end {
  thread_end() {
    std::lock_guard lock(mutex);
    next = std::exchange(newest, this);
    if (next) next->previous = this;
  }
  ~thread_end() {
    thread_ends = true;
    {
      std::lock_guard lock(mutex);
      if (next) next->previous = previous;
      (previous ? previous->next : newest) = next;
    }
    for (auto& blocks : mine) blocks.release();
  }

  std::array<stack, kinds>& mine = kept;
  thread_end* next = nullptr;
  thread_end* previous = nullptr;  ///< A newer one.

  static constinit std::mutex mutex;  ///< Of this list of them.
  static constinit thread_end* newest;
};
constinit std::mutex thread_end::mutex;
constinit thread_end* thread_end::newest = nullptr;

/// This thread's blocks are released at its end.
void watch_thread_end() { static thread_local thread_end watched; }

}  // namespace

void* take_memory(std::size_t size) {
  if (size > largest) return ::operator new(size);
  const auto kind = kind_of(size);
  auto& mine = kept[kind];
  if (mine.count == 0 && !thread_ends) {
    watch_thread_end();
    mine = left_for_others[kind].take();
  }
  return mine.count > 0 ? mine.pop() : ::operator new(size_of(kind));
}

void give_memory_back(void* memory, std::size_t size) noexcept {
  if (!memory) return;
  if (size > largest || thread_ends) return ::operator delete(memory);
  const auto kind = kind_of(size);
  auto& mine = kept[kind];
  if (mine.count == 0) watch_thread_end();
  mine.push(memory);
  if (mine.count == 2 * batch_of(kind)) {
    left_for_others[kind].leave(mine.take(batch_of(kind)), batches_of(kind));
  }
}

std::size_t kept_memory() {
  std::size_t bytes = 0;
  std::lock_guard lock(thread_end::mutex);
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    std::size_t blocks = left_for_others[kind].blocks();
    for (const auto* of = thread_end::newest; of; of = of->next) blocks += of->mine[kind].count;
    bytes += blocks * size_of(kind);
  }
  return bytes;
}

#endif

}  // namespace troupe::detail
