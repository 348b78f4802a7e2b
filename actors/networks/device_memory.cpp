#include "actors/networks/device_memory.hpp"

#include <dlfcn.h>

#include <array>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "runtime/base/usable_cores.hpp"

namespace troupe::detail {
namespace {

// A function of a library that this process may have or not.
template <class Function>
Function* found(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// The driver's library for management tells the memory without CUDA, whose first question would
// take some hundred megabytes of it. It has numbers of its own for GPUs, so it is asked by the
// address on the bus, which CUDA's runtime knows: libtorch brings that with it.
std::optional<device_memory> memory_by_nvml(int index) {
  using bus_address = int(char*, int, int);
  auto* address_of = found<bus_address>(RTLD_DEFAULT, "cudaDeviceGetPCIBusId");
  std::array<char, 32> address{};
  if (!address_of) return std::nullopt;
  if (address_of(address.data(), address.size(), index) != 0) {
    // CUDA keeps the error of a GPU that is not there, and libtorch's next call would report it.
    if (auto* forget_error = found<int()>(RTLD_DEFAULT, "cudaGetLastError")) forget_error();
    return std::nullopt;
  }
  // It stays loaded for the life of the process.
  static void* const nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!nvml) return std::nullopt;
  struct memory {  // nvmlMemory_t
    unsigned long long total, free, used;
  };
  auto* init = found<int()>(nvml, "nvmlInit_v2");
  auto* device_of = found<int(const char*, void**)>(nvml, "nvmlDeviceGetHandleByPciBusId_v2");
  auto* memory_of = found<int(void*, memory*)>(nvml, "nvmlDeviceGetMemoryInfo");
  if (!init || !device_of || !memory_of) return std::nullopt;
  static const int initialised = init();
  void* device = nullptr;
  memory told{};
  if (initialised != 0 || device_of(address.data(), &device) != 0 ||
      memory_of(device, &told) != 0) {
    return std::nullopt;
  }
  return device_memory{.free = told.free, .total = told.total};
}

std::string in_mebibytes(std::size_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

}  // namespace

std::size_t cuda_overhead() {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  return 600 * mebibyte + 110 * mebibyte * usable_cores();
}

std::optional<device_memory> memory_of_device(int index) { return memory_by_nvml(index); }

int index_of_device(const std::string& name) {
  const auto colon = name.find(':');
  return colon == std::string::npos ? 0 : std::stoi(name.substr(colon + 1));
}

std::string lack_of_device_memory(const device_memory& memory, std::size_t bytes, bool first_use) {
  const auto needed = bytes + (first_use ? cuda_overhead() : 0);
  if (memory.free >= needed) return {};
  return fmt::format(
      "expected {} of free memory on the GPU ({} for the networks, {} for CUDA itself), found {} "
      "of {}",
      in_mebibytes(needed), in_mebibytes(bytes), in_mebibytes(needed - bytes),
      in_mebibytes(memory.free), in_mebibytes(memory.total));
}

std::string lack_of_device_memory(int index, std::size_t bytes) {
  static std::mutex mutex;
  static std::set<int> used;
  const std::lock_guard lock(mutex);
  const auto memory = memory_of_device(index);
  const auto lack = memory ? lack_of_device_memory(*memory, bytes, !used.contains(index)) : "";
  if (lack.empty()) used.insert(index);
  return lack;
}

}  // namespace troupe::detail
