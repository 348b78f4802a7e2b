#pragma once
// A timing wheel with the deadlines of many calls. Entering, leaving and expiring have a constant
// cost, however many entries there are (Varghese and Lauck 1987, "Hashed and hierarchical timing
// wheels", scheme 6). Its resolution is 5 ms. Internal to runtime/.

#include <algorithm>
#include <cstdint>
#include <memory>

#include "runtime/coroutine/list.hpp"
#include "runtime/coroutine/strand.hpp"

namespace troupe::detail {

class timing_wheel {
 public:
  static constexpr auto granularity = std::chrono::milliseconds(5);

  /// A part of the object that expires. It leaves the wheel when it is destroyed.
  struct entry : list_node {
    std::int64_t due = 0;
    std::size_t* count = nullptr;

    ~entry() { leave(); }
    void leave() noexcept {
      if (count) --*count;
      count = nullptr;
      unlink();
    }
  };

  bool empty() const noexcept { return entries_ == 0; }

  /// Lets `e` expire at `at`, or up to one granule later.
  void enter(entry& e, time_point at, time_point now) {
    e.leave();
    if (!slots_) slots_ = std::make_unique<list<entry>[]>(slot_count);
    if (entries_ == 0) tick_ = tick_of(now);
    e.due = std::max(tick_of(at), tick_) + 1;
    e.count = &entries_;
    ++entries_;
    slots_[static_cast<std::size_t>(e.due) % slot_count].push_back(e);
  }

  /// The time of the next call of `expire`. Only if the wheel isn't empty.
  time_point next() const noexcept { return time_point(granularity * (tick_ + 1)); }

  /// Takes out every entry that is due and calls f with it.
  template <class F>
  void expire(time_point now, F f) {
    const auto last = tick_of(now);
    list<entry> due;
    while (tick_ < last && entries_ > 0) {
      ++tick_;
      slots_[static_cast<std::size_t>(tick_) % slot_count].for_each([&](entry& e) {
        if (e.due > tick_) return;
        e.leave();
        due.push_back(e);
      });
    }
    tick_ = std::max(tick_, last);
    while (!due.empty()) f(due.pop_front());
  }

 private:
  static std::int64_t tick_of(time_point at) noexcept {
    return std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()) /
           granularity;
  }

  // The slots cover 5 s; later entries stay for more rounds.
  static constexpr std::size_t slot_count = 1024;
  std::unique_ptr<list<entry>[]> slots_;  // Allocated at the first entry.
  std::int64_t tick_ = 0;
  std::size_t entries_ = 0;
};

}  // namespace troupe::detail
