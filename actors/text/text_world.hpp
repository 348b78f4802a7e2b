#pragma once
// A text world as a role, which language models play:
//
//   auto tables = co_await sys.serve<text_world>({.name = "worlds", .replicas = 32}, make,
//                                                text_world_options{});
//   auto table = co_await tables.session({.exclusive = true});  // one episode at a time
//   auto now = co_await table.route<&text_world::reset>(text_reset{.seed = 7});
//   while (!now.ended) now = co_await table.route<&text_world::step>("HIT");

#include <memory>
#include <string>

#include "actors/text/text_environment.hpp"

namespace troupe {

/// The treatment of replies that are no action.
struct text_world_options {
  /// True if such a reply ends the episode. Otherwise the model is told, and the turn counts.
  bool refusal_ends = false;
  double refusal_reward = 0;  ///< The reward of such a reply.
};

/// A role with one world in each replica, for one episode at a time: callers take an exclusive
/// session. An episode whose world throws ends with that error, which callers of the service get as
/// the cause of a role_error; the replica keeps serving, and its next episode is a new one.
class text_world {
 public:
  /// Throws what `make` throws.
  text_world(text_environment_maker make, text_world_options options)
      : options_(options), world_(make()) {}

  /// Begins an episode. Throws std::runtime_error if it has ended already.
  task<text_step> reset(text_reset with);
  /// Takes the model's reply. `refused` stays set after a reply that was no action; `shown` then
  /// has the reason and what was shown before.
  task<text_step> step(std::string reply);
  /// Ends an episode that has not ended; see text_environment::end_episode.
  void end_episode() { world_->end_episode(); }

 private:
  text_world_options options_;
  std::unique_ptr<text_environment> world_;
  wording shown_;
};

}  // namespace troupe
