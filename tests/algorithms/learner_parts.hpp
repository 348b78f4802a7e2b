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
  std::map<std::string, adam_state, std::less<>> optimizers;
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

  void operator()(std::string_view name, std::span<float> floats) override {
    auto& part = parts_.floats[std::string(name)];
    if (back_) {
      std::copy(part.begin(), part.end(), floats.begin());
    } else {
      part.assign(floats.begin(), floats.end());
    }
  }
  void operator()(std::string_view name, std::int64_t& number) override {
    auto& part = parts_.numbers[std::string(name)];
    (back_ ? number : part) = back_ ? part : number;
  }
  void operator()(std::string_view name, adam& optimizer) override {
    auto& part = parts_.optimizers[std::string(name)];
    if (back_) {
      optimizer.set_state(part);
    } else {
      part = optimizer.state();
    }
  }
  void operator()(std::string_view, action_random& random) override {
    if (back_) {
      random.set_state(parts_.random);
    } else {
      parts_.random = random.state();
    }
  }
  void operator()(std::string_view, detail::reward_scale& scale) override {
    if (back_) {
      scale.restore("rewards", parts_.reward_scale);
    } else {
      parts_.reward_scale = scale.saved();
    }
  }

 private:
  learner_parts& parts_;
  bool back_;
};

inline learner_parts parts_of(const any_learner& learner) {
  learner_parts parts;
  parts_visitor copying(parts, false);
  const_cast<any_learner&>(learner).visit_state(copying);  // which only reads
  return parts;
}

inline void set_parts(any_learner& learner, learner_parts parts) {
  parts_visitor copying(parts, true);
  learner.visit_state(copying);
}

}  // namespace troupe
