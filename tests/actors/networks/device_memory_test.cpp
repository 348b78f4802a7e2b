#include "actors/torch/torch.hpp"

#include "actors/networks/device_memory.hpp"

#include "actors/networks/device_link.hpp"
#include "tests/actors/networks/test_device.hpp"
#include "tests/test.hpp"

namespace troupe::detail {
namespace {

constexpr std::size_t mebibyte = 1 << 20;

TEST_CASE("device: memory that suffices is no lack", "[policy]") {
  const device_memory memory{.free = 700 * mebibyte + cuda_overhead(),
                             .total = 2000 * mebibyte + cuda_overhead()};
  CHECK(lack_of_device_memory(memory, 700 * mebibyte, true).empty());
  CHECK(lack_of_device_memory(memory, memory.free, false).empty());
}

TEST_CASE("device: a lack of memory is told with what is needed and what is free", "[policy]") {
  const device_memory memory{.free = 700 * mebibyte, .total = 1000 * mebibyte};
  const auto overhead = std::to_string(cuda_overhead() / mebibyte);
  const auto needed = std::to_string(101 + cuda_overhead() / mebibyte);
  CHECK(lack_of_device_memory(memory, 101 * mebibyte, true) ==
        "expected " + needed + " MiB of free memory on the GPU (101 MiB for the networks, " +
            overhead + " MiB for CUDA itself), found 700 MiB of 1000 MiB");
  CHECK(lack_of_device_memory(memory, 701 * mebibyte, false) ==
        "expected 701 MiB of free memory on the GPU (701 MiB for the networks, 0 MiB for CUDA "
        "itself), found 700 MiB of 1000 MiB");
}

TEST_CASE("device: a name says which GPU is meant", "[policy]") {
  CHECK(index_of_device("cuda") == 0);
  CHECK(index_of_device("cuda:12") == 12);
}

TEST_CASE("device: a GPU that is not there has no memory to tell of, and lacks none", "[policy]") {
  CHECK_FALSE(memory_of_device(99));
  if (test_device() != "cpu") CHECK_NOTHROW(at::ones({1}).to(at::Device(test_device())));
  CHECK(lack_of_device_memory(99, 1000 * mebibyte).empty());
}

TEST_CASE("device: networks that no GPU can hold are refused with the bytes needed", "[policy]") {
  if (test_device() == "cpu") return;
  const auto memory = memory_of_device(0);
  REQUIRE(memory);
  CHECK(memory->free <= memory->total);
  CHECK_THROWS_WITH(device_link(test_device(), memory->total + mebibyte),
                    Catch::Contains("MiB of free memory on the GPU") && Catch::Contains("found "));
}

}  // namespace
}  // namespace troupe::detail
