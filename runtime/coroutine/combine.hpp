#pragma once
// Several tasks at once, structured: none outlives the co_await that started it.
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
#include "runtime/coroutine/crew.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe {

/// Awaits every task; a task<void> gives a std::monostate.
template <class... Ts>
  requires(sizeof...(Ts) > 0)
task<std::tuple<detail::value_or_monostate<Ts>...>> all(task<Ts>... tasks) {
  std::tuple<std::optional<detail::value_or_monostate<Ts>>...> results;
  detail::crew crew;
  std::apply(
      [&](auto&... result) { (crew.start(detail::keep_result(std::move(tasks), result)), ...); },
      results);
  co_await crew.join();
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
  detail::crew crew;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    crew.start(detail::keep_result(std::move(tasks[i]), results[i]));
  }
  co_await crew.join();
  std::vector<T> values;
  values.reserve(results.size());
  for (auto& result : results) values.push_back(std::move(*result));
  co_return values;
}

inline task<> all(std::vector<task<>> tasks) {
  std::deque<std::optional<std::monostate>> results(tasks.size());
  detail::crew crew;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    crew.start(detail::keep_result(std::move(tasks[i]), results[i]));
  }
  co_await crew.join();
}

/// What `any` returns: which task was first, and its value.
template <class T>
struct winner {
  std::size_t index;
  detail::value_or_monostate<T> value;
};

namespace detail {

/// Which of several tasks ended first, and how.
template <class T>
struct race {
  std::optional<std::size_t> first;
  std::optional<value_or_monostate<T>> value;
  std::exception_ptr error;
};

template <class T>
branch run_in_race(task<T> work, std::size_t index, race<T>& race) {
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

/// The first task to end; if it threw, its error. The others are cancelled. Needs at least one.
template <class T>
task<winner<T>> any(std::vector<task<T>> tasks) {
  if (tasks.empty()) throw std::invalid_argument("any: expected at least one task, got none");
  detail::race<T> race;
  detail::crew crew;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    crew.start(detail::run_in_race(std::move(tasks[i]), i, race));
  }
  co_await crew.changed();
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

/// `work`'s value, or call_error of kind deadline_exceeded once `limit` has passed; `work` is then
/// cancelled.
template <class T>
task<T> with_timeout(task<T> work, duration limit) {
  std::optional<detail::value_or_monostate<T>> result;
  std::optional<std::monostate> expired;
  detail::crew crew;
  crew.start(detail::keep_result(std::move(work), result));
  crew.start(detail::keep_result(detail::sleep_task(limit), expired));
  co_await crew.changed();
  crew.check();
  if (!result) {
    throw call_error(error_kind::deadline_exceeded,
                     "with_timeout: not finished after " + detail::to_text(limit));
  }
  if constexpr (!std::is_void_v<T>) co_return std::move(*result);
}

/// Where `with_group`'s body starts tasks beside itself.
class group {
 public:
  /// Starts `work`; it runs once the running coroutine has suspended.
  void start(task<> work) { crew_.start(run(std::move(work))); }
  /// Awaits everything started so far. An error of one of them doesn't come here but ends the
  /// group.
  task<> join() {
    while (running() > 0) co_await crew_.changed();
  }
  /// How many of the started tasks have not finished.
  std::size_t running() const noexcept { return crew_.running() - 1; }

 private:
  static detail::branch run(task<> work) { co_await work; }
  detail::crew crew_;  ///< The body is one of it, for as long as anybody can ask.

  template <class F, class... A>
  friend std::invoke_result_t<F&, group&, A...> with_group(F body, A... args);
};

/// Runs `body(group&, args...)`, a coroutine, and leaves when it has returned: what it started and
/// did not join is cancelled. An error of a started task cancels the body and all others, and is
/// thrown here.
template <class F, class... A>
std::invoke_result_t<F&, group&, A...> with_group(F body, A... args) {
  using result_type = typename std::invoke_result_t<F&, group&, A...>::value_type;
  group members;
  std::optional<detail::value_or_monostate<result_type>> result;
  auto& crew = members.crew_;
  crew.start(detail::keep_result(std::invoke(body, members, std::move(args)...), result));
  while (!result) {
    co_await crew.changed();
    crew.check();
  }
  if constexpr (!std::is_void_v<result_type>) co_return std::move(*result);
}

}  // namespace troupe
