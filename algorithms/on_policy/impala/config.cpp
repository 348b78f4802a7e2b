#include "algorithms/on_policy/impala/config.hpp"

namespace troupe {

impala_options::impala_options() {
  lr = 5e-4;
  n_epochs = 1;
  gae_lambda = 1.0;
  normalize_advantage = false;
  ent_coef = 0.01;
  max_grad_norm = 40.0;
  optimizer_eps = 1e-8;
  vtrace = true;
  importance_cap = 1.0;
}

impala_config::impala_config() {
  algo = "impala";
  mode = training_mode::async;
  rollout.n_steps = 50;
  rollout.batch = 10;
  rollout.workers = 2;
  rollout.max_staleness = 8;
  log.every_updates = 10;
}

void describe(options_schema<impala_options>& s) {
  describe_update_rule(s, "optimizer_eps");
  describe_optimizer(s);
  s.field("gae_lambda", &impala_options::gae_lambda)
      .also_known_as({"lambda", "lam"})
      .at_least(0)
      .at_most(1)
      .help(
          "The lambda of V-trace (Espeholt et al. 2018, remark 2), with which the weights of later "
          "steps are multiplied; 1 gives n-step returns.");
  s.field("normalize_advantage", &impala_options::normalize_advantage)
      .help("If true, advantages are normalised to mean 0 and deviation 1.");
  s.field("trace_cap", &impala_options::trace_cap)
      .above(0)
      .help(
          "The largest importance weight in the trace of later steps, c of V-trace; "
          "trainer.importance_cap is its rho.");
  s.field("n_epochs", &impala_options::n_epochs)
      .also_known_as({"epochs", "update_epochs"})
      .at_least(1)
      .help("The number of gradient steps on each batch.");
  s.field("clip_range", &impala_options::clip_range)
      .also_known_as({"clip", "clip_coef"})
      .above(0)
      .has_effect_if("trainer.n_epochs is above 1, as the ratio of a first step is 1",
                     [](const impala_options& o) { return o.n_epochs > 1; })
      .help(
          "The ratio of probabilities to those before the update counts only within 1 +- "
          "clip_range, as in APPO; null means no clipping.");
  s.field("clip_schedule", &impala_options::clip_schedule)
      .has_effect_if("trainer.clip_range has a value",
                     [](const impala_options& o) { return o.clip_range.has_value(); })
      .help(
          "How clip_range changes: constant keeps it, linear lets it fall to 0 at the end of "
          "training.");
}

void describe(options_schema<impala_config>& s) {
  describe_on_policy(s);
  describe_trainer(s);
}

}  // namespace troupe
