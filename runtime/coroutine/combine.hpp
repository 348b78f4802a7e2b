#pragma once
// Structured concurrency: these functions run several tasks at once, and no task outlives the
// co_await that started it.
//
//   auto both = co_await all(f(), g());             // a tuple; an error cancels the other
//   std::vector<int> values = co_await all(tasks);  // every task of a vector
//   auto first = co_await any(std::move(tasks));    // the first to end; the others are cancelled
//   int x = co_await with_timeout(f(), 50ms);       // or a call_error: deadline_exceeded
//   co_await with_group(body);                      // body(group&) starts tasks beside itself

#include <deque>
#include <functional>
#include <tuple>
#include <vector>

#include "runtime/base/error.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/coroutine/task.hpp"
#include "runtime/coroutine/task_group.hpp"

namespace troupe {

/// Awaits every task and returns their values; a task<void> gives a std::monostate. The first error
/// cancels the other tasks and is thrown.
template <class... Ts>
  requires(sizeof...(Ts) > 0)
task<std::tuple<detail::value_or_monostate<Ts>...>> all(task<Ts>... tasks) {
  std::tuple<std::optional<detail::value_or_monostate<Ts>>...> results;
  detail::task_group children;
  std::apply(
      [&](auto&... result) {
        (children.start(detail::keep_result(std::move(tasks), result)), ...);
      },
      results);
  co_await children.join();
  co_return std::apply(
      [](auto&... result) {
        return std::tuple<detail::value_or_monostate<Ts>...>(std::move(*result)...);
      },
      results);
}

template <class T>
  requires(!std::is_void_v<T>)
task<std::vector<T>> all(std::vector<task<T>> tasks) {
  std::deque<std::optional<T>> results(tasks.size());
  detail::task_group children;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    children.start(detail::keep_result(std::move(tasks[i]), results[i]));
  }
  co_await children.join();
  std::vector<T> values;
  values.reserve(results.size());
  for (auto& result : results) values.push_back(std::move(*result));
  co_return values;
}

inline task<> all(std::vector<task<>> tasks) {
  std::deque<std::optional<std::monostate>> results(tasks.size());
  detail::task_group children;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    children.start(detail::keep_result(std::move(tasks[i]), results[i]));
  }
  co_await children.join();
}

/// The result of `any`: the index of the task that ended first, and its value.
template <class T>
struct winner {
  std::size_t index;
  detail::value_or_monostate<T> value;
};

namespace detail {

/// Records which of several tasks ended first, and its value or error.
template <class T>
struct race {
  std::optional<std::size_t> first;
  std::optional<value_or_monostate<T>> value;
  std::exception_ptr error;
};

template <class T>
child_task run_in_race(task<T> work, std::size_t index, race<T>& race) {
  std::optional<value_or_monostate<T>> value;
  std::exception_ptr error;
  try {
    if constexpr (std::is_void_v<T>) {
      co_await work;
      value.emplace();
    } else {
      value.emplace(co_await work);
    }
  } catch (...) {
    error = std::current_exception();
  }
  if (race.first) co_return;
  race.first = index;
  race.value = std::move(value);
  race.error = error;
}

}  // namespace detail

/// Awaits the first task that ends and returns its value, or throws its error. The other tasks are
/// cancelled. Throws std::invalid_argument if `tasks` is empty.
template <class T>
task<winner<T>> any(std::vector<task<T>> tasks) {
  if (tasks.empty()) throw std::invalid_argument("any: expected at least one task, got none");
  detail::race<T> race;
  detail::task_group children;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    children.start(detail::run_in_race(std::move(tasks[i]), i, race));
  }
  co_await children.changed();
  if (race.error) std::rethrow_exception(race.error);
  co_return winner<T>{*race.first, std::move(*race.value)};
}

template <class T>
task<winner<T>> any(task<T> first, std::same_as<task<T>> auto... others) {
  std::vector<task<T>> tasks;
  tasks.push_back(std::move(first));
  (tasks.push_back(std::move(others)), ...);
  return any(std::move(tasks));
}

/// Returns the value of `work`. Once `limit` has passed, it cancels `work` and throws a call_error
/// of kind deadline_exceeded.
template <class T>
task<T> with_timeout(task<T> work, duration limit) {
  std::optional<detail::value_or_monostate<T>> result;
  std::optional<std::monostate> expired;
  detail::task_group children;
  children.start(detail::keep_result(std::move(work), result));
  children.start(detail::keep_result(detail::sleep_task(limit), expired));
  co_await children.changed();
  children.check();
  if (!result) {
    throw call_error(error_kind::deadline_exceeded,
                     "with_timeout: not finished after " + detail::to_text(limit));
  }
  if constexpr (!std::is_void_v<T>) co_return std::move(*result);
}

/// Runs the tasks that the body of `with_group` starts.
class group {
 public:
  /// Starts `work`, which runs once the running coroutine has suspended.
  void start(task<> work) { children_.start(run(std::move(work))); }
  /// Awaits all tasks that were started. It doesn't throw their errors: an error of a task ends the
  /// whole group.
  task<> join() {
    while (running() > 0) co_await children_.changed();
  }
  /// Returns the number of started tasks that have not finished.
  std::size_t running() const noexcept { return children_.running() - 1; }

 private:
  static detail::child_task run(task<> work) { co_await work; }
  detail::task_group children_;  ///< It also runs the body, which `running` doesn't count.

  template <class F, class... A>
  friend std::invoke_result_t<F&, group&, A...> with_group(F body, A... args);
};

/// Runs the coroutine `body(group&, args...)` and returns its result. Tasks that the body started
/// and did not join are cancelled when it returns. An error of a task cancels the body and all
/// other tasks, and is thrown here.
template <class F, class... A>
std::invoke_result_t<F&, group&, A...> with_group(F body, A... args) {
  using result_type = typename std::invoke_result_t<F&, group&, A...>::value_type;
  group members;
  std::optional<detail::value_or_monostate<result_type>> result;
  auto& children = members.children_;
  children.start(detail::keep_result(std::invoke(body, members, std::move(args)...), result));
  while (!result) {
    co_await children.changed();
    children.check();
  }
  if constexpr (!std::is_void_v<result_type>) co_return std::move(*result);
}

}  // namespace troupe
