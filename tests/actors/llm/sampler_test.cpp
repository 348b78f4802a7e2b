#include "actors/llm/generator/sampler.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "tests/runtime/support.hpp"

namespace troupe::llm {
namespace {

using testing::has_text;

// Probabilities 0.5, 0.25, 0.125, 0.0625, 0.0625 at temperature 1.
const std::vector<float> halves{3 * std::log(2.0f), 2 * std::log(2.0f), std::log(2.0f), 0, 0};

/// How often each token is drawn.
std::vector<double> shares(const sampling_options& options, int draws = 20000) {
  sampler s;
  std::vector<double> share(halves.size());
  for (int i = 0; i < draws; ++i) {
    const auto drawn = s.draw(halves, options, uniform_of(7, static_cast<std::uint64_t>(i)));
    share[static_cast<std::size_t>(drawn.id)] += 1.0 / draws;
  }
  return share;
}

void check_shares(const sampling_options& options, const std::vector<double>& expected) {
  const auto found = shares(options);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    // Four standard errors of 20,000 draws.
    CHECK(std::abs(found[i] - expected[i]) <= 4 * std::sqrt(expected[i] * (1 - expected[i]) / 2e4));
  }
}

TEST_CASE("sampler: tokens are drawn as often as the filtered distribution says") {
  check_shares({}, {0.5, 0.25, 0.125, 0.0625, 0.0625});
  // Square roots: 1, 0.7071, 0.5, 0.3536, 0.3536, together 2.9142.
  check_shares({.temperature = 2}, {0.34315, 0.24264, 0.17157, 0.12132, 0.12132});
  check_shares({.top_k = 2}, {2.0 / 3, 1.0 / 3, 0, 0, 0});
  check_shares({.top_k = 4}, {0.5, 0.25, 0.125, 0.0625, 0.0625});  // the last two are as likely
  check_shares({.top_p = 0.75}, {2.0 / 3, 1.0 / 3, 0, 0, 0});
  check_shares({.top_p = 0.76}, {4.0 / 7, 2.0 / 7, 1.0 / 7, 0, 0});
  check_shares({.min_p = 0.25}, {4.0 / 7, 2.0 / 7, 1.0 / 7, 0, 0});
  // Of the three that top_k leaves, two have 6/7 of the probability.
  check_shares({.top_k = 3, .top_p = 0.85}, {2.0 / 3, 1.0 / 3, 0, 0, 0});
}

TEST_CASE("sampler: the log-probability is that of the whole distribution at the temperature") {
  sampler s;
  const auto first = [&](const sampling_options& o) { return s.draw(halves, o, 0.1); };
  CHECK(first({}).id == 0);
  CHECK(first({}).log_prob == Approx(std::log(0.5)).margin(1e-7));
  CHECK(first({.temperature = 2}).log_prob == Approx(std::log(0.343146)).margin(1e-6));
  for (const auto& filtered :
       {sampling_options{.top_k = 2}, {.top_p = 0.01}, {.min_p = 1}, {.temperature = 0}})
    CHECK(first(filtered).log_prob == first({}).log_prob);
  CHECK(first({.temperature = 2, .top_k = 1}).log_prob == first({.temperature = 2}).log_prob);
  const std::vector<token_id> said{0};
  for (const double temperature : {0.0, 1.0}) {
    const auto other =
        s.draw(halves, {.temperature = temperature, .repetition_penalty = 1000}, 0.3, {said});
    CHECK(other.id == 1);
    CHECK(other.log_prob == Approx(std::log(0.25)).margin(1e-7));
  }
}

TEST_CASE("sampler: tokens that the text has already are penalised once each") {
  const std::vector<float> logits{2, 1, 0, -1, -1};
  const std::vector<token_id> prompt{3, 0, 3}, answer{3, 0};
  const std::vector<double> weights{std::exp(1.0), std::exp(1.0), 1, std::exp(-2.0),
                                    std::exp(-1.0)};
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (const text_before& before : {text_before{prompt, answer}, {prompt}, {{}, prompt}}) {
    sampler s;
    std::vector<double> share(5);
    for (std::uint64_t i = 0; i < 20000; ++i) {
      const auto drawn = s.draw(logits, {.repetition_penalty = 2}, uniform_of(7, i), before);
      share[static_cast<std::size_t>(drawn.id)] += 1.0 / 20000;
    }
    for (std::size_t i = 0; i < 5; ++i) {
      CAPTURE(i);
      const double expected = weights[i] / sum;
      CHECK(std::abs(share[i] - expected) <= 4 * std::sqrt(expected * (1 - expected) / 2e4));
    }
  }
  sampler s;
  // The filters come after the penalty: the likeliest are the first two, equally.
  CHECK(s.draw(logits, {.top_k = 1, .repetition_penalty = 2}, 0.75, {prompt}).id == 1);
}

TEST_CASE("sampler: at temperature 0 it is the likeliest, the first of equal ones") {
  sampler s;
  const std::vector<float> tied{1, 5, 2, 5};
  CHECK(s.draw(tied, {.temperature = 0}, 0.99).id == 1);
}

TEST_CASE("sampler: filters find the likeliest among many, whatever their order") {
  std::vector<float> logits(5000);
  for (std::size_t i = 0; i < logits.size(); ++i)
    logits[i] = -0.01f * static_cast<float>(i * 1237 % 5000);  // each value once
  sampler s;
  double sum = 0, top = 0;
  for (int i = 0; i < 5000; ++i) sum += std::exp(-0.01 * i);
  for (int i = 0; i < 300; ++i) top += std::exp(-0.01 * i);
  const auto three_hundred = s.draw(logits, {.top_k = 300}, 0.0);
  CHECK(three_hundred.id == 0);
  // The last of the three hundred likeliest is drawn by the highest number.
  const double highest = 1 - 1e-9;
  const auto rank_of = [&](const drawn_token& drawn) {
    return std::lround(-100.0 * logits[static_cast<std::size_t>(drawn.id)]);
  };
  CHECK(rank_of(s.draw(logits, {.top_k = 300}, highest)) == 299);
  CHECK(rank_of(s.draw(logits, {.top_p = top / sum - 1e-6}, highest)) == 299);
  CHECK(rank_of(s.draw(logits, {.top_k = 10000}, highest)) > 1500);
}

TEST_CASE("sampler: numbers depend on seed and position alone and fill [0, 1) evenly") {
  CHECK(uniform_of(1, 5) == uniform_of(1, 5));
  CHECK(uniform_of(1, 5) != uniform_of(2, 5));
  CHECK(uniform_of(1, 5) != uniform_of(2, 4));
  for (const std::uint64_t seed : {0u, 1u, 2u}) {
    double mean = 0, square = 0, with_next = 0;
    for (std::uint64_t i = 0; i < 10000; ++i) {
      const double u = uniform_of(seed, i);
      CHECK((u >= 0 && u < 1));
      mean += u / 1e4;
      square += u * u / 1e4;
      with_next += u * uniform_of(seed + 1, i) / 1e4;
    }
    CHECK(mean == Approx(0.5).margin(0.012));
    CHECK(square == Approx(1.0 / 3).margin(0.012));
    CHECK(with_next == Approx(0.25).margin(0.012));
  }
}

TEST_CASE("sampler: what can't be meant is refused with its name and value") {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(check_sampling({.temperature = nan}),
                    has_text("temperature: expected 0, or a number from 0.001 to 1000, got nan"));
  CHECK_THROWS_WITH(check_sampling({.temperature = -1}), has_text("got -1"));
  CHECK_THROWS_WITH(check_sampling({.temperature = 1e-9}), has_text("got 1e-09"));
  CHECK_THROWS_WITH(check_sampling({.top_k = -3}), has_text("top_k: expected"));
  CHECK_THROWS_WITH(check_sampling({.top_p = 0}), has_text("top_p: expected a number above 0"));
  CHECK_THROWS_WITH(check_sampling({.top_p = nan}), has_text("top_p"));
  CHECK_THROWS_WITH(check_sampling({.min_p = 1.5}), has_text("min_p: expected"));
  CHECK_THROWS_WITH(check_sampling({.repetition_penalty = 0}),
                    has_text("repetition_penalty: expected a number from 0.001 to 1000, got 0"));
  CHECK_NOTHROW(check_sampling({.temperature = 0, .top_k = 5, .top_p = 0.5, .min_p = 1}));

  sampler s;
  const auto inf = std::numeric_limits<float>::infinity();
  CHECK_THROWS_WITH(s.draw(std::vector<float>{1, std::nanf("")}, {}, 0.5), has_text("finite"));
  CHECK_THROWS_WITH(s.draw(std::vector<float>{1, inf}, {}, 0.5), has_text("finite"));
}

}  // namespace
}  // namespace troupe::llm
