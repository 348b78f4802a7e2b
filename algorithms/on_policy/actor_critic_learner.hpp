#pragma once
// The base of the learners whose policies act with an actor_critic.

#include <cstdint>
#include <span>

#include "actors/networks/actor_critic.hpp"
#include "algorithms/learner/learner.hpp"

namespace troupe {

namespace detail {

/// The parameters of a network, float [P].
std::span<const float> numbers_of(const actor_critic& model);
/// Copies parameters [P] of an equal network.
void load_numbers(actor_critic& model, std::span<const float> parameters);

}  // namespace detail

/// A learner that has an actor_critic. Its acting parameters are all of the network's, and a model
/// gives no others.
template <class Batch>
class actor_critic_learner : public learner<Batch> {
 public:
  actor_critic& model() { return model_; }
  const actor_critic& model() const { return model_; }

  std::span<const float> acting() const override { return detail::numbers_of(model_); }
  void start_from(std::span<const float> acting, const named_tensors&) override {
    this->expect_size_of(acting);
    detail::load_numbers(model_, acting);
  }

 protected:
  /// `seed` decides the network's initial weights, and its complement the random numbers of
  /// training.
  actor_critic_learner(const char* name, const learning_options& learning,
                       const network_shape& shape, const network_options& network,
                       std::uint64_t seed)
      : learner<Batch>(name, learning, ~seed), model_(shape, network, seed) {}

  actor_critic model_;
};

}  // namespace troupe
