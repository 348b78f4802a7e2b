#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/grpo_learner.hpp"

#include <cmath>

#include "algorithms/learner/non_finite_training.hpp"
#include "tests/algorithms/language_models/grpo/small_groups.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

grpo_learner make_learner(const grpo_options& options, const at::Tensor& start = small_weights()) {
  return grpo_learner({.config = small_model(), .max_completion_tokens = 5, .lr = 1e-3}, options,
                      {start, {}}, 7);
}

double distance(const at::Tensor& a, const at::Tensor& b) { return (a - b).norm().item<double>(); }

/// How much better the first answer of each group has become beside the second: rewards 1 and 0.
double preference(const std::vector<answer_group>& groups, const at::Tensor& weights) {
  const at::NoGradGuard no_grad;
  const auto config = small_model();
  double sum = 0;
  for (const auto& group : groups) {
    const llm::token_group two{group.prompt, {group.answers[0].tokens, group.answers[1].tokens}};
    const auto found = llm::answer_log_probs(config, llm::weights_in(config, weights), {&two, 1});
    const auto first = std::int64_t(two.answers[0].size());
    sum += (found.slice(0, 0, first).sum() - found.slice(0, first).sum()).item<double>();
  }
  return sum;
}

TEST_CASE("grpo_learner: on-policy the ratio is 1, nothing is clipped, and it learns") {
  for (const auto variant :
       {grpo_variant::grpo, grpo_variant::dr_grpo, grpo_variant::dapo, grpo_variant::gspo,
        grpo_variant::cispo, grpo_variant::rloo, grpo_variant::reinforce}) {
    CAPTURE(int(variant));
    auto learner = make_learner({.variant = variant});
    const auto before = learner.parameters().clone();
    const auto groups = random_groups(4, 4, before);
    const auto report = learner.update({groups});
    CHECK(report.loss.ratio == Approx(1.0).margin(1e-4));
    CHECK(report.loss.approx_kl == Approx(0.0).margin(1e-6));
    CHECK(report.loss.clip_low + report.loss.clip_high == 0.0);
    CHECK(report.loss.weight == Approx(1.0).margin(1e-4));
    CHECK(report.trained_answers == 16);
    CHECK(report.steps == 1);
    CHECK(report.grad_norm > 0);
    CHECK(preference(groups, learner.parameters()) > preference(groups, before));
  }
}

TEST_CASE("grpo_learner: with the warm start's moments the first step is no full step everywhere") {
  const auto start = small_weights();
  const auto count = static_cast<std::size_t>(start.numel());
  // As after gradients that were large in every second weight.
  adam_state warm{100, std::vector<float>(count), std::vector<float>(count, 1e-12f)};
  for (std::size_t i = 0; i < count; i += 2) warm.second_moment[i] = 1.0f;
  grpo_learner cold = make_learner({}, start);
  grpo_learner going_on({.config = small_model(), .max_completion_tokens = 5, .lr = 1e-3}, {},
                        {start, warm}, 7);
  const auto groups = random_groups(4, 4, start);
  cold.update({groups});
  going_on.update({groups});
  const auto large = [&](const grpo_learner& of) {
    return (of.parameters() - start).slice(0, 0, at::nullopt, 2).abs().max().item<double>();
  };
  CHECK(large(cold) == Approx(1e-3).epsilon(0.1));
  CHECK(large(going_on) < 1e-4);
}

TEST_CASE("grpo_learner: micro-batches change nothing") {
  for (const auto variant :
       {grpo_variant::grpo, grpo_variant::dr_grpo, grpo_variant::dapo, grpo_variant::gspo}) {
    auto whole = make_learner({.variant = variant, .kl_coef = 0.1});
    auto parts = make_learner({.variant = variant, .kl_coef = 0.1, .micro_tokens = 1});
    const auto groups = random_groups(5, 4, small_weights(4));
    const auto a = whole.update({groups}), b = parts.update({groups});
    CHECK(a.loss.loss == Approx(b.loss.loss).margin(1e-6));
    CHECK(a.grad_norm == Approx(b.grad_norm).epsilon(1e-4));
    CHECK(a.loss.ratio == Approx(b.loss.ratio).epsilon(1e-5));
    CHECK(distance(whole.parameters(), parts.parameters()) < 1e-4);
  }
}

TEST_CASE("grpo_learner: groups without variance are dropped, or kept") {
  auto groups = random_groups(2, 4, small_weights());
  for (auto& a : groups[0].answers) a.reward = 0.5;
  const grpo_options dropping{.zero_variance_groups = zero_variance_rule::drop};
  const auto dropped = make_learner(dropping).update({groups});
  CHECK(dropped.zero_variance_groups == 1);
  CHECK(dropped.trained_answers == 4);
  const auto kept =
      make_learner({.zero_variance_groups = zero_variance_rule::keep}).update({groups});
  CHECK(kept.zero_variance_groups == 1);
  CHECK(kept.trained_answers == 8);
  // Its tokens count, and nothing else of it: the loss is smaller, and the gradient.
  const double share = double(dropped.trained_tokens) / double(kept.trained_tokens);
  CHECK(kept.grad_norm == Approx(dropped.grad_norm * share).epsilon(1e-3));

  for (auto& a : groups[1].answers) a.reward = 0.5;
  auto learner = make_learner(dropping);
  const auto before = learner.parameters().clone();
  const auto nothing = learner.update({groups});
  CHECK(nothing.steps == 0);
  CHECK(nothing.zero_variance_groups == 2);
  CHECK(at::equal(learner.parameters(), before));
}

TEST_CASE("grpo_learner: truncated answers count for the mean, and are masked where asked") {
  auto groups = random_groups(1, 4, small_weights());
  groups[0].answers[1].truncated = true;
  const auto as_is = make_learner({}).update({groups});
  const auto masked = make_learner({.mask_truncated = true}).update({groups});
  CHECK(as_is.trained_answers == 4);
  CHECK(masked.trained_answers == 3);
  CHECK(masked.truncated == 1);
  CHECK(masked.advantages == as_is.advantages);
}

TEST_CASE("grpo_learner: a masked answer has a loss of 0 and counts as an answer, of no token") {
  auto groups = random_groups(3, 4, small_weights());
  for (auto& a : groups[0].answers) a.truncated = true;  // all of a group
  groups[1].answers[2].truncated = true;
  for (auto& group : groups) {
    for (auto& a : group.answers) a.reward = a.truncated ? 0.0 : a.reward + 1;
  }
  for (const auto how : {loss_aggregation::token_mean, loss_aggregation::sequence_mean,
                         loss_aggregation::sequence_sum, loss_aggregation::constant_length}) {
    CAPTURE(int(how));
    // Without a baseline an answer without reward has a loss of 0, too; its tokens count.
    grpo_options options{.advantage = advantage_kind::reward, .aggregation = how};
    const auto whole = make_learner(options).update({groups});
    options.mask_truncated = true;
    const auto masked = make_learner(options).update({groups});
    CHECK(whole.trained_answers == 12);
    CHECK(masked.trained_answers == 7);
    const double share = how == loss_aggregation::token_mean
                             ? double(masked.trained_tokens) / double(whole.trained_tokens)
                             : 1.0;
    CHECK(masked.grad_norm * share == Approx(whole.grad_norm).epsilon(1e-4));
    CHECK(masked.loss.loss * share == Approx(whole.loss.loss).epsilon(1e-4));
  }
  // A minibatch of which nothing is trained on is no step.
  const auto steps = make_learner({.mask_truncated = true, .minibatches = 3}).update({groups});
  CHECK(steps.steps == 2);
  CHECK(std::isfinite(steps.loss.loss));
}

TEST_CASE("grpo_learner: long answers cost reward, and the report says how much") {
  const auto groups = random_groups(3, 4, small_weights());  // of 1 to 5 tokens
  const auto report =
      make_learner({.advantage = advantage_kind::reward, .overlong_cache = 2}).update({groups});
  double sum = 0;
  for (std::size_t g = 0; g < 3; ++g) {
    for (std::size_t i = 0; i < 4; ++i) {
      const auto& a = groups[g].answers[i];
      const double cost = a.tokens.size() == 5 ? -1.0 : a.tokens.size() == 4 ? -0.5 : 0.0;
      CHECK(report.advantages[g][i] == Approx(a.reward + cost));
      sum += cost;
    }
  }
  CHECK(sum < -1.0);
  CHECK(report.overlong_reward == Approx(sum / 12));
  CHECK(make_learner({}).update({groups}).overlong_reward == 0.0);
}

TEST_CASE("grpo_learner: the deviation of rewards is the mean of those within groups") {
  auto groups = random_groups(2, 4, small_weights());
  const std::vector<double> rewards{1, 0, 1, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    groups[0].answers[i].reward = rewards[i];
    groups[1].answers[i].reward = 5.0;
  }
  const auto report = make_learner({.overlong_cache = 2}).update({groups});
  CHECK(report.reward_std == Approx(std::sqrt(1.0 / 3.0) / 2));
}

TEST_CASE("grpo_learner: REINFORCE on stale answers is CISPO's gradient, unless nothing corrects") {
  const auto start = small_weights();
  const auto groups = random_groups(4, 4, small_weights(4));  // other weights have sampled them
  for (const int epochs : {1, 2}) {
    const auto learned = [&](grpo_options options) {
      options.advantage = advantage_kind::leave_one_out;
      options.aggregation = loss_aggregation::sequence_sum;
      options.proximal = proximal_policy::behaviour;
      options.epochs = epochs;
      auto learner = make_learner(options);
      const auto report = learner.update({groups});
      return std::pair(learner.parameters().clone(), report);
    };
    const auto [corrected, told] = learned({.variant = grpo_variant::rloo, .correction_max = 1.5});
    const auto [cispo, unused] = learned({.variant = grpo_variant::cispo, .cispo_max = 1.5});
    const auto [uncorrected, left] =
        learned({.variant = grpo_variant::rloo, .correction = correction_kind::none});
    CHECK(distance(corrected, cispo) < 1e-3 * distance(corrected, start));
    CHECK(distance(corrected, uncorrected) > 0.1 * distance(corrected, start));
    CHECK(std::abs(told.loss.weight - 1.0) > 0.01);
    CHECK(told.loss.out_of_range > 0.0);
    CHECK(left.loss.out_of_range == 0.0);
  }
}

TEST_CASE("grpo_learner: which groups make a minibatch is drawn by the seed") {
  const auto groups = random_groups(6, 4, small_weights());
  const auto learned = [&](int minibatches, std::uint64_t seed) {
    grpo_learner learner({.config = small_model(), .max_completion_tokens = 5, .lr = 1e-3},
                         {.minibatches = minibatches}, {small_weights(), {}}, seed);
    learner.update({groups});
    return learner.parameters().clone();
  };
  CHECK(at::equal(learned(3, 7), learned(3, 7)));
  CHECK(distance(learned(3, 7), learned(3, 8)) > 1e-4);
  CHECK(at::equal(learned(1, 7), learned(1, 8)));
}

TEST_CASE("grpo_learner: several steps take their ratio to the weights they began with") {
  const auto groups = random_groups(6, 4, small_weights(4));  // other weights have sampled them
  auto decoupled = make_learner({.epochs = 2, .minibatches = 3});
  const auto report = decoupled.update({groups});
  CHECK(report.steps == 6);
  CHECK(report.trained_answers == 24);
  CHECK(std::abs(report.loss.weight - 1.0) > 0.01);
  const auto direct =
      make_learner({.proximal = proximal_policy::behaviour, .epochs = 2, .minibatches = 3})
          .update({groups});
  CHECK(direct.loss.weight == Approx(1.0).margin(1e-6));
  CHECK(std::abs(direct.loss.ratio - 1.0) > std::abs(report.loss.ratio - 1.0));
}

TEST_CASE("grpo_learner: the distance from the first weights is a penalty in loss or reward") {
  const auto start = small_weights();
  const auto groups = random_groups(3, 4, start);
  for (const auto place : {kl_place::loss, kl_place::reward}) {
    auto learner = make_learner({.kl_coef = 0.5, .kl_in = place, .lr = 3e-3});
    const auto first = learner.update({groups});
    CHECK(first.loss.kl + first.kl_reward == Approx(0.0).margin(1e-5));
    for (int i = 0; i < 5; ++i) learner.update({groups});
    const auto later = learner.update({random_groups(3, 4, learner.parameters())});
    CHECK(std::abs(later.loss.kl + later.kl_reward) > 1e-4);
  }
}

TEST_CASE("grpo_learner: in the reward the penalty is for what has become likelier") {
  const auto start = small_weights();
  const auto groups = random_groups(3, 4, small_weights(4));  // by weights that have moved away
  const auto report =
      make_learner({.advantage = advantage_kind::reward, .kl_coef = 0.5, .kl_in = kl_place::reward},
                   start)
          .update({groups});
  const at::NoGradGuard no_grad;
  const auto config = small_model();
  double sum = 0;
  for (std::size_t g = 0; g < 3; ++g) {
    for (std::size_t i = 0; i < 4; ++i) {
      const auto& a = groups[g].answers[i];
      const llm::token_group one{groups[g].prompt, {a.tokens}};
      const auto at_first =
          llm::answer_log_probs(config, llm::weights_in(config, start), {&one, 1});
      double kl = -at_first.sum().item<double>();
      for (const float each : a.log_probs) kl += each;
      CHECK(report.advantages[g][i] == Approx(a.reward - 0.5 * kl).margin(1e-4));
      sum += kl;
    }
  }
  CHECK(std::abs(sum) > 1.0);
  CHECK(report.kl_reward == Approx(sum / 12).margin(1e-4));
}

TEST_CASE("grpo_learner: nothing that isn't finite reaches the weights") {
  const auto groups = random_groups(2, 4, small_weights());
  grpo_options impatient;
  impatient.max_skipped_steps = 2;
  auto learner = make_learner(impatient);
  auto spoilt = learner.parameters().clone();
  spoilt[5] = std::nanf("");
  learner.load_parameters(spoilt);
  const auto report = learner.update({groups});
  CHECK(report.skipped_steps == 1);
  CHECK(at::equal(learner.parameters().isnan(), spoilt.isnan()));
  CHECK_THROWS_AS(learner.update({groups}), non_finite_training);

  auto bad = groups;
  bad[0].answers[0].reward = std::nan("");
  CHECK_THROWS_WITH(make_learner({}).update({bad}), Catch::Contains("expected finite rewards"));
  bad = groups;
  bad[0].answers[0].log_probs.pop_back();
  CHECK_THROWS_WITH(make_learner({}).update({bad}), Catch::Contains("a log-probability each"));
  bad = groups;
  bad[1].prompt.clear();
  CHECK_THROWS_WITH(make_learner({}).update({bad}), Catch::Contains("groups with a prompt"));
}

TEST_CASE("grpo_learner: the step size falls to 0 over the training, where its length is known") {
  const auto groups = random_groups(4, 4, small_weights());
  const auto sizes = [&](std::int64_t updates, annealing schedule) {
    grpo_learner learner({.config = small_model(), .lr = 1e-3, .updates = updates},
                         {.lr_schedule = schedule}, {small_weights(), {}}, 1);
    std::vector<double> of_updates;
    for (int i = 0; i < 3; ++i) of_updates.push_back(learner.update({groups}).learning_rate);
    return of_updates;
  };
  const auto falling = sizes(2, annealing::linear);
  CHECK(falling[0] == 1e-3);
  CHECK(falling[1] == Approx(0.5e-3));
  CHECK(falling[2] == 0.0);
  CHECK(sizes(2, annealing::constant) == std::vector(3, 1e-3));
  CHECK(sizes(0, annealing::linear) == std::vector(3, 1e-3));
}

TEST_CASE("grpo_learner: the step size rises over the warm-up, and falls after it") {
  const auto groups = random_groups(4, 4, small_weights());
  constexpr double lr = 1.0 / 1024;  // a power of two: shares of it are exact
  const auto sizes = [&](int warmup, annealing schedule) {
    grpo_learner learner({.config = small_model(), .lr = lr, .updates = 8},
                         {.lr_schedule = schedule, .warmup_updates = warmup}, {small_weights(), {}},
                         1);
    std::vector<double> of_updates;
    for (int i = 0; i < 9; ++i) of_updates.push_back(learner.update({groups}).learning_rate / lr);
    return of_updates;
  };
  // What transformers' get_linear_schedule_with_warmup(optimizer, 4, 8) gives before each step, and
  // get_constant_schedule_with_warmup.
  CHECK(sizes(4, annealing::linear) ==
        std::vector{0.0, 0.25, 0.5, 0.75, 1.0, 0.75, 0.5, 0.25, 0.0});
  CHECK(sizes(4, annealing::constant) ==
        std::vector{0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0});
  CHECK(sizes(0, annealing::linear)[1] == 0.875);
}

TEST_CASE("grpo_learner: goes on from its saved state as if nothing had happened") {
  const grpo_options options{.warmup_updates = 3, .epochs = 1, .minibatches = 2};
  auto whole = make_learner(options);
  const auto groups = random_groups(4, 4, small_weights());
  CHECK(whole.update({groups}).learning_rate == 0.0);
  auto resumed = make_learner(options);
  resumed.load_parameters(whole.parameters());
  resumed.restore(whole.save());
  CHECK(whole.update({groups}).learning_rate == Approx(1e-3 / 3));
  resumed.update({groups});
  CHECK(at::equal(whole.parameters(), resumed.parameters()));
}

}  // namespace
}  // namespace troupe
