#pragma once
// The role that learns in the cross-entropy method, and the experience that it learns from.

#include <cstdint>
#include <string>
#include <vector>

#include "actors/weights/weight_store.hpp"

/// The experience: the parameters of one policy, and the episode that it played.
struct trial {
  std::vector<float> parameters;
  double episode_return = 0;
  double length = 0;         // in steps
  std::int64_t version = 0;  // of the distribution that the parameters were drawn from
  std::uint64_t seed = 0;    // of the parameters and of the episode
};

/// The role that learns: a normal distribution of the parameters of policies.
class search {
 public:
  search(std::int64_t parameters, std::uint64_t seed);

  /// Draws a policy, whose episode is still to be played.
  trial draw();
  /// Fits the distribution to the best quarter of the trials. Returns its mean, the new weights.
  troupe::weights fit(std::vector<trial> trials);

  std::string save() const;
  void restore(std::string bytes);

 private:
  struct state {
    std::vector<float> mean, deviation;
    std::int64_t version = 0, drawn = 0;
  };
  state now_;
  std::uint64_t seed_;
};
