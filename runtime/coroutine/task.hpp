#pragma once
// `task<T>`, the coroutine type of every asynchronous function: endpoints, episode functions and
// helpers.

#include <coroutine>
#include <exception>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "runtime/base/recycled.hpp"
#include "runtime/base/type_name.hpp"
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
/// Coroutines are named functions whose parameters are values. A capturing lambda that is itself a
/// coroutine would lose its captures, so it does not compile (CONTRIBUTING.md, "Two rules for
/// coroutines").
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

namespace detail {

/// True if T is the type of a lambda, by the compiler's spelling of it.
template <class T>
constexpr bool is_lambda() {
  return type_name<T>().find("(lambda at ") != std::string_view::npos ||
         type_name<T>().find("<lambda") != std::string_view::npos;
}

/// Refuses the lambda if it has a capture and is a coroutine that returns `Task` for `A`. The
/// compiler looks into it at the end of the file, when it knows the lambda's captures.
template <class Task, class Lambda, class... A>
void require_no_capture() {
  static_assert(std::is_empty_v<Lambda> || !std::is_invocable_r_v<Task, Lambda&, A...>,
                "a lambda with a capture is a coroutine, which loses its captures when the lambda "
                "ends: make it a function that takes values, and call that");
}

/// T, where the template is named whose address is given.
template <class T, auto>
using requiring = T;

}  // namespace detail
}  // namespace troupe

/// Coroutines whose first parameter is a lambda's own object, or a reference to a lambda.
template <class T, class Lambda, class... A>
  requires(std::is_class_v<Lambda> && troupe::detail::is_lambda<Lambda>())
struct std::coroutine_traits<troupe::task<T>, Lambda&, A...> {
  using promise_type =
      troupe::detail::requiring<troupe::detail::task_promise<T>,
                                &troupe::detail::require_no_capture<troupe::task<T>, Lambda, A...>>;
};
