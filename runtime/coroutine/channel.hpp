#pragma once
// A queue between coroutines of one actor, for roles whose endpoints produce and consume at
// different speeds.

#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>

#include "runtime/coroutine/strand.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe {

/// A bounded queue between coroutines of one actor. `send` waits while it is full, `receive` while
/// it is empty. Between actors, call a service instead.
///
///   channel<int> numbers(8);
///   co_await numbers.send(1);                          // one coroutine
///   while (auto n = co_await numbers.receive()) ...    // another; nullopt once closed and empty
template <class T>
class channel {
 public:
  /// `capacity` is the number of items that are held before `send` waits, at least 1. Throws
  /// std::invalid_argument for 0.
  explicit channel(std::size_t capacity) : capacity_(capacity) {
    if (capacity == 0) throw std::invalid_argument("channel: expected a capacity > 0, got 0");
  }

  /// Adds an item, and waits while the channel is full. Throws std::logic_error if the channel is
  /// closed or becomes closed meanwhile.
  task<> send(T item) {
    while (items_.size() >= capacity_ && !closed_) co_await suspend(senders_);
    if (closed_) throw std::logic_error("channel: send after close");
    items_.push_back(std::move(item));
    wake_one(receivers_);
  }

  /// Takes the next item, in the order of sending, and waits while there is none. Returns nullopt
  /// once the channel is closed and empty.
  task<std::optional<T>> receive() {
    while (items_.empty() && !closed_) co_await suspend(receivers_);
    std::optional<T> item;
    if (!items_.empty()) {
      item.emplace(std::move(items_.front()));
      items_.pop_front();
      wake_one(senders_);
    }
    // This coroutine may have been woken for an item that another one took, so the next receiver is
    // woken for what is left.
    if (!items_.empty()) wake_one(receivers_);
    co_return item;
  }

  /// Closes the channel. Items that were sent can still be received.
  void close() {
    closed_ = true;
    while (!senders_->empty()) wake_one(senders_);
    while (!receivers_->empty()) wake_one(receivers_);
  }

  std::size_t size() const noexcept { return items_.size(); }

 private:
  struct suspend;
  using queue = std::shared_ptr<detail::list<suspend>>;

  struct suspend : detail::waiter {
    explicit suspend(queue place) : place(std::move(place)) {}
    // If the coroutine is cancelled after it was woken and before it ran, the next one is woken in
    // its place.
    ~suspend() {
      if (woken) wake_one(place);
    }
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) {
      this->handle = h;
      home = &detail::strand::current();
      place->push_back(*this);
    }
    void await_resume() noexcept { woken = false; }

    queue place;
    detail::strand* home = nullptr;
    bool woken = false;
  };

  static void wake_one(const queue& waiting) {
    if (waiting->empty()) return;
    suspend& first = waiting->front();
    first.woken = true;
    first.home->wake(first);
  }

  std::size_t capacity_;
  bool closed_ = false;
  std::deque<T> items_;
  queue senders_ = std::make_shared<detail::list<suspend>>();
  queue receivers_ = std::make_shared<detail::list<suspend>>();
};

}  // namespace troupe
