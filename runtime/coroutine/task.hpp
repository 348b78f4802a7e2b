#pragma once
// `task<T>`, the coroutine type of every asynchronous function: endpoints, episode functions and
// helpers.

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "runtime/base/recycled.hpp"
#include "runtime/coroutine/strand.hpp"

namespace troupe {

template <class T>
class task;

namespace detail {

/// The common part of the promises of task<T> and task<void>: the coroutine that continues when
/// this one has finished, and the error.
class task_promise_base : public recycled {
 public:
  std::suspend_always initial_suspend() const noexcept { return {}; }

  struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> finished) const noexcept {
      strand::current_or_null()->transfer_to(finished.promise().continuation);
    }
    void await_resume() const noexcept {}
  };
  final_awaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { error = std::current_exception(); }

  std::coroutine_handle<> continuation;
  std::exception_ptr error;
};

template <class T>
class task_promise : public task_promise_base {
 public:
  task<T> get_return_object() noexcept;
  template <class U = T>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() {
    if (error) std::rethrow_exception(error);
    return std::move(*value);
  }

  std::optional<T> value;
};

template <>
class task_promise<void> : public task_promise_base {
 public:
  task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() const {
    if (error) std::rethrow_exception(error);
  }
};

}  // namespace detail

/// A coroutine that returns T. It is lazy: it starts when it is awaited, and runs on the actor that
/// awaits it. Destroying a suspended task cancels it: its locals are destroyed, and whatever it
/// waited for is told.
///
/// Coroutines are named functions whose parameters are values; a capturing lambda that is itself a
/// coroutine loses its captures (CONTRIBUTING.md, "Two rules for coroutines").
template <class T = void>
class [[nodiscard("co_await it: a task that nobody awaits never begins")]] task {
 public:
  using promise_type = detail::task_promise<T>;
  using value_type = T;

  task(task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> parent) {
    handle_.promise().continuation = parent;
    detail::strand::current().transfer_to(handle_);
  }
  T await_resume() { return handle_.promise().take(); }

 private:
  friend promise_type;
  explicit task(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}

  std::coroutine_handle<promise_type> handle_;
};

template <class T>
task<T> detail::task_promise<T>::get_return_object() noexcept {
  return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
}

inline task<void> detail::task_promise<void>::get_return_object() noexcept {
  return task<void>(std::coroutine_handle<task_promise>::from_promise(*this));
}

}  // namespace troupe
