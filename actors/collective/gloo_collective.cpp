#include "actors/torch/torch.hpp"

#include "actors/collective/gloo_collective.hpp"

#include <fmt/format.h>

#ifdef TROUPE_HAS_GLOO
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif

namespace troupe {
namespace {

void check(const gloo_rendezvous& where) {
  if (where.world == 0 || where.rank >= where.world) {
    throw std::invalid_argument(
        fmt::format("gloo group: rank {} of {}, expected a rank below the number of ranks",
                    where.rank, where.world));
  }
  if (where.timeout < std::chrono::milliseconds(1)) {
    throw std::invalid_argument(
        fmt::format("gloo group: a time-out of {} ms, expected >= 1", where.timeout.count()));
  }
  if (where.file.empty()) throw std::invalid_argument("gloo group: expected the name of a file");
}

}  // namespace

#ifdef TROUPE_HAS_GLOO

namespace {

class gloo_collective final : public collective {
 public:
  explicit gloo_collective(const gloo_rendezvous& where) : where_(where) {
    const auto began = std::chrono::steady_clock::now();
    try {
      auto store = c10::make_intrusive<c10d::FileStore>(where.file, static_cast<int>(where.world));
      store->setTimeout(where.timeout);
      auto options = c10d::ProcessGroupGloo::Options::create(where.timeout);
      options->devices = {c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")};
      options->threads = 1;  // Only one call runs at a time.
      group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(store, static_cast<int>(where.rank),
                                                           static_cast<int>(where.world), options);
    } catch (const std::exception& e) {
      fail("could not join the group at " + where.file, began, e.what());
    }
  }

  std::size_t rank() const noexcept override { return where_.rank; }
  std::size_t world() const noexcept override { return where_.world; }

  void sum(std::span<float> values) override { sum_tensor(over(values, at::kFloat)); }
  void sum(std::span<double> values) override { sum_tensor(over(values, at::kDouble)); }

  void broadcast(std::span<float> values) override {
    const auto tensor = over(values, at::kFloat);
    together("broadcast", tensor, [&](auto& tensors) { return group_->broadcast(tensors); });
  }

 private:
  template <class T>
  static at::Tensor over(std::span<T> values, at::ScalarType type) {
    return at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, type);
  }

  void sum_tensor(const at::Tensor& values) {
    together("sum", values, [&](auto& tensors) { return group_->allreduce(tensors); });
  }

  template <class Begin>
  void together(const char* what, const at::Tensor& values, const Begin& begin) {
    if (values.numel() == 0) return;
    const auto call = fmt::format("{} of {} numbers", what, values.numel());
    const auto began = std::chrono::steady_clock::now();
    if (broken_) fail(call, began, "an earlier call has failed");
    try {
      std::vector<at::Tensor> tensors{values};
      begin(tensors)->wait();
    } catch (const std::exception& e) {
      broken_ = true;
      fail(call, began, e.what());
    }
  }

  [[noreturn]] void fail(const std::string& call, std::chrono::steady_clock::time_point began,
                         std::string_view why) const {
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - began;
    // The first line of c10's text is the message. The rest is the stack trace.
    throw collective_error(fmt::format(
        "data-parallel rank {} of {}: {} failed after {:.3f} s (time-out {:.3f} s), "
        "another rank is missing, lost or late: {}",
        where_.rank, where_.world, call, waited.count(),
        std::chrono::duration<double>(where_.timeout).count(), why.substr(0, why.find('\n'))));
  }

  const gloo_rendezvous where_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  bool broken_ = false;
};

}  // namespace

std::unique_ptr<collective> join_gloo(const gloo_rendezvous& where) {
  check(where);
  return std::make_unique<gloo_collective>(where);
}

#else

std::unique_ptr<collective> join_gloo(const gloo_rendezvous& where) {
  check(where);
  throw collective_error(
      "gloo group: Troupe was built with a libtorch that has no Gloo headers beside its own; "
      "expected Debian's libtorch-dev and libgloo-dev");
}

#endif

}  // namespace troupe
