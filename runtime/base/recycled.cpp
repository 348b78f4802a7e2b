#include "runtime/base/recycled.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <utility>

#include "runtime/base/sanitizers.hpp"

namespace troupe::detail {

#ifdef TROUPE_SANITIZED  // A sanitizer must see every allocation and deallocation.

void* take_memory(std::size_t size) { return ::operator new(size); }
void give_memory_back(void* memory, std::size_t) noexcept { ::operator delete(memory); }
std::size_t kept_memory() { return 0; }

#else

namespace {

// Blocks have 64 bytes, 128, ..., 64 KiB. Larger memory is allocated directly, because filling it
// costs more than allocating it.
constexpr std::size_t smallest = 64, largest = 65'536;
constexpr std::size_t kinds = std::countr_zero(largest) - std::countr_zero(smallest) + 1;

constexpr std::size_t kind_of(std::size_t size) {
  return std::bit_width((std::max(size, smallest) - 1) / smallest);
}
constexpr std::size_t size_of(std::size_t kind) { return smallest << kind; }
/// The number of blocks that go from thread to thread at once, together at most 16 KiB or one
/// block.
constexpr std::size_t batch_of(std::size_t kind) {
  return std::clamp<std::size_t>(16'384 / size_of(kind), 1, 32);
}

/// The number of batches of one kind that are kept for other threads. For small blocks it suffices
/// for tens of thousands of calls that end at the same time, and takes up to 30 MiB for all kinds
/// together. For larger blocks a kind takes at most 2 MiB.
constexpr std::size_t most_batches = 1024;
constexpr std::size_t batches_of(std::size_t kind) {
  return size_of(kind) <= 512 ? most_batches : 32;
}

/// A free block.
struct block {
  block* next;
};

/// A number that one thread changes and any thread may read.
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
  /// Removes the first `n` blocks and returns them.
  stack take(std::size_t n) {
    stack taken;
    while (taken.count < n) taken.push(pop());
    return taken;
  }
  void release() {
    while (top) ::operator delete(pop());
  }
};

/// A place where threads leave batches for each other.
class exchange_place {
 public:
  /// Takes a batch; it is empty if there is none.
  stack take() {
    std::lock_guard lock(mutex_);
    return count_ > 0 ? batches_[--count_] : stack();
  }
  /// Leaves a batch for other threads, or frees it if there are `most` batches already.
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
  /// Returns the number of blocks in all batches.
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

/// Frees the blocks of a thread at its end. Every thread that keeps blocks has one.
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
  thread_end* previous = nullptr;  ///< The next newer one.

  static constinit std::mutex mutex;  ///< Guards the list of all threads.
  static constinit thread_end* newest;
};
constinit std::mutex thread_end::mutex;
constinit thread_end* thread_end::newest = nullptr;

/// Has the blocks of this thread freed at the thread's end.
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
