#pragma once
// What one run of a template may use, and the values that it makes.

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/llm/jinja/value.hpp"

namespace troupe::llm::jinja {

/// Bounds of a run, so that no template takes all of the time or memory. Templates of published
/// models stay far below them.
inline constexpr std::int64_t work_max = 20'000'000;  ///< steps, and texts by 16 bytes
inline constexpr std::size_t text_bytes_max = std::size_t{64} << 20;
inline constexpr std::size_t items_max = 1'000'000;  ///< of a list
inline constexpr std::int64_t range_max = 100'000;   ///< as Jinja's sandbox
inline constexpr int value_depth_max = 100;          ///< lists in lists
inline constexpr int run_depth_max = 400;  ///< macros, statements and expressions in others

/// A template that can't go on. The message lacks the line.
class run_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void fail(const std::string& what) { throw run_error(what); }

class machine {
 public:
  explicit machine(const std::tm& date) : date_(date) {}

  /// Counts work that is done. Throws run_error beyond work_max.
  void work(std::size_t steps) {
    done_ += static_cast<std::int64_t>(steps);
    if (done_ > work_max)
      fail("expected a template of at most " + std::to_string(work_max) + " steps");
  }
  /// Throws run_error for a text that is too long.
  static void check_size(std::size_t bytes) {
    if (bytes > text_bytes_max)
      fail("expected texts of at most " + std::to_string(text_bytes_max) + " bytes");
  }

  value make(text of) {
    check_size(of.size());
    work(of.size() / 16);
    return value(std::move(of));
  }
  value make(std::vector<value> items, list_kind kind = list_kind::list) {
    if (items.size() > items_max)
      fail("expected lists of at most " + std::to_string(items_max) + " items");
    work(items.size());
    list made{.kind = kind};
    for (const auto& one : items) made.depth = std::max(made.depth, checked(one).depth() + 1);
    check_depth(made.depth);
    made.items = std::move(items);
    return value(std::move(made));
  }
  value make(dict of) {
    work(of.entries.size());
    for (const auto& [key, held] : of.entries) checked(held);
    check_depth(of.depth);
    return value(std::move(of));
  }
  /// The value, which is to be in a list, a dictionary or a namespace. Throws run_error for a
  /// namespace, a macro and a loop, so that nothing outlives what it refers to.
  static const value& checked(const value& of) {
    const auto& held = of.as_method() ? of.as_method()->of : of;
    if (held.as_namespace() || held.as_macro() || held.as_loop() || held.as_joiner())
      fail("expected a value that can be in a list or in a namespace, got a " +
           std::string(held.type()));
    return of;
  }

  const std::tm& date() const { return date_; }

 private:
  static void check_depth(int depth) {
    if (depth > value_depth_max)
      fail("expected lists of at most " + std::to_string(value_depth_max) + " levels");
  }

  std::tm date_;
  std::int64_t done_ = 0;
};

/// Writes a text piece by piece, within the bounds.
class text_builder {
 public:
  explicit text_builder(machine& of) : machine_(of) {}
  void add(const text& more) {
    machine::check_size(made_.size() + more.size());
    machine_.work(more.size() / 16);
    append(made_, more);
  }
  void add(std::string_view chars, char mark = 0) {
    machine::check_size(made_.size() + chars.size());
    machine_.work(chars.size() / 16);
    append(made_, chars, mark);
  }
  text take() { return std::move(made_); }
  const text& made() const { return made_; }

 private:
  machine& machine_;
  text made_;
};

/// The arguments of a call.
struct given_arguments {
  std::vector<value> positional = {};
  std::vector<std::pair<std::string, value>> named = {};
};

}  // namespace troupe::llm::jinja
