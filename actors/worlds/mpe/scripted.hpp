#pragma once
// Players by fixed rules for three of the particle environments, with which learned ones are
// compared. They choose the discrete actions.
//
// To approach a place, an agent first subtracts from the distance [x, y] the way on which it would
// coast to a halt, 0.4 times its velocity. It pushes itself along the axis on which more is left,
// and not at all if at most 0.1 is left: a push of one step moves it by 0.2 in the end.

#include <cstdint>
#include <span>
#include <vector>

#include "actors/random/numpy_random.hpp"
#include "actors/worlds/mpe/simple_tag.hpp"

namespace troupe {

/// simple_spread_v3: gives each agent the landmark of its own with which the sum of all distances
/// is the least, and lets it approach that one. `observations` [N, 6 N] are those of all agents,
/// and an observation row of the environment begins with them. Returns the actions [N]. Throws
/// std::invalid_argument for more than 8 agents, as all permutations are tried.
std::vector<std::int64_t> scripted_spread(std::span<const float> observations, std::size_t agents);

/// simple_speaker_listener_v4: the speaker, with the observation [3], says the number of the goal,
/// which is that of the largest part of its colour.
std::int64_t scripted_speaker(std::span<const float> obs);
/// The listener, with the observation [11], approaches the landmark whose number it heard, and does
/// nothing before it has heard one.
std::int64_t scripted_listener(std::span<const float> obs);

/// The listener that hears nothing: it approaches the middle of the three landmarks. As the reward
/// is minus the squared distance to a goal that is any of them with the same probability, no
/// listener without a word can expect more.
std::int64_t scripted_blind_listener(std::span<const float> obs);

/// simple_tag_v3: an adversary looks at the good agent that is nearest, and at the place where that
/// one and itself would coast to a halt. It pushes itself along the axis on which these are farther
/// apart. `options` are those of the environment.
std::int64_t scripted_chaser(std::span<const float> obs, const simple_tag_options& options = {});
/// A good agent of which a coordinate is beyond 0.9 or -0.9 pushes itself back along the axis of
/// the larger one. Otherwise it pushes itself away from the nearest adversary along the axis on
/// which that one is farther away.
std::int64_t scripted_runner(std::span<const float> obs, const simple_tag_options& options = {});
/// A good agent that draws each of the five moves with the same probability.
std::int64_t random_runner(numpy_random& random);

}  // namespace troupe
