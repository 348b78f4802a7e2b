#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/grpo_learner.hpp"

#include <cmath>
#include <set>

#include "actors/checkpoint/state.hpp"
#include "algorithms/learner/non_finite_training.hpp"
#include "tests/algorithms/language_models/grpo/small_groups.hpp"
#include "tests/algorithms/learner_parts.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

grpo_learner make_learner(const grpo_options& options, const at::Tensor& start = small_weights()) {
  return grpo_learner({.config = small_model(), .max_completion_tokens = 5, .lr = 1e-3}, options,
                      {start, {}}, 7);
}

std::vector<float> numbers_of(const at::Tensor& block) {
  return {block.data_ptr<float>(), block.data_ptr<float>() + block.numel()};
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
    const auto report = learner.update(groups);
    CHECK(report["train/ratio"] == Approx(1.0).margin(1e-4));
    CHECK(report["train/approx_kl"] == Approx(0.0).margin(1e-6));
    CHECK(report["train/clip_fraction"] == 0.0);
    CHECK(report["train/importance_weight"] == Approx(1.0).margin(1e-4));
    CHECK(report["train/trained_answers"] == 16);
    CHECK(report.optimizer_steps == 1);
    CHECK(report["train/grad_norm"] > 0);
    CHECK(preference(groups, learner.parameters()) > preference(groups, before));
  }
}

/// Log-probability of the tokens that follow the prompts, by group.
double score_of(const std::vector<answer_segment>& parts, const std::vector<answer_group>& groups,
                const at::Tensor& weights) {
  const at::NoGradGuard no_grad;
  const auto config = small_model();
  double sum = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const llm::token_group one{groups[g].prompt, {parts[g].tokens}};
    const auto found = llm::answer_log_probs(config, llm::weights_in(config, weights), {&one, 1});
    sum += found.sum().item<double>();
  }
  return sum;
}

TEST_CASE("grpo_learner: all parts of an episode are trained on with its advantage") {
  double rise[2];
  for (const std::size_t which : {0, 1}) {  // answers with rewards of 1 and of 0
    auto learner = make_learner({.variant = grpo_variant::dapo});
    const auto before = learner.parameters().clone();
    auto groups = random_groups(4, 4, before);
    const auto others = random_groups(4, 2, before, 9);
    std::vector<answer_segment> parts;
    std::int64_t tokens = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      // The earlier part follows this group's prompt.
      llm::token_group one{groups[g].prompt, {others[g].answers[0].tokens}};
      const at::NoGradGuard no_grad;
      const auto config = small_model();
      const auto scores = llm::answer_log_probs(config, llm::weights_in(config, before), {&one, 1});
      const float* first = scores.data_ptr<float>();
      parts.push_back(
          {.tokens = one.answers[0], .read = {}, .log_probs = {first, first + scores.numel()}});
      groups[g].answers[which].earlier = {parts.back()};
      for (const auto& answer : groups[g].answers) tokens += answer.sampled_tokens();
    }
    const auto report = learner.update(groups);
    CHECK(report["train/trained_answers"] == 16);
    CHECK(report["train/trained_tokens"] == tokens);
    CHECK(report["train/ratio"] == Approx(1.0).margin(1e-4));
    rise[which] = score_of(parts, groups, learner.parameters()) - score_of(parts, groups, before);
  }
  CHECK(rise[0] > rise[1]);
}

/// Gives the answer an earlier part, which follows the prompt by itself, and returns its tokens.
std::size_t add_part(answer_group& group, std::size_t which, const at::Tensor& given,
                     const std::vector<llm::token_id>& tokens) {
  const at::NoGradGuard no_grad;
  const llm::token_group one{group.prompt, {tokens}};
  const auto config = small_model();
  const auto scores = llm::answer_log_probs(config, llm::weights_in(config, given), {&one, 1});
  const float* first = scores.data_ptr<float>();
  group.answers[which].earlier.push_back(
      {.tokens = tokens, .read = {}, .log_probs = {first, first + scores.numel()}});
  return tokens.size();
}

TEST_CASE("grpo_learner: an episode of several parts counts once in the mean of the loss") {
  auto groups = random_groups(2, 4, small_weights());
  double rewards = 0;
  for (auto& group : groups) {
    for (auto& a : group.answers) rewards += (a.reward += 1);
  }
  for (const bool parts : {false, true}) {
    CAPTURE(parts);
    if (parts) {
      add_part(groups[0], 0, small_weights(), {3, 1, 4});
      add_part(groups[0], 0, small_weights(), {2, 7});
    }
    // On-policy the loss of each token is minus the reward of its answer.
    const auto report =
        make_learner({.variant = grpo_variant::grpo, .advantage = advantage_kind::reward})
            .update(groups);
    CHECK(report["train/loss"] == Approx(-rewards / 8).epsilon(1e-3));
    CHECK(report["train/trained_answers"] == 8);
  }
}

TEST_CASE("grpo_learner: an episode of several parts has one ratio and one weight") {
  const auto start = small_weights();
  auto groups = random_groups(1, 2, start);
  groups[0].answers.resize(1);
  auto& answer = groups[0].answers[0];
  const auto first = static_cast<double>(add_part(groups[0], 0, start, {3, 1, 4}));
  const auto second = static_cast<double>(answer.tokens.size());
  // The present weights find each token of the first part e^0.4 times as likely as the weights that
  // sampled it, and those of the second part e^-0.1 times.
  for (auto& p : answer.earlier[0].log_probs) p -= 0.4f;
  for (auto& p : answer.log_probs) p += 0.1f;
  const double sum = 0.4 * first - 0.1 * second;
  grpo_options options{.variant = grpo_variant::gspo, .advantage = advantage_kind::reward};
  options.proximal = proximal_policy::behaviour;
  const auto by_ratio = make_learner(options, start).update(groups);
  CHECK(by_ratio["train/ratio"] == Approx(std::exp(sum / (first + second))).epsilon(1e-3));
  options.proximal = proximal_policy::recomputed;
  options.correction = correction_kind::truncate;
  options.correction_by = correction_level::sequence;
  const auto by_weight = make_learner(options, start).update(groups);
  CHECK(by_weight["train/importance_weight"] == Approx(std::exp(sum)).epsilon(1e-3));
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
  cold.update(groups);
  going_on.update(groups);
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
    const auto a = whole.update(groups), b = parts.update(groups);
    CHECK(a["train/loss"] == Approx(b["train/loss"]).margin(1e-6));
    CHECK(a["train/grad_norm"] == Approx(b["train/grad_norm"]).epsilon(1e-4));
    CHECK(a["train/ratio"] == Approx(b["train/ratio"]).epsilon(1e-5));
    CHECK(distance(whole.parameters(), parts.parameters()) < 1e-4);
  }
}

TEST_CASE("grpo_learner: groups without variance are dropped, or kept") {
  auto groups = random_groups(2, 4, small_weights());
  for (auto& a : groups[0].answers) a.reward = 0.5;
  const grpo_options dropping{.zero_variance_groups = zero_variance_rule::drop};
  const auto dropped = make_learner(dropping).update(groups);
  CHECK(dropped["rollout/zero_variance_groups"] == 1);
  CHECK(dropped["train/trained_answers"] == 4);
  const auto kept = make_learner({.zero_variance_groups = zero_variance_rule::keep}).update(groups);
  CHECK(kept["rollout/zero_variance_groups"] == 1);
  CHECK(kept["train/trained_answers"] == 8);
  // Its tokens count, and nothing else of it: the loss is smaller, and the gradient.
  const double share =
      double(dropped["train/trained_tokens"]) / double(kept["train/trained_tokens"]);
  CHECK(kept["train/grad_norm"] == Approx(dropped["train/grad_norm"] * share).epsilon(1e-3));

  for (auto& a : groups[1].answers) a.reward = 0.5;
  auto learner = make_learner(dropping);
  const auto before = learner.parameters().clone();
  const auto nothing = learner.update(groups);
  CHECK(nothing.optimizer_steps == 0);
  CHECK(nothing["rollout/zero_variance_groups"] == 2);
  CHECK(at::equal(learner.parameters(), before));
}

TEST_CASE("grpo_learner: truncated answers count for the mean, and are masked where asked") {
  auto groups = random_groups(1, 4, small_weights());
  groups[0].answers[1].truncated = true;
  const auto as_is = make_learner({}).update(groups);
  const auto masked = make_learner({.mask_truncated = true}).update(groups);
  CHECK(as_is["train/trained_answers"] == 4);
  CHECK(masked["train/trained_answers"] == 3);
  CHECK(masked["rollout/truncated_fraction"] == 0.25);
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
    const auto whole = make_learner(options).update(groups);
    options.mask_truncated = true;
    const auto masked = make_learner(options).update(groups);
    CHECK(whole["train/trained_answers"] == 12);
    CHECK(masked["train/trained_answers"] == 7);
    const double share =
        how == loss_aggregation::token_mean
            ? double(masked["train/trained_tokens"]) / double(whole["train/trained_tokens"])
            : 1.0;
    CHECK(masked["train/grad_norm"] * share == Approx(whole["train/grad_norm"]).epsilon(1e-4));
    CHECK(masked["train/loss"] * share == Approx(whole["train/loss"]).epsilon(1e-4));
  }
  // A minibatch of which nothing is trained on is no step.
  const auto steps = make_learner({.mask_truncated = true, .minibatches = 3}).update(groups);
  CHECK(steps.optimizer_steps == 2);
  CHECK(std::isfinite(steps["train/loss"]));
}

TEST_CASE("grpo_learner: long answers cost reward, and the report says how much") {
  const auto groups = random_groups(3, 4, small_weights());  // of 1 to 5 tokens
  const auto report =
      make_learner({.advantage = advantage_kind::reward, .overlong_cache = 2}).update(groups);
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
  CHECK(report["rollout/overlong_reward"] == Approx(sum / 12));
  CHECK(make_learner({}).update(groups)["rollout/overlong_reward"] == 0.0);
}

TEST_CASE("grpo_learner: an answer's limit is that of its own task") {
  // Task 0 has answers of at most 5 tokens, and an episode of task 1 has three replies.
  const grpo_model model{
      .config = small_model(), .max_completion_tokens = 5, .turns = {1, 3}, .lr = 1e-3};
  const auto learned = [&](const std::vector<answer_group>& groups, const grpo_options& options) {
    return grpo_learner(model, options, {small_weights(), {}}, 7).update(groups);
  };
  auto groups = random_groups(2, 4, small_weights());  // of 1 to 5 tokens
  groups[1].task = 1;
  groups[0].answers[0] = {.tokens = {1, 2, 3, 4, 5}, .log_probs = std::vector<float>(5, -3.0f)};
  const auto costly = learned(groups, {.advantage = advantage_kind::reward, .overlong_cache = 2});
  double cost[2] = {}, expected = 0;
  for (std::size_t g = 0; g < 2; ++g) {
    for (std::size_t i = 0; i < 4; ++i) {
      const auto& a = groups[g].answers[i];
      cost[g] += costly.advantages[g][i] - a.reward;
      if (g == 0) expected -= a.tokens.size() == 5 ? 1.0 : a.tokens.size() == 4 ? 0.5 : 0.0;
    }
  }
  CHECK(expected < 0);
  CHECK(cost[0] == Approx(expected));
  CHECK(cost[1] == 0);

  // On-policy the loss of each token is minus the reward of its answer.
  groups = random_groups(2, 4, small_weights());
  groups[1].task = 1;
  double loss = 0;
  for (auto& group : groups) {
    for (auto& a : group.answers) {
      a.reward += 1;
      const auto tokens = static_cast<double>(a.tokens.size());
      loss -= a.reward * tokens / (group.task == 0 ? 5 : 15) / 8;
    }
  }
  const grpo_options dr_grpo{.variant = grpo_variant::dr_grpo, .advantage = advantage_kind::reward};
  CHECK(learned(groups, dr_grpo)["train/loss"] == Approx(loss).epsilon(1e-3));
}

TEST_CASE("grpo_learner: weight decay shrinks all weights, or leaves out norms and biases") {
  const auto start = small_weights();
  const auto groups = random_groups(2, 4, start);
  const auto stepped = [&](double decay, decayed_parameters of) {
    grpo_options options;
    options.weight_decay = decay;
    options.weight_decay_of = of;
    auto learner = make_learner(options, start);
    learner.update(groups);
    return learner.parameters().clone();
  };
  const auto plain = stepped(0, decayed_parameters::all);
  const auto all = plain - stepped(0.5, decayed_parameters::all);
  const auto matrices = plain - stepped(0.5, decayed_parameters::matrices);
  const auto decay = 1e-3 * 0.5 * start;
  CHECK(at::allclose(all, decay, 1e-2, 1e-6));
  auto weights = llm::weights_in(small_model(), decay);
  std::int64_t first = 0, vectors = 0;
  llm::for_each_weight(small_model(), weights, [&](const llm::weight_place& place, at::Tensor& of) {
    INFO(place.name);
    const bool is_matrix = place.shape.size() > 1;
    vectors += !is_matrix;
    const auto lost = matrices.narrow(0, first, of.numel()).view(place.shape);
    CHECK(at::allclose(lost, is_matrix ? of : at::zeros_like(of), 1e-2, 1e-6));
    first += of.numel();
  });
  CHECK(vectors > 0);
}

TEST_CASE("grpo_learner: the deviation of rewards is the mean of those within groups") {
  auto groups = random_groups(2, 4, small_weights());
  const std::vector<double> rewards{1, 0, 1, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    groups[0].answers[i].reward = rewards[i];
    groups[1].answers[i].reward = 5.0;
  }
  const auto report = make_learner({.overlong_cache = 2}).update(groups);
  CHECK(report["rollout/reward_std"] == Approx(std::sqrt(1.0 / 3.0) / 2));
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
      const auto report = learner.update(groups);
      return std::pair(learner.parameters().clone(), report);
    };
    const auto [corrected, told] = learned({.variant = grpo_variant::rloo, .correction_max = 1.5});
    const auto [cispo, unused] = learned({.variant = grpo_variant::cispo, .cispo_max = 1.5});
    const auto [uncorrected, left] =
        learned({.variant = grpo_variant::rloo, .correction = correction_kind::none});
    CHECK(distance(corrected, cispo) < 1e-3 * distance(corrected, start));
    CHECK(distance(corrected, uncorrected) > 0.1 * distance(corrected, start));
    CHECK(std::abs(told["train/importance_weight"] - 1.0) > 0.01);
    CHECK(told["train/importance_out_of_range"] > 0.0);
    CHECK(left["train/importance_out_of_range"] == 0.0);
  }
}

TEST_CASE("grpo_learner: which groups make a minibatch is drawn by the seed") {
  const auto groups = random_groups(6, 4, small_weights());
  const auto learned = [&](int minibatches, std::uint64_t seed) {
    grpo_learner learner({.config = small_model(), .max_completion_tokens = 5, .lr = 1e-3},
                         {.minibatches = minibatches}, {small_weights(), {}}, seed);
    learner.update(groups);
    return learner.parameters().clone();
  };
  CHECK(at::equal(learned(3, 7), learned(3, 7)));
  CHECK(distance(learned(3, 7), learned(3, 8)) > 1e-4);
  CHECK(at::equal(learned(1, 7), learned(1, 8)));
}

TEST_CASE("grpo_learner: several steps take their ratio to the weights they began with") {
  const auto groups = random_groups(6, 4, small_weights(4));  // other weights have sampled them
  auto decoupled = make_learner({.epochs = 2, .minibatches = 3});
  const auto report = decoupled.update(groups);
  CHECK(report.optimizer_steps == 6);
  CHECK(report["train/trained_answers"] == 24);
  CHECK(std::abs(report["train/importance_weight"] - 1.0) > 0.01);
  const auto direct =
      make_learner({.proximal = proximal_policy::behaviour, .epochs = 2, .minibatches = 3})
          .update(groups);
  CHECK(direct["train/importance_weight"] == Approx(1.0).margin(1e-6));
  CHECK(std::abs(direct["train/ratio"] - 1.0) > std::abs(report["train/ratio"] - 1.0));
}

TEST_CASE("grpo_learner: the distance from the first weights is a penalty in loss or reward") {
  const auto start = small_weights();
  const auto groups = random_groups(3, 4, start);
  for (const auto place : {kl_place::loss, kl_place::reward}) {
    auto learner = make_learner({.kl_coef = 0.5, .kl_in = place, .lr = 3e-3});
    const auto first = learner.update(groups);
    CHECK(first["train/kl_reference"] == Approx(0.0).margin(1e-5));
    for (int i = 0; i < 5; ++i) learner.update(groups);
    const auto later = learner.update(random_groups(3, 4, learner.parameters()));
    CHECK(std::abs(later["train/kl_reference"]) > 1e-4);
  }
}

TEST_CASE("grpo_learner: in the reward the penalty is for what has become likelier") {
  const auto start = small_weights();
  const auto groups = random_groups(3, 4, small_weights(4));  // by weights that have moved away
  const auto report =
      make_learner({.advantage = advantage_kind::reward, .kl_coef = 0.5, .kl_in = kl_place::reward},
                   start)
          .update(groups);
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
  CHECK(report["train/kl_reference"] == Approx(sum / 12).margin(1e-4));
}

/// The mean estimate k3 of the KL divergence from the reference over the groups' tokens.
double kl_of(const std::vector<answer_group>& groups, const at::Tensor& weights,
             const at::Tensor& reference) {
  const at::NoGradGuard no_grad;
  const auto config = small_model();
  std::vector<llm::token_group> tokens;
  for (const auto& group : groups) {
    auto& one = tokens.emplace_back(llm::token_group{group.prompt, {}});
    for (const auto& a : group.answers) one.answers.push_back(a.tokens);
  }
  const auto by = [&](const at::Tensor& of) {
    return llm::answer_log_probs(config, llm::weights_in(config, of), tokens);
  };
  return kl_estimate(kl_kind::k3, by(weights), by(reference)).mean().item<double>();
}

TEST_CASE("grpo_learner: the reference is mixed with the weights, as often as is asked") {
  const auto start = small_weights();
  const auto groups = random_groups(3, 4, start);
  for (const double mixup : {0.6, 1.0}) {
    CAPTURE(mixup);
    auto learner = make_learner(
        {.kl_coef = 0.5, .reference_every_updates = 2, .reference_mixup = mixup, .lr = 3e-3});
    auto reference = start.clone();
    for (int update = 1; update <= 5; ++update) {
      const auto before = learner.parameters().clone();
      const double expected = kl_of(groups, before, reference);
      CHECK(learner.update(groups)["train/kl_reference"] ==
            Approx(expected).epsilon(1e-3).margin(1e-6));
      if (update == 2) CHECK(expected > 1e-4);
      if (update == 3) CHECK(expected < (mixup == 1.0 ? 1e-6 : 0.5 * kl_of(groups, before, start)));
      if (update % 2 == 0) reference = (1 - mixup) * reference + mixup * learner.parameters();
    }
    auto never = make_learner({.kl_coef = 0.5, .reference_mixup = mixup, .lr = 3e-3});
    for (int update = 1; update <= 4; ++update) never.update(groups);
    const double far = kl_of(groups, never.parameters(), start);
    CHECK(never.update(groups)["train/kl_reference"] == Approx(far).epsilon(1e-3));
  }
}

TEST_CASE("grpo_learner: the reference is refreshed after an update without anything to learn") {
  const auto start = small_weights();
  auto groups = random_groups(3, 4, start);
  auto learner = make_learner({.kl_coef = 0.5,
                               .reference_every_updates = 2,
                               .reference_mixup = 1.0,
                               .zero_variance_groups = zero_variance_rule::drop,
                               .lr = 3e-3});
  learner.update(groups);
  auto flat = groups;
  for (auto& group : flat) {
    for (auto& a : group.answers) a.reward = 1.0;
  }
  CHECK(learner.update(flat).optimizer_steps == 0);
  CHECK(learner.update(groups)["train/kl_reference"] == Approx(0.0).margin(1e-6));
}

TEST_CASE("grpo_learner: the entropy bonus is of whole distributions, and makes them wider") {
  const auto start = small_weights();
  auto groups = random_groups(4, 4, start);
  for (auto& group : groups) {
    for (auto& a : group.answers) a.reward = 1.0;  // nothing else to learn
  }
  const grpo_options options{.entropy_coef = 0.1, .zero_variance_groups = zero_variance_rule::keep};
  auto learner = make_learner(options);
  const auto first = learner.update(groups);
  const auto config = small_model();
  double sum = 0, tokens = 0;
  for (const auto& group : groups) {
    for (const auto& a : group.answers) {
      const at::NoGradGuard no_grad;
      const llm::token_group one{group.prompt, {a.tokens}};
      sum += llm::answer_scores(config, llm::weights_in(config, start), {&one, 1},
                                {.log_probs = {.entropy = true}})
                 .entropy.sum()
                 .item<double>();
      tokens += double(a.tokens.size());
    }
  }
  CHECK(first["train/token_entropy"] == Approx(sum / tokens).epsilon(1e-5));
  CHECK(first["train/loss"] == Approx(-0.1 * sum / tokens).epsilon(1e-5));
  auto parts = make_learner([&] {
    auto small = options;
    small.micro_tokens = 1;
    return small;
  }());
  CHECK(parts.update(groups)["train/token_entropy"] ==
        Approx(first["train/token_entropy"]).epsilon(1e-5));
  CHECK(distance(parts.parameters(), learner.parameters()) < 1e-4);
  for (int i = 0; i < 5; ++i) learner.update(groups);
  CHECK(learner.update(groups)["train/token_entropy"] > first["train/token_entropy"] + 0.01);

  auto without = make_learner({.zero_variance_groups = zero_variance_rule::keep});
  CHECK(without.update(groups)["train/token_entropy"] == 0.0);
  CHECK(at::equal(without.parameters(), start));
}

TEST_CASE("grpo_learner: groups are dropped by the task's reward alone, whatever lengths cost") {
  auto groups = random_groups(3, 4, small_weights());
  for (auto& a : groups[0].answers) a.reward = 1.0;
  std::set<std::size_t> lengths;
  for (const auto& a : groups[0].answers) lengths.insert(a.tokens.size());
  REQUIRE(lengths.size() > 1);
  const auto learned = [&](zero_variance_rule rule) {
    return make_learner(
               {.variant = grpo_variant::dapo, .zero_variance_groups = rule, .overlong_cache = 5})
        .update(groups);
  };
  for (const auto rule : {zero_variance_rule::drop, zero_variance_rule::refill}) {
    const auto report = learned(rule);
    CHECK(report["train/trained_answers"] == 8);
    CHECK(report["rollout/zero_variance_groups"] == 1);
    CHECK(report["rollout/overlong_reward"] < 0.0);
  }
  CHECK(learned(zero_variance_rule::keep)["train/trained_answers"] == 12);
}

const grpo_options adapting{.kl_coef = 0.1, .lora = {.rank = 3, .alpha = 6.0}, .lr = 3e-3};

TEST_CASE("grpo_learner: with adapters they alone are trained, and the parameters have them") {
  const auto start = small_weights();
  const auto before = start.clone();
  auto options = adapting;
  options.lora.targets = {llm::projection::down, llm::projection::q};
  auto learner = make_learner(options, start);
  CHECK(at::equal(learner.parameters(), start));
  const auto groups = random_groups(4, 4, start);
  const auto report = learner.update(groups);
  CHECK(report["train/ratio"] == Approx(1.0).margin(1e-4));
  CHECK(report["train/kl_reference"] == Approx(0.0).margin(1e-6));
  for (int i = 0; i < 4; ++i) learner.update(groups);
  CHECK(at::equal(start, before));
  CHECK(preference(groups, learner.parameters()) > preference(groups, before));

  const auto config = small_model();
  const llm::lora_options lora{
      .targets = options.lora.targets, .rank = 3, .alpha = options.lora.alpha};
  auto state = parts_of(learner);
  const auto adapters = at::tensor(state["adapters"]);
  CHECK(adapters.numel() == llm::adapter_count(config, lora));
  CHECK(state.optimizers["optimizer"].first_moment.size() == std::size_t(adapters.numel()));
  CHECK(state["base"].empty());
  CHECK(!state.floats.contains("reference"));
  CHECK(at::equal(learner.parameters(), llm::merge_adapters(config, lora, start, adapters)));
  const auto now = llm::weights_in(config, learner.parameters());
  const auto then = llm::weights_in(config, start);
  CHECK(at::equal(now.embedding, then.embedding));
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(at::equal(now.layers[i].up, then.layers[i].up));
    CHECK(!at::equal(now.layers[i].q, then.layers[i].q));
    CHECK(!at::equal(now.layers[i].down, then.layers[i].down));
  }
  // The reference is the model without adapters.
  const double far = kl_of(groups, learner.parameters(), start);
  CHECK(far > 1e-4);
  CHECK(learner.update(groups)["train/kl_reference"] == Approx(far).epsilon(1e-3));
}

TEST_CASE("grpo_learner: with adapters the ratio goes to the adapted weights of the first step") {
  const auto start = small_weights();
  const auto groups = random_groups(4, 4, start);
  auto options = adapting;
  options.proximal = proximal_policy::recomputed;
  auto learner = make_learner(options);
  for (int i = 0; i < 4; ++i) learner.update(groups);
  const auto fresh = random_groups(4, 4, learner.parameters());
  const auto report = learner.update(fresh);
  CHECK(report["train/ratio"] == Approx(1.0).margin(1e-4));
  CHECK(report["train/importance_weight"] == Approx(1.0).margin(1e-4));
}

TEST_CASE("grpo_learner: warm moments are none of the adapters'") {
  const auto start = small_weights();
  const auto count = static_cast<std::size_t>(start.numel());
  grpo_learner learner({.config = small_model(), .max_completion_tokens = 5, .lr = 1e-3}, adapting,
                       {start, {100, std::vector<float>(count), std::vector<float>(count, 1.0f)}},
                       7);
  CHECK(parts_of(learner).optimizers["optimizer"].step == 0);
}

TEST_CASE("grpo_learner: the seed decides the first adapters") {
  const auto first = [](std::uint64_t seed) {
    const grpo_learner made({.config = small_model()}, adapting, {small_weights(), {}}, seed);
    return parts_of(made)["adapters"];
  };
  CHECK(first(1) == first(1));
  CHECK(first(1) != first(2));
}

TEST_CASE("grpo_learner: weights that replace adapted ones are kept by the state") {
  const auto start = small_weights();
  const auto groups = random_groups(4, 4, start);
  auto learner = make_learner(adapting);
  learner.update(groups);
  learner.start_from(numbers_of(learner.parameters()), {});  // the same weights change nothing
  CHECK(parts_of(learner)["base"].empty());

  auto replaced = make_learner(adapting);  // as after the loss of the role
  replaced.start_from(learner.acting(), {});
  CHECK(parts_of(replaced)["base"] == numbers_of(learner.parameters()));
  CHECK(at::equal(replaced.parameters(), learner.parameters()));
  const double far = kl_of(groups, replaced.parameters(), start);
  CHECK(replaced.update(groups)["train/kl_reference"] == Approx(far).epsilon(1e-3));
  auto resumed = make_learner(adapting);
  resumed.start_from(replaced.acting(), {});
  resumed.restore(replaced.save());
  CHECK(at::equal(resumed.parameters(), replaced.parameters()));
  resumed.update(groups);
  replaced.update(groups);
  CHECK(at::equal(resumed.parameters(), replaced.parameters()));
}

TEST_CASE("grpo_learner: nothing that isn't finite reaches the weights") {
  const auto groups = random_groups(2, 4, small_weights());
  grpo_options impatient;
  impatient.max_skipped_steps = 2;
  auto learner = make_learner(impatient);
  auto spoilt = learner.parameters().clone();
  spoilt[5] = std::nanf("");
  learner.start_from(numbers_of(spoilt), {});
  const auto report = learner.update(groups);
  CHECK(report["train/skipped_steps"] == 1);
  CHECK(at::equal(learner.parameters().isnan(), spoilt.isnan()));
  CHECK_THROWS_AS(learner.update(groups), non_finite_training);

  auto bad = groups;
  bad[0].answers[0].reward = std::nan("");
  CHECK_THROWS_WITH(make_learner({}).update(bad), Catch::Contains("expected finite rewards"));
  bad = groups;
  bad[0].answers[0].log_probs.pop_back();
  CHECK_THROWS_WITH(make_learner({}).update(bad), Catch::Contains("a log-probability each"));
  bad = groups;
  bad[1].prompt.clear();
  CHECK_THROWS_WITH(make_learner({}).update(bad), Catch::Contains("groups with a prompt"));
}

TEST_CASE("grpo_learner: the step size falls to 0 over the training, where its length is known") {
  const auto groups = random_groups(4, 4, small_weights());
  const auto sizes = [&](std::int64_t updates, annealing schedule) {
    grpo_learner learner({.config = small_model(), .lr = 1e-3, .updates = updates},
                         {.lr_schedule = schedule}, {small_weights(), {}}, 1);
    std::vector<double> of_updates;
    for (int i = 0; i < 3; ++i) of_updates.push_back(learner.update(groups).learning_rate);
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
    for (int i = 0; i < 9; ++i) of_updates.push_back(learner.update(groups).learning_rate / lr);
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
  const grpo_options plain{.warmup_updates = 3, .epochs = 1, .minibatches = 2};
  auto refreshing = plain, adapted = plain;
  refreshing.kl_coef = 0.5;
  refreshing.reference_every_updates = 2;
  adapted.kl_coef = 0.5;
  adapted.lora.rank = 2;
  for (const auto& options : {plain, refreshing, adapted}) {
    auto whole = make_learner(options);
    const auto groups = random_groups(4, 4, small_weights());
    CHECK(whole.update(groups).learning_rate == 0.0);
    whole.update(groups);
    auto resumed = make_learner(options);
    resumed.start_from(whole.acting(), {});
    resumed.restore(whole.save());
    CHECK(at::equal(whole.parameters(), resumed.parameters()));
    CHECK(whole.update(groups).learning_rate == Approx(2e-3 / 3));
    resumed.update(groups);
    CHECK(at::equal(whole.parameters(), resumed.parameters()));
    CHECK(!at::equal(whole.parameters(), small_weights()));
  }
}

TEST_CASE("grpo_learner: states of other options and blocks of other sizes are refused") {
  auto plain = make_learner({}), adapted = make_learner(adapting);
  auto refreshing = make_learner({.kl_coef = 0.5, .reference_every_updates = 2});
  CHECK_THROWS_AS(adapted.restore(plain.save()), state_error);
  CHECK_THROWS_AS(refreshing.restore(plain.save()), state_error);
  CHECK_THROWS_AS(plain.restore(adapted.save()), state_error);
  for (auto* learner : {&plain, &adapted}) {
    CHECK_THROWS_WITH(learner->start_from(std::vector<float>(3), {}),
                      Catch::Contains("grpo: expected a model of"));
  }
}

}  // namespace
}  // namespace troupe
