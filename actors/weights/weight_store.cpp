#include "actors/torch/torch.hpp"

#include "actors/weights/weight_store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "actors/networks/model_file.hpp"

namespace troupe {

weights make_weights(std::int64_t version, std::span<const float> parameters,
                     std::span<const float> behind) {
  auto copy = at::empty({std::ssize(parameters) + std::ssize(behind)}, at::kFloat);
  auto* end = std::ranges::copy(parameters, copy.data_ptr<float>()).out;
  std::ranges::copy(behind, end);
  return {version, copy, {}};
}

std::span<const float> numbers_of(const weights& of) {
  return {of.parameters.data_ptr<float>(), static_cast<std::size_t>(of.parameters.numel())};
}

weight_store::weight_store(std::size_t keep, std::shared_ptr<storage> on)
    : keep_(keep),
      storage_(on ? std::move(on) : std::make_shared<storage>()),
      claim_(*storage_, "weight_store"),
      entries_(storage_->entries_) {
  if (keep == 0) throw std::invalid_argument("weight_store: keep: expected a number > 0, got 0");
}

void weight_store::put(weights fresh) {
  const auto& p = fresh.parameters;
  if (!p.defined() || p.dim() != 1 || p.scalar_type() != at::kFloat || !p.is_contiguous()) {
    throw weights_error(
        fmt::format("weights of version {}: expected a contiguous float [P] tensor, got {}",
                    fresh.version, p.defined() ? p.toString() : "none"));
  }
  if (!entries_.empty()) {
    const auto& newest = entries_.rbegin()->second.kept;
    if (fresh.version == newest.version && at::equal(p, newest.parameters)) return;
    if (fresh.version <= newest.version) {
      throw weights_error(fmt::format("weights of version {}: expected a version newer than {}",
                                      fresh.version, newest.version));
    }
    if (p.numel() != newest.parameters.numel()) {
      throw weights_error(fmt::format("weights of version {}: expected {} parameters, got {}",
                                      fresh.version, newest.parameters.numel(), p.numel()));
    }
  }
  // x - x is 0 for every finite x and NaN for all others.
  if ((p - p).sum().item<float>() != 0.0f) {
    throw weights_error(fmt::format("weights of version {}: a value is not finite", fresh.version));
  }
  fresh.sha256 = weights_sha256(p);
  const auto version = fresh.version;
  entries_.emplace(version, entry{std::move(fresh), 0});
  drop_old();
  changed_.notify_all();
}

weights weight_store::get(std::int64_t version) { return find(version).kept; }

task<weights> weight_store::latest() {
  while (entries_.empty()) co_await changed_.wait();
  co_return entries_.rbegin()->second.kept;
}

task<weights> weight_store::wait_for(std::int64_t version) {
  while (entries_.empty() || entries_.rbegin()->first < version) co_await changed_.wait();
  co_return entries_.rbegin()->second.kept;
}

void weight_store::lease(std::int64_t version) { ++find(version).leases; }

void weight_store::release(std::int64_t version) {
  auto& held = find(version);
  if (held.leases == 0) {
    throw weights_error(
        fmt::format("weights of version {}: released more often than leased", version));
  }
  --held.leases;
  drop_old();
}

std::vector<std::int64_t> weight_store::versions() const {
  std::vector<std::int64_t> all;
  for (const auto& [version, held] : entries_) all.push_back(version);
  return all;
}

weight_store::entry& weight_store::find(std::int64_t version) {
  const auto place = entries_.find(version);
  if (place == entries_.end()) {
    throw weights_error(
        fmt::format("weights of version {} are not kept; these are: {}", version, versions()));
  }
  return place->second;
}

void weight_store::drop_old() {
  auto old = entries_.size() > keep_ ? entries_.size() - keep_ : 0;
  for (auto place = entries_.begin(); old > 0; --old) {
    place = place->second.leases > 0 ? std::next(place) : entries_.erase(place);
  }
}

}  // namespace troupe
