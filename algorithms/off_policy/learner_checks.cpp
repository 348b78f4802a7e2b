#include "algorithms/off_policy/learner_checks.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "actors/policy/backend_choice.hpp"

namespace troupe::detail {

void expect_option(bool good, const char* algorithm, const char* name, double value,
                   const char* expected) {
  if (good) return;
  throw std::invalid_argument(
      fmt::format("{} option {}: {}, expected {}", algorithm, name, value, expected));
}

void check_common_options(const char* algorithm, const off_policy_learner_options& options) {
  const auto expect = [algorithm](bool good, const char* name, double value, const char* expected) {
    expect_option(good, algorithm, name, value, expected);
  };
  expect(options.lr > 0.0, "lr", options.lr, "> 0");
  expect(options.tau > 0.0 && options.tau <= 1.0, "tau", options.tau, "above 0, at most 1");
  expect(options.adam_eps > 0.0, "adam_eps", options.adam_eps, "> 0");
  expect(options.max_skipped_steps > 0, "max_skipped_steps", options.max_skipped_steps, ">= 1");
}

void expect_size(const char* algorithm, const char* what, std::size_t got, std::size_t expected) {
  if (got == expected) return;
  throw std::invalid_argument(
      fmt::format("{} state: {} of {} numbers, expected {}", algorithm, what, got, expected));
}

bool uses_fused(gradient_backend backend, const network_stack& net) {
  const auto choice = choose_backend(backend, {.net = &net.top(),
                                               .has_convolutions = net.has_convolutions(),
                                               .is_on_host = net.is_on_host()});
  log_once(choice);
  return choice.fused;
}

}  // namespace troupe::detail
