#pragma once
// The variable `loop` of a for loop.

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "actors/llm/jinja/machine.hpp"
#include "actors/llm/jinja/value.hpp"

namespace troupe::llm::jinja {

/// Goes through the items of a loop. A condition is evaluated when an item is asked for and not
/// before, since it may depend on what the loop's body did. `loop.last`, `loop.nextitem` and
/// `loop.length` ask for later items, as in Jinja.
class loop_state {
 public:
  /// `keeps` is null if there is no condition.
  loop_state(std::vector<value> items, std::function<bool(const value&)> keeps)
      : items_(std::move(items)), keeps_(std::move(keeps)) {}

  /// Goes to the next item. False at the end.
  bool next() {
    const auto* following = peek(0);
    if (!following) return false;
    if (index_ >= 0) previous_ = current_;
    current_ = *following;
    ++index_;
    return true;
  }
  const value& current() const { return current_; }

  value attribute(machine& run, std::string_view name);
  value cycle(const given_arguments& given) const;
  bool changed(machine& run, const given_arguments& given);

 private:
  /// The item `ahead` places after the current one, or null.
  const value* peek(std::size_t ahead) {
    const auto place = static_cast<std::size_t>(index_ + 1) + ahead;
    while (kept_.size() <= place) {
      if (read_ == items_.size()) return nullptr;
      const auto& item = items_[read_++];
      if (!keeps_ || keeps_(item)) kept_.push_back(read_ - 1);
    }
    return &items_[kept_[place]];
  }
  std::int64_t length() {
    peek(items_.size());
    return std::ssize(kept_);
  }

  std::vector<value> items_;
  std::function<bool(const value&)> keeps_;
  std::size_t read_ = 0;           // how many items were looked at
  std::vector<std::size_t> kept_;  // the places of those that the condition keeps
  std::int64_t index_ = -1;
  value current_ = {};
  std::optional<value> previous_ = {};
  std::optional<std::vector<value>> last_changed_ = {};
};

}  // namespace troupe::llm::jinja
