#pragma once
// How GRPO learns from groups of answers. Which paper each switch is from: algorithms/losses/.

#include <cstdint>
#include <optional>

#include "actors/trainer/adam.hpp"
#include "algorithms/learner/annealing.hpp"
#include "algorithms/losses/grpo_loss.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

/// Where a penalty for the distance from the first weights is.
enum class kl_place { loss, reward };
/// What the clipped ratio is to.
enum class proximal_policy {
  automatic,   ///< recomputed where a batch is trained on in several steps, else the behaviour
  behaviour,   ///< the weights that sampled each token, by the log-probabilities recorded then
  recomputed,  ///< the weights the update begins with: decoupled PPO
};
/// What becomes of a group whose answers are all equally good.
enum class flat_group_rule {
  keep,    ///< it is trained on: its tokens count, and pull towards the reference if there is one
  drop,    ///< it isn't; the batch is smaller by it
  refill,  ///< another prompt is asked in its place, rollout.rounds times at most; then as `drop`
};

/// Defaults: docs/grpo.md says where they are from.
struct grpo_options {
  /// What the options without a value are taken from; none: cispo, or of games dr_grpo.
  std::optional<grpo_variant> variant;
  std::optional<advantage_kind> advantage;
  std::optional<policy_term> term;
  std::optional<ratio_level> ratio;
  std::optional<loss_aggregation> aggregation;
  std::optional<double> clip_low, clip_high;
  double dual_clip = 3.0;  ///< 0: none
  double cispo_max = 5.0;
  double advantage_eps = 1e-4;

  proximal_policy proximal = proximal_policy::automatic;
  /// Of term reinforce, and of recomputed proximal policies; none: of the first truncate, of the
  /// others mask.
  std::optional<correction_kind> correction;
  correction_level correction_by = correction_level::token;
  double correction_max = 5.0;
  double correction_min = 0.0;

  std::optional<double> kl_coef;  ///< 0: no reference model is kept; none: 0, or of games 0.1
  kl_place kl_in = kl_place::loss;
  kl_kind kl = kl_kind::k3;  ///< of kl_in `loss`; in the reward it is k1

  std::optional<flat_group_rule> flat_groups;  ///< none: the variant's
  /// Answers that the limit ended aren't trained on.
  bool mask_truncated = false;
  /// The last so many tokens before the limit cost reward: overlong_reward.hpp. 0: none do; none:
  /// the variant's share of the limit, of games 0.
  std::optional<std::int64_t> overlong_cache;

  /// None: 1e-4 for the letters model, 1e-3 where it plays a game, 1e-5 for others.
  std::optional<double> lr;
  annealing lr_schedule = annealing::linear;
  /// Over which lr rises from 0; none: 0, of problems in letters 20, but at most half of the run.
  std::optional<int> warmup_updates;
  int epochs = 1;           ///< passes over a batch
  int minibatches = 1;      ///< steps a pass
  int micro_tokens = 2048;  ///< of one forward pass, at least one group; a matter of memory
  double max_grad_norm = 1.0;
  double weight_decay = 0.0;
  double beta1 = 0.9, beta2 = 0.999, adam_eps = 1e-8;
  int max_skipped_steps = 10;  ///< non-finite steps in a row that end training

  grpo_preset preset() const { return preset_of(variant.value_or(grpo_variant::cispo)); }
  advantage_kind advantages() const { return advantage.value_or(preset().advantage); }
  policy_term loss_term() const { return term.value_or(preset().loss.term); }
  double penalty() const { return kl_coef.value_or(0.0); }
  flat_group_rule flat_rule() const;
  /// The overlong_cache where answers have at most so many tokens.
  std::int64_t overlong_tokens(std::int64_t answer_tokens) const;
  /// The variant's, with what has a value here.
  grpo_loss_options loss() const;
  adam_options adam() const;
  bool recomputes() const;
  /// What was sampled by other weights is weighted.
  bool corrects() const;
  correction_kind correction_used() const;
};

void describe(enum_schema<grpo_variant>& s);
void describe(enum_schema<advantage_kind>& s);
void describe(enum_schema<policy_term>& s);
void describe(enum_schema<ratio_level>& s);
void describe(enum_schema<loss_aggregation>& s);
void describe(enum_schema<correction_kind>& s);
void describe(enum_schema<correction_level>& s);
void describe(enum_schema<kl_kind>& s);
void describe(enum_schema<kl_place>& s);
void describe(enum_schema<proximal_policy>& s);
void describe(enum_schema<flat_group_rule>& s);
void describe(options_schema<grpo_options>& s);

}  // namespace troupe
