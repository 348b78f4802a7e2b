#include "actors/torch/torch.hpp"

#include "actors/llm/model/forward_ops.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <functional>

#include "tests/test.hpp"

namespace troupe::llm {
namespace {

at::Tensor drawn(at::IntArrayRef shape, double scale = 1.0) {
  static auto generator = at::detail::createCPUGenerator(7);
  return (at::empty(shape).normal_(0.0, scale, generator)).requires_grad_(true);
}

using tensors = std::vector<at::Tensor>;
using function = std::function<at::Tensor(const tensors&)>;

// The value and all gradients of `ours` are those of `theirs`, in double.
void check_equal(const tensors& inputs, const function& ours, const function& theirs) {
  tensors doubles;
  for (const auto& x : inputs) doubles.push_back(x.detach().to(at::kDouble).requires_grad_(true));
  const auto value = ours(inputs);
  const auto expected = theirs(doubles);
  CHECK(at::allclose(value.to(at::kDouble), expected, 1e-5, 1e-6));
  const auto seed = at::linspace(-1.0, 1.5, value.numel()).view(value.sizes());
  const auto found = torch::autograd::grad({value}, inputs, {seed});
  const auto wanted = torch::autograd::grad({expected}, doubles, {seed.to(at::kDouble)});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CHECK(wanted[i].abs().max().item<double>() > 0.1);
    CHECK(at::allclose(found[i].to(at::kDouble), wanted[i], 1e-4, 1e-5));
  }
}

TEST_CASE("forward ops: rms_norm and its gradients, of widths that 16 doesn't divide, too") {
  for (const std::int64_t size : {16, 37, 64}) {
    check_equal(
        {drawn({5, 3, size}), drawn({size})},
        [](const tensors& in) { return rms_norm(in[0], in[1], 1e-3); },
        [](const tensors& in) {
          return in[1] * in[0] * at::rsqrt(in[0].pow(2).mean({-1}, true) + 1e-3);
        });
  }
}

TEST_CASE("forward ops: rotated is a complex product, also where it stretches") {
  const auto angles = at::linspace(0.0, 9.0, 4 * 6).view({4, 6});
  const auto cosine = angles.cos() * 1.2, sine = angles.sin() * 1.2;
  check_equal(
      {drawn({4, 3, 12})}, [&](const tensors& in) { return rotated(in[0], cosine, sine); },
      [&](const tensors& in) {
        const auto x = at::complex(in[0].narrow(2, 0, 6), in[0].narrow(2, 6, 6));
        const auto turn = at::complex(cosine, sine).unsqueeze(1).to(at::kComplexDouble);
        const auto y = x * turn;
        return at::cat({at::real(y), at::imag(y)}, 2);
      });
}

TEST_CASE("forward ops: gated is silu(gate) * up") {
  check_equal(
      {drawn({7, 33}, 3.0), drawn({7, 33})}, [](const tensors& in) { return gated(in[0], in[1]); },
      [](const tensors& in) { return in[0] * at::sigmoid(in[0]) * in[1]; });
}

}  // namespace
}  // namespace troupe::llm
