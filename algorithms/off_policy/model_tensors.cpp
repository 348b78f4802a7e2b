#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/model_tensors.hpp"

#include <algorithm>
#include <string>

namespace troupe::detail {

namespace {

tensor_layout layout_of(const critic_ensemble& critics) {
  tensor_layout layout;
  for (int i = 0; i < critics.count(); ++i) {
    layout.count = static_cast<std::int64_t>(i * critics.stride());
    layout.add("qf" + std::to_string(i), critics.network());
  }
  if (const auto& extractor = critics.extractor()) {
    layout.count = static_cast<std::int64_t>(critics.extractor_offset());
    layout.add(*extractor, "critic.");
  }
  return layout;
}

}  // namespace

named_tensors tensors_of(const critic_ensemble& critics) {
  return troupe::tensors_of(layout_of(critics), critics.parameters().data());
}

void load(critic_ensemble& critics, const named_tensors& from) {
  if (from.empty()) return;
  const auto more = "qf" + std::to_string(critics.count()) + ".0.weight";
  for (const auto& [name, tensor] : from) {
    if (name != more) continue;
    throw std::invalid_argument(name + " is there, expected " + std::to_string(critics.count()) +
                                " critics");
  }
  copy_tensors(layout_of(critics), from, critics.parameters().data());
  std::ranges::copy(critics.parameters(), critics.target().begin());
}

void add_number(named_tensors& to, std::string_view name, float number) {
  to.emplace_back(std::string(name), at::full({1}, number, at::kFloat));
}

std::optional<float> number_in(const named_tensors& from, std::string_view name) {
  const auto at = std::ranges::find(from, name, &named_tensors::value_type::first);
  if (at == from.end() || at->second.numel() != 1) return std::nullopt;
  return at->second.item<float>();
}

}  // namespace troupe::detail
