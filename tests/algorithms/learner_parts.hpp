#pragma once
// The parts of a learner's state by their names, to look at and to change.

#include <map>
#include <string>
#include <vector>

#include "algorithms/learner/learner.hpp"

namespace troupe {

/// A copy of the parts of a learner's state.
struct learner_parts {
  std::map<std::string, std::vector<float>, std::less<>> floats;
  std::map<std::string, std::int64_t, std::less<>> numbers;
  std::map<std::string, std::vector<double>, std::less<>> doubles;
  std::map<std::string, adam_state, std::less<>> optimizers;
  std::map<std::string, optimizer_state, std::less<>> chosen_optimizers;  ///< Of any kind.
  action_random::state_type random{};
  detail::reward_scale::state reward_scale;

  /// The floats of that name. Throws std::out_of_range if there are none.
  std::vector<float>& operator[](std::string_view name) { return floats.find(name)->second; }
  const std::vector<float>& operator[](std::string_view name) const {
    return floats.find(name)->second;
  }
};

/// Copies the parts of a learner to learner_parts, or back.
class parts_visitor final : public state_visitor {
 public:
  parts_visitor(learner_parts& parts, bool copies_back) : parts_(parts), back_(copies_back) {}

  bool restores() const override { return back_; }

  void visit(const std::string& name, std::span<float> floats) override {
    copy(parts_.floats[name], floats);
  }
  void visit(const std::string& name, std::span<double> doubles) override {
    copy(parts_.doubles[name], doubles);
  }
  void visit(const std::string& name, optional_block optional) override {
    auto& part = parts_.floats[name];
    auto& block = optional.block;
    if (back_) {
      block = part.empty() ? at::Tensor() : at::tensor(part);
    } else if (block.defined()) {
      part.assign(block.data_ptr<float>(), block.data_ptr<float>() + block.numel());
    }
  }
  void visit(const std::string& name, std::int64_t& number) override {
    auto& part = parts_.numbers[name];
    (back_ ? number : part) = back_ ? part : number;
  }
  void visit(const std::string& name, adam& optimizer) override {
    copy_state(parts_.optimizers[name], optimizer);
  }
  void visit(const std::string& name, optimizer& any) override {
    copy_state(parts_.chosen_optimizers[name], any);
  }
  void visit(const std::string&, action_random& random) override {
    copy_state(parts_.random, random);
  }
  void visit(const std::string&, detail::reward_scale& scale) override {
    if (back_) {
      scale.restore("rewards", parts_.reward_scale);
    } else {
      parts_.reward_scale = scale.saved();
    }
  }

 private:
  template <class Number>
  void copy(std::vector<Number>& part, std::span<Number> numbers) const {
    if (back_) {
      std::copy(part.begin(), part.end(), numbers.begin());
    } else {
      part.assign(numbers.begin(), numbers.end());
    }
  }
  template <class State, class Of>
  void copy_state(State& part, Of& of) const {
    if (back_) {
      of.set_state(part);
    } else {
      part = of.state();
    }
  }

  learner_parts& parts_;
  bool back_;
};

inline learner_parts parts_of(const any_learner& learner) {
  learner_parts parts;
  parts_visitor copying(parts, false);
  const_cast<any_learner&>(learner).visit_state(copying);  // which only reads
  return parts;
}

/// Lets a learner go on from where another one is.
inline void copy_learner(any_learner& to, const any_learner& from) {
  to.start_from(from.acting(), {});
  to.restore(from.save());
}

inline void set_parts(any_learner& learner, learner_parts parts) {
  parts_visitor copying(parts, true);
  learner.visit_state(copying);
}

}  // namespace troupe
