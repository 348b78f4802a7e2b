#include "actors/torch/torch.hpp"

#include "algorithms/losses/grpo_loss.hpp"

#include <cmath>

#include "algorithms/losses/overlong_reward.hpp"
#include "algorithms/losses/policy_ratio.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

at::Tensor numbers(std::vector<double> values) { return at::tensor(values, at::kDouble); }
at::Tensor logs(std::vector<double> values) { return numbers(values).log(); }

void check_numbers(const at::Tensor& found, const std::vector<double>& expected) {
  REQUIRE(found.numel() == std::ptrdiff_t(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(found[std::int64_t(i)].item<double>() == Approx(expected[i]).margin(1e-12));
  }
}

// Two answers, of two tokens and of one. Ratios to the behaviour 1.5, 0.5; 1.1. Advantages 1, -2.
grpo_loss_inputs three_tokens() {
  return {.rows = token_rows({2, 1}),
          .log_prob = logs({0.6, 0.2, 0.44}),
          .behaviour = logs({0.4, 0.4, 0.4}),
          .proximal = {},
          .reference = logs({0.3, 0.4, 0.44}),
          .advantage = numbers({1, -2})};
}
const loss_divisor three{.tokens = 3, .answers = 2, .length_max = 5};

double loss_of(const grpo_loss_inputs& in, const grpo_loss_options& options) {
  return grpo_loss(in, options, three).metrics.loss;
}

}  // namespace

TEST_CASE("token_rows: sums, means and spreading by lengths", "[losses]") {
  const token_rows rows({2, 1, 3});
  CHECK(rows.tokens() == 6);
  check_numbers(rows.sums(numbers({1, 2, 3, 4, 5, 6})), {3, 3, 15});
  check_numbers(rows.means(numbers({1, 2, 3, 4, 5, 6})), {1.5, 3, 5});
  check_numbers(rows.spread(numbers({7, 8, 9})), {7, 7, 8, 9, 9, 9});
  CHECK_THROWS_WITH(rows.sums(numbers({1})), Catch::Contains("of_tokens must be [6], got [1]"));
  CHECK_THROWS_WITH(token_rows({2, 0}), Catch::Contains("1 token or more, got 0"));
  CHECK_THROWS_WITH(token_rows(std::vector<std::int64_t>{}), Catch::Contains("got none"));
}

TEST_CASE("policy_ratio: by token and by answer, held within e^+-20", "[losses]") {
  const auto in = three_tokens();
  check_numbers(token_ratio(in.log_prob, in.behaviour), {1.5, 0.5, 1.1});
  const double root = std::sqrt(1.5 * 0.5);
  check_numbers(sequence_ratio(in.log_prob, in.behaviour, in.rows), {root, root, 1.1});
  auto far = numbers({0.0, -500.0}).set_requires_grad(true);
  const auto ratio = token_ratio(far, numbers({-100.0, 0.0}));
  check_numbers(ratio.detach(), {std::exp(20.0), std::exp(-20.0)});
  ratio.sum().backward();
  check_numbers(far.grad(), {0, 0});
}

TEST_CASE("policy_terms: clipping, dual clipping, CISPO and REINFORCE by hand", "[losses]") {
  const auto ratio = numbers({1.5, 0.5, 1.1, 1.5, 0.5, 4.0});
  const auto a = numbers({1, 1, 2, -1, -1, -1});
  const clip_options clip{.low = 0.2, .high = 0.3};
  check_numbers(clipped_term(ratio, a, clip), {-1.3, -0.5, -2.2, 1.5, 0.8, 4.0});
  check_numbers(clipped_term(ratio, a, {.low = 0.2, .high = 0.3, .dual = 3.0}),
                {-1.3, -0.5, -2.2, 1.5, 0.8, 3.0});
  const auto share = clip_fractions_of(ratio, a, clip);
  CHECK(share.low == Approx(1.0 / 6));   // the fifth
  CHECK(share.high == Approx(1.0 / 6));  // the first
  const auto log_prob = numbers({-1, -2, -1, -1, -1, -3});
  check_numbers(cispo_term(log_prob, ratio, a, 1.2), {1.2, 1.0, 2.2, -1.2, -0.5, -3.6});
  check_numbers(reinforce_term(log_prob, a), {1, 2, 2, -1, -1, -3});
}

TEST_CASE("kl_estimates: k1, k2, k3 and the answers' k1 by hand", "[losses]") {
  const auto log_prob = logs({0.6, 0.2, 0.44}), reference = logs({0.3, 0.4, 0.44});
  const double two = std::log(2.0);  // d: -log 2, log 2, 0
  check_numbers(kl_estimate(kl_kind::k1, log_prob, reference), {two, -two, 0});
  check_numbers(kl_estimate(kl_kind::k2, log_prob, reference), {two * two / 2, two * two / 2, 0});
  check_numbers(kl_estimate(kl_kind::k3, log_prob, reference), {0.5 + two - 1, 2 - two - 1, 0});
  check_numbers(kl_of_answers(log_prob, reference, token_rows({1, 2})), {two, -two});
}

TEST_CASE("kl_estimates: k3 of policies that hardly differ is no rounding error", "[losses]") {
  const float d = 1e-4f;
  const auto k3 = kl_estimate(kl_kind::k3, at::zeros({1}), at::tensor({d}));
  CHECK(k3.item<float>() == Approx(d * d / 2).epsilon(0.02));
  CHECK(kl_estimate(kl_kind::k3, at::tensor({d}), at::zeros({1})).item<float>() ==
        Approx(d * d / 2).epsilon(0.02));
}

TEST_CASE("loss_aggregation: four ways by hand, and micro-batches add up", "[losses]") {
  const auto losses = numbers({1, 2, 6});
  const auto whole = [&](loss_aggregation how) {
    return aggregated(losses, token_rows({2, 1}), how, three).item<double>();
  };
  CHECK(whole(loss_aggregation::token_mean) == Approx(3));
  CHECK(whole(loss_aggregation::sequence_mean) == Approx((1.5 + 6) / 2));
  CHECK(whole(loss_aggregation::sequence_sum) == Approx(4.5));
  CHECK(whole(loss_aggregation::constant_length) == Approx(0.9));
  for (const auto how : {loss_aggregation::token_mean, loss_aggregation::sequence_mean,
                         loss_aggregation::sequence_sum, loss_aggregation::constant_length}) {
    const auto first = aggregated(numbers({1, 2}), token_rows({2}), how, three);
    const auto second = aggregated(numbers({6}), token_rows({1}), how, three);
    CHECK((first + second).item<double>() == Approx(whole(how)));
  }
  CHECK_THROWS_WITH(aggregated(losses, token_rows({3}), loss_aggregation::constant_length,
                               {.tokens = 3, .answers = 1}),
                    Catch::Contains("length_max: expected a number > 0, got 0"));
}

TEST_CASE("importance_correction: truncated and masked, by token and by answer", "[losses]") {
  const auto behaviour = logs({0.1, 0.4, 0.2});
  const auto proximal = logs({0.4, 0.1, 0.4});  // w 4, 1/4, 2; of the answers 1 and 2
  const token_rows rows({2, 1});
  const auto weights = [&](correction_options options) {
    return importance_correction(proximal, behaviour, rows, options);
  };
  using enum correction_kind;
  check_numbers(weights({.kind = none}).weight, {1, 1, 1});
  check_numbers(weights({.kind = truncate, .max = 3}).weight, {3, 0.25, 2});
  check_numbers(weights({.kind = mask, .max = 3}).weight, {0, 0.25, 2});
  check_numbers(weights({.kind = mask, .max = 3, .min = 0.5}).weight, {0, 0, 2});
  const auto sequence = correction_level::sequence;
  check_numbers(weights({.kind = truncate, .level = sequence, .max = 1.5}).weight, {1, 1, 1.5});
  check_numbers(weights({.kind = mask, .level = sequence, .max = 1.5}).weight, {1, 1, 0});
  const auto told = weights({.kind = mask, .max = 3, .min = 0.5});
  CHECK(told.mean == Approx(6.25 / 3));
  CHECK(told.out_of_range == Approx(2.0 / 3));
}

TEST_CASE("grpo_loss: each published variant, worked by hand", "[losses]") {
  const auto in = three_tokens();
  const auto loss = [&](grpo_variant v) { return loss_of(in, preset_of(v).loss); };
  // Clipped to .8 .. 1.2: tokens -1.2, -.5; 2.2.
  CHECK(loss(grpo_variant::grpo) == Approx((-0.85 + 2.2) / 2));
  CHECK(loss(grpo_variant::dr_grpo) == Approx(0.5 / 10));
  CHECK(loss(grpo_variant::dapo) == Approx((-1.28 - 0.5 + 2.2) / 3));
  // The first answer's ratio sqrt(.75) is below 1 - low, but only A < 0 is clipped there; the
  // other's is 1.1, and A < 0.
  CHECK(loss(grpo_variant::gspo) == Approx((-std::sqrt(0.75) + 2.2) / 2));
  const double a = std::log(0.6), b = std::log(0.2), c = std::log(0.44);
  CHECK(loss(grpo_variant::cispo) == Approx((-1.5 * a - 0.5 * b + 2 * 1.1 * c) / 3));
  CHECK(loss(grpo_variant::rloo) == Approx((-a - b + 2 * c) / 2));
  CHECK(loss(grpo_variant::reinforce) == Approx((-a - b + 2 * c) / 2));
  CHECK(preset_of(grpo_variant::grpo).advantage == advantage_kind::group_std);
  CHECK(preset_of(grpo_variant::dr_grpo).advantage == advantage_kind::group_mean);
  CHECK(preset_of(grpo_variant::rloo).advantage == advantage_kind::leave_one_out);
  CHECK(preset_of(grpo_variant::dapo).dynamic_sampling);
  CHECK(preset_of(grpo_variant::dapo).overlong_share == 0.2);
  CHECK(!preset_of(grpo_variant::grpo).dynamic_sampling);
}

TEST_CASE("grpo_loss: decoupled, a ratio to the proximal policy and a weight to the behaviour",
          "[losses]") {
  auto in = three_tokens();
  in.proximal = logs({0.5, 0.4, 0.22});  // ratios 1.2, .5; 2: clipped to 1.1, .5; 2 with A -2
  grpo_loss_options options{.clip = {.low = 0.1, .high = 0.1}};
  options.correction = {.kind = correction_kind::truncate, .max = 1.1};
  // w 1.25 -> 1.1, 1, .55
  CHECK(loss_of(in, options) == Approx((-1.1 * 1.1 - 0.5 + 0.55 * 4) / 3));
}

TEST_CASE("grpo_loss: REINFORCE on answers of other weights is weighted by current / sampling ones",
          "[losses]") {
  auto in = three_tokens();  // weights 1.5, .5; 1.1
  auto options = preset_of(grpo_variant::rloo).loss;
  options.correction = {.kind = correction_kind::truncate, .max = 1.2};
  const double a = std::log(0.6), b = std::log(0.2), c = std::log(0.44);
  CHECK(loss_of(in, options) == Approx((-1.2 * a - 0.5 * b + 2 * 1.1 * c) / 2));
  const auto told = grpo_loss(in, options, three).metrics;
  CHECK(told.weight == Approx(3.1 / 3));
  CHECK(told.out_of_range == Approx(1.0 / 3));
  options.correction.kind = correction_kind::mask;
  CHECK(loss_of(in, options) == Approx((-0.5 * b + 2 * 1.1 * c) / 2));
  options.correction = {
      .kind = correction_kind::truncate, .level = correction_level::sequence, .max = 1.0};
  CHECK(loss_of(in, options) == Approx((-0.75 * (a + b) + 2 * c) / 2));
  options.correction.kind = correction_kind::none;
  CHECK(loss_of(in, options) == Approx((-a - b + 2 * c) / 2));
  // The weight is a constant: CISPO's gradient, with the same bound.
  in.log_prob.set_requires_grad(true);
  options.correction = {.kind = correction_kind::truncate, .max = 1.2};
  grpo_loss(in, options, three).loss.backward();
  check_numbers(in.log_prob.grad(), {-0.6, -0.25, 1.1});
}

TEST_CASE("overlong_reward: DAPO's equation 13 by hand", "[losses]") {
  const auto of = [](std::int64_t length) { return overlong_reward(length, 20'480, 4'096); };
  CHECK(of(1) == 0.0);
  CHECK(of(16'384) == 0.0);
  CHECK(of(16'385) == Approx(-1.0 / 4'096));
  CHECK(of(18'432) == Approx(-0.5));
  CHECK(of(20'480) == -1.0);
  CHECK(of(30'000) == -1.0);
  CHECK(overlong_reward(8, 8, 0) == 0.0);
}

TEST_CASE("grpo_loss: the penalty by the reference is added to each token", "[losses]") {
  const auto in = three_tokens();
  auto options = preset_of(grpo_variant::dapo).loss;
  const double without = loss_of(in, options);
  options.kl_coef = 0.1;
  options.kl = kl_kind::k2;
  const double two = std::log(2.0);
  CHECK(loss_of(in, options) == Approx(without + 0.1 * two * two / 3));
  auto bare = three_tokens();
  bare.reference = at::Tensor();
  CHECK_THROWS_WITH(loss_of(bare, options), Catch::Contains("reference must be [3]"));
}

TEST_CASE("grpo_loss: the entropy bonus is a mean over tokens, with the gradient of the entropy",
          "[losses]") {
  // Five logits of each of three tokens, the first two of one answer.
  auto generator = at::make_generator<at::CPUGeneratorImpl>(3);
  const auto start = at::randn({3, 5}, generator, at::kDouble);
  const auto ids = at::tensor({1, 4, 0}, at::kLong);
  const auto loss_at = [&](const at::Tensor& logits, const grpo_loss_options& options) {
    const auto log_p = logits.log_softmax(-1);
    auto in = three_tokens();
    in.log_prob = log_p.gather(1, ids.unsqueeze(1)).squeeze(1);
    in.entropy = -(log_p.exp() * log_p).sum(-1);
    // These are three of four tokens of the batch, and two of three answers.
    return grpo_loss(in, options, {.tokens = 4, .answers = 3, .length_max = 5});
  };
  for (const auto variant : {grpo_variant::dapo, grpo_variant::gspo, grpo_variant::dr_grpo,
                             grpo_variant::rloo, grpo_variant::grpo}) {
    CAPTURE(int(variant));
    auto with = preset_of(variant).loss;
    with.correction = {};
    const auto without = with;
    with.entropy_coef = 0.3;
    auto logits = start.clone().set_requires_grad(true),
         bare = start.clone().set_requires_grad(true);
    const auto found = loss_at(logits, with), other = loss_at(bare, without);
    const auto p = start.softmax(-1);
    const auto entropy = -(p * p.log()).sum().item<double>();
    CHECK(found.metrics.entropy == Approx(entropy / 3));
    CHECK(found.metrics.loss == Approx(other.metrics.loss - 0.3 * entropy / 4));
    CHECK(other.metrics.entropy == 0.0);
    found.loss.backward();
    other.loss.backward();
    for (std::int64_t i = 0; i < 15; ++i) {  // by finite differences of the bonus
      const auto bonus_at = [&](double step) {
        auto moved = start.clone();
        moved.view({15})[i] += step;
        return loss_at(moved, with).metrics.loss - loss_at(moved, without).metrics.loss;
      };
      const double expected = (bonus_at(1e-5) - bonus_at(-1e-5)) / 2e-5;
      CHECK((logits.grad() - bare.grad()).view({15})[i].item<double>() ==
            Approx(expected).margin(1e-9));
    }
  }
  auto options = preset_of(grpo_variant::dapo).loss;
  options.entropy_coef = 0.1;
  CHECK_THROWS_WITH(loss_of(three_tokens(), options), Catch::Contains("entropy must be [3]"));
}

namespace {

/// Answers padded to the longest with numbers that must not count, and a mask: [N, L].
struct padded {
  explicit padded(const token_rows& rows)
      : longest(*std::max_element(rows.lengths().begin(), rows.lengths().end())),
        mask(at::zeros({rows.answers(), longest}, at::kDouble)) {
    for (std::int64_t i = 0; i < rows.answers(); ++i) mask[i].narrow(0, 0, rows.lengths()[i]) += 1;
  }
  at::Tensor operator()(const at::Tensor& of_tokens) const {
    return at::full(mask.sizes(), -3.0, at::kDouble).masked_scatter(mask.to(at::kBool), of_tokens);
  }
  std::int64_t longest;
  at::Tensor mask;
};

/// The same loss once more, as Python libraries write it: over padded answers, with masks.
at::Tensor padded_loss(const grpo_loss_inputs& in, const grpo_loss_options& o,
                       const loss_divisor& whole) {
  const padded pad(in.rows);
  const auto lp = pad(in.log_prob), mu = pad(in.behaviour);
  const auto prox = in.proximal.defined() ? pad(in.proximal) : mu;
  const auto lengths = pad.mask.sum(1, true);
  auto log_r = lp - prox;
  if (o.ratio == ratio_level::sequence) log_r = (log_r * pad.mask).sum(1, true) / lengths;
  const auto r = log_r.exp();
  const auto a = in.advantage.unsqueeze(1);
  at::Tensor term;
  if (o.term == policy_term::clip) {
    term = at::max(-r * a, -at::clamp(r, 1 - o.clip.low, 1 + o.clip.high) * a);
    if (o.clip.dual) term = at::where(a < 0, at::min(term, -*o.clip.dual * a), term);
  } else {
    const auto fixed =
        o.term == policy_term::cispo ? at::clamp_max(r, o.cispo_max).detach() : at::ones_like(r);
    term = -fixed * a * lp;
  }
  auto log_w = (o.term == policy_term::reinforce ? lp.detach() : prox) - mu;
  if (o.correction.level == correction_level::sequence)
    log_w = (log_w * pad.mask).sum(1, true).expand_as(log_w);
  auto w = log_w.exp();
  if (o.correction.kind == correction_kind::none) w = at::ones_like(w);
  if (o.correction.kind == correction_kind::truncate) w = at::clamp_max(w, o.correction.max);
  if (o.correction.kind == correction_kind::mask)
    w = w * (w <= o.correction.max).logical_and(w >= o.correction.min);
  auto l = w * term;
  if (o.kl_coef != 0) {
    const auto d = pad(in.reference) - lp;
    const at::Tensor kinds[] = {-d, d * d / 2, d.exp() - d - 1};
    l = l + o.kl_coef * kinds[int(o.kl)];
  }
  l = l * pad.mask;
  const double n = double(whole.answers);
  if (o.aggregation == loss_aggregation::token_mean) return l.sum() / double(whole.tokens);
  if (o.aggregation == loss_aggregation::sequence_mean) return (l.sum(1, true) / lengths).sum() / n;
  if (o.aggregation == loss_aggregation::sequence_sum) return l.sum() / n;
  return l.sum() / (n * double(whole.length_max));
}

}  // namespace

TEST_CASE("grpo_loss: value and gradient are those of padded answers with masks", "[losses]") {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(11);
  const auto pick = [&](int n) { return at::randint(n, {1}, generator).item<int>(); };
  const auto random = [&](std::int64_t n) { return at::randn({n}, generator, at::kDouble); };
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    std::vector<std::int64_t> lengths;
    for (int i = 0, n = 1 + pick(6); i < n; ++i) lengths.push_back(1 + pick(7));
    const token_rows rows(lengths);
    const auto t = rows.tokens();
    const auto behaviour = -random(t).abs() - 0.1;
    grpo_loss_inputs in{.rows = rows,
                        .log_prob = behaviour + 0.5 * random(t),
                        .behaviour = behaviour,
                        .proximal = {},
                        .reference = behaviour + 0.5 * random(t),
                        .advantage = random(rows.answers())};
    if (pick(2)) in.proximal = behaviour + 0.3 * random(t);
    grpo_loss_options o{.term = policy_term(pick(3)), .ratio = ratio_level(pick(2))};
    o.clip = {.low = 0.1 + 0.1 * pick(3), .high = 0.1 + 0.1 * pick(3)};
    if (pick(2)) o.clip.dual = 1.5;
    o.cispo_max = 1.2;
    o.correction = {.kind = correction_kind(pick(3)),
                    .level = correction_level(pick(2)),
                    .max = 1.1,
                    .min = 0.8};
    o.kl_coef = pick(2) ? 0.3 : 0.0;
    o.kl = kl_kind(pick(3));
    o.aggregation = loss_aggregation(pick(4));
    const loss_divisor whole{
        .tokens = t + pick(9), .answers = rows.answers() + pick(3), .length_max = 9};

    in.log_prob.set_requires_grad(true);
    const auto expected = padded_loss(in, o, whole);
    expected.backward();
    const auto gradient = in.log_prob.grad().clone();
    in.log_prob.mutable_grad() = at::Tensor();
    const auto found = grpo_loss(in, o, whole);
    found.loss.backward();
    CHECK(found.metrics.loss == Approx(expected.item<double>()).epsilon(1e-6).margin(1e-9));
    CHECK(at::allclose(in.log_prob.grad(), gradient, 1e-6, 1e-9));
  }
}
