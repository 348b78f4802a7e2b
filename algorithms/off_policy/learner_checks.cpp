#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/learner_checks.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "actors/gradients/engine.hpp"
#include "actors/networks/backend_choice.hpp"

namespace troupe::detail {

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

namespace troupe {

std::unique_ptr<graph> make_graph(gradient_backend backend, const detail::network_stack& net) {
  return make_graph(detail::uses_fused(backend, net), net.link());
}

}  // namespace troupe
