#include "actors/torch/torch.hpp"

#include "actors/networks/device_link.hpp"

#include "actors/networks/network.hpp"
#include "tests/actors/networks/test_device.hpp"
#include "tests/test.hpp"

namespace troupe::detail {
namespace {

using staging = device_link::staging;

TEST_CASE("device: names are cpu, cuda and cuda:N", "[policy]") {
  for (const char* good : {"cpu", "cuda", "cuda:0", "cuda:17"}) CHECK(is_device_name(good));
  for (const char* bad : {"", "gpu", "CUDA", "cuda:", "cuda:-1", "cuda:1x", "cuda:123456", "cpu:0"})
    CHECK_FALSE(is_device_name(bad));
  CHECK_THROWS_WITH(device_link("gpu"), "policy.device gpu: expected cpu, cuda or cuda:N");
}

TEST_CASE("device: one that is not here is refused with what was found", "[policy]") {
  if (!at::globalContext().hasCUDART()) {
    CHECK_THROWS_WITH(device_link("cuda:1"),
                      "policy.device cuda:1: this libtorch was built without CUDA; expected cpu");
  } else if (!at::hasCUDA()) {
    CHECK_THROWS_WITH(device_link("cuda:1"), Catch::Contains("cuda:1: no GPU was found"));
  } else {
    CHECK_THROWS_WITH(device_link("cuda:99"), Catch::Contains("expected an index below"));
  }
}

TEST_CASE("device: the host's link gives what it is given", "[policy]") {
  const device_link host("cpu");
  CHECK(host.is_host());
  const auto x = at::arange(6, at::kFloat);
  CHECK(host.to_device(x).is_same(x));
  CHECK(host.to_host(x).is_same(x));
}

TEST_CASE("device: what is staged arrives whole, in a block of its own", "[policy]") {
  const device_link link(at::kCPU, staging::pageable);
  CHECK_FALSE(link.is_host());
  for (const auto& x : {at::arange(6, at::kFloat).view({2, 3}).t(),
                        at::tensor({1, 2, 3}, at::kLong), at::empty({0, 4})}) {
    const auto there = link.to_device(x);
    CHECK(at::equal(there, x));
    CHECK(there.scalar_type() == x.scalar_type());
    if (x.numel() > 0) CHECK(there.data_ptr() != x.data_ptr());
    CHECK(at::equal(link.to_host(there), x));
  }
}

TEST_CASE("device: what is there comes back whole", "[policy]") {
  const device_link link(test_device());
  const auto block = link.host_zeros(6);
  CHECK(at::equal(block, at::zeros({6})));
  for (const auto& x : {at::arange(6, at::kFloat).view({2, 3}).t(), block.narrow(0, 1, 4) + 2.0f,
                        block.narrow(0, 1, 4), at::tensor({1, 2, 3}, at::kLong)}) {
    const auto there = link.to_device(x);
    CHECK(there.device().type() == at::Device(test_device()).type());
    CHECK(link.to_device(there).is_same(there));
    CHECK(at::equal(link.to_host(there), x));
    CHECK(link.to_host(there + there).is_cpu());
  }
  // A block that the device copies without a detour is read before it is written to again.
  for (float i = 0; i < 100; ++i) {
    block.fill_(i);
    CHECK(at::equal(link.to_host(link.to_device(block)), at::full({6}, i)));
  }
}

TEST_CASE("device: gradients come back from there", "[policy]") {
  const device_link link(test_device());
  const auto block = link.host_zeros(6), gradient = link.host_zeros(6);
  auto leaf = block.narrow(0, 2, 3).detach();
  leaf.set_requires_grad(true);
  leaf.mutable_grad() = gradient.narrow(0, 2, 3);
  const auto there = link.to_device(leaf) * link.to_device(at::tensor({1.0f, 2.0f, 4.0f}));
  link.to_host(3.0 * there).sum().backward();
  CHECK(at::equal(gradient, at::tensor({0.0f, 0.0f, 3.0f, 6.0f, 12.0f, 0.0f})));
}

TEST_CASE("device: gradients come back the way the numbers went", "[policy]") {
  const device_link link(at::kCPU, staging::pageable);
  // A leaf whose gradient is a view of a block, as a learner's are.
  const auto block = at::zeros({6}), gradient = at::zeros({6});
  auto leaf = block.narrow(0, 2, 3).detach();
  leaf.set_requires_grad(true);
  leaf.mutable_grad() = gradient.narrow(0, 2, 3);
  const auto obs = at::tensor({1.0f, 2.0f, 4.0f});
  const auto there = link.to_device(leaf) * link.to_device(obs);
  link.to_host(3.0 * there).sum().backward();
  CHECK(at::equal(gradient, at::tensor({0.0f, 0.0f, 3.0f, 6.0f, 12.0f, 0.0f})));
}

}  // namespace
}  // namespace troupe::detail
