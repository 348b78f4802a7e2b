#include "algorithms/learner/learner_state.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "actors/checkpoint/state.hpp"
#include "actors/checkpoint/state_codec.hpp"

namespace troupe::detail {
namespace {

// Blocks of language models are large, so they are not copied on the way.

std::span<float> floats_of(const at::Tensor& block) {
  if (!block.defined()) return {};
  return {block.data_ptr<float>(), static_cast<std::size_t>(block.numel())};
}

class saving_visitor final : public state_visitor {
 public:
  std::string bytes() && { return std::move(to_).bytes(); }

 private:
  void visit(const std::string& name, std::span<float> numbers) override {
    put_numbers(name, numbers);
  }
  void visit(const std::string& name, std::span<double> numbers) override {
    put_numbers(name, numbers);
  }
  void visit(const std::string& name, optional_block block) override {
    put_numbers(name, floats_of(block.block));
  }
  void visit(const std::string& name, std::int64_t& number) override { to_.put(name, number); }
  void visit(const std::string& name, adam& optimizer) override {
    to_.put(name, state_bytes(optimizer.state()));
  }
  void visit(const std::string& name, optimizer& any) override {
    to_.put(name, state_bytes(any.state()));
  }
  void visit(const std::string& name, action_random& random) override {
    to_.put(name, state_bytes(random.state()));
  }
  void visit(const std::string& name, reward_scale& scale) override {
    to_.put(name, state_bytes(scale.saved()));
  }

  template <class Number>
  void put_numbers(const std::string& name, std::span<Number> numbers) {
    to_.put(name,
            std::string_view(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()));
  }

  state_writer to_;
};

/// Checks all values, and replaces them if `replaces` is true.
class restoring_visitor final : public state_visitor {
 public:
  restoring_visitor(std::string_view algorithm, const state_reader& from, bool replaces)
      : algorithm_(algorithm), from_(from), replaces_(replaces) {}

  bool restores() const override { return replaces_; }

 private:
  void visit(const std::string& name, std::span<float> numbers) override {
    set_numbers(name, numbers);
  }
  void visit(const std::string& name, std::span<double> numbers) override {
    set_numbers(name, numbers);
  }
  void visit(const std::string& name, optional_block block) override {
    const bool has = !from_.get<std::string_view>(name).empty();
    auto read = has ? at::empty({block.count}, at::kFloat) : at::Tensor();
    if (has) set_numbers(name, floats_of(read));
    if (replaces_) block.block = std::move(read);
  }
  void visit(const std::string& name, std::int64_t& number) override {
    const auto saved = from_.get<std::int64_t>(name);
    if (replaces_) number = saved;
  }
  void visit(const std::string& name, adam& optimizer) override {
    auto saved = state_of<adam_state>(from_.get<std::string_view>(name));
    check(name,
          [&] { replaces_ ? optimizer.set_state(std::move(saved)) : optimizer.check(saved); });
  }
  void visit(const std::string& name, optimizer& any) override {
    set(name, any, [](optimizer& to, const optimizer_state& saved) { to.set_state(saved); });
  }
  void visit(const std::string& name, action_random& random) override {
    set(name, random,
        [](action_random& to, action_random::state_type saved) { to.set_state(saved); });
  }
  void visit(const std::string& name, reward_scale& scale) override {
    set(name, scale,
        [](reward_scale& to, const reward_scale::state& saved) { to.restore("rewards", saved); });
  }

  template <class Number>
  void set_numbers(std::string_view name, std::span<Number> numbers) const {
    const auto saved = from_.get<std::string_view>(name);
    if (saved.size() != numbers.size_bytes()) {
      throw state_error(fmt::format("{} state: {}: expected {} numbers, got {}", algorithm_, name,
                                    numbers.size(), saved.size() / sizeof(Number)));
    }
    if (replaces_) saved.copy(reinterpret_cast<char*>(numbers.data()), saved.size());
  }

  /// Sets the saved state of a part, or that of a copy if nothing is replaced.
  template <class Part, class State>
  void set(std::string_view name, Part& part, void (*set_state)(Part&, State)) const {
    auto saved = state_of<std::remove_cvref_t<State>>(from_.get<std::string_view>(name));
    check(name, [&] {
      if (replaces_) return set_state(part, std::move(saved));
      auto copy = part;
      set_state(copy, std::move(saved));
    });
  }
  template <class Part, class Set>
  void set(std::string_view name, Part& part, Set set_state) const {
    set(name, part, +set_state);
  }

  template <class Set>
  void check(std::string_view name, Set set) const {
    try {
      set();
    } catch (const std::invalid_argument& e) {
      throw state_error(fmt::format("{} state: {}: {}", algorithm_, name, e.what()));
    }
  }

  std::string_view algorithm_;
  const state_reader& from_;
  bool replaces_;
};

}  // namespace

std::string save_state(const visits_state& visit_all) {
  saving_visitor saving;
  visit_all(saving);
  return std::move(saving).bytes();
}

void restore_state(std::string_view algorithm, std::string_view bytes,
                   const visits_state& visit_all) {
  const auto from = state_reader::of_view(bytes);
  for (const bool replaces : {false, true}) {
    restoring_visitor restoring(algorithm, from, replaces);
    visit_all(restoring);
  }
}

}  // namespace troupe::detail
