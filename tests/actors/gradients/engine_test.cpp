// Which engine computes the gradients of one network or of several.

#include "actors/gradients/engine.hpp"

#include <vector>

#include "actors/gradients/kernel_graph.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using detail::network_stack;

network_stack stack_of(std::vector<int> hidden) {
  network_options options;
  options.hidden = std::move(hidden);
  return {network_shape{.obs_size = 3, .discrete_actions = 2}, options, 2};
}

bool is_on_kernels(const std::unique_ptr<graph>& g) {
  return dynamic_cast<const kernel_graph*>(g.get()) != nullptr;
}

TEST_CASE("engine: a small network is computed by the kernels, a wide one by libtorch") {
  CHECK(is_on_kernels(make_graph(gradient_backend::automatic, stack_of({8}))));
  CHECK(!is_on_kernels(make_graph(gradient_backend::libtorch, stack_of({8}))));
  CHECK(!is_on_kernels(make_graph(gradient_backend::automatic, stack_of({1024, 1024}))));
}

TEST_CASE("engine: several networks are computed by libtorch if one of them needs it") {
  const auto narrow = stack_of({8}), other = stack_of({16}), wide = stack_of({1024, 1024});
  using stacks = std::vector<const network_stack*>;
  const auto on_kernels = [](const stacks& nets) {
    return is_on_kernels(make_graph(gradient_backend::automatic, nets));
  };
  CHECK(on_kernels({&narrow}));
  CHECK(on_kernels({&narrow, &other}));
  CHECK(!on_kernels({&wide, &narrow}));
  CHECK(!on_kernels({&narrow, &wide}));
  CHECK(!on_kernels({&narrow, &wide, &other}));
}

}  // namespace
}  // namespace troupe
