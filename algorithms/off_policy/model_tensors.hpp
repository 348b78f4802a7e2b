#pragma once
// The tensors of an off-policy algorithm's model that don't act.

#include <optional>
#include <string_view>

#include "actors/networks/named_tensors.hpp"
#include "algorithms/off_policy/critic_ensemble.hpp"

namespace troupe::detail {

/// Returns the critics' tensors, "qf0.0.weight" [out, in], "qf0.0.bias", ... "qf1.0.weight", ...
/// and those of their extractor with names as
/// "critic.features_extractor.extractors.KEY.cnn.0.weight".
named_tensors tensors_of(const critic_ensemble& critics);

/// Copies such tensors into the critics and their targets. Does nothing if there are no tensors at
/// all, as in models of Troupe before they had critics. Throws std::invalid_argument if one is
/// missing, is too many or has another shape; the critics are then unchanged.
void load(critic_ensemble& critics, const named_tensors& from);

/// Adds a tensor of one number.
void add_number(named_tensors& to, std::string_view name, float number);
/// Returns the number in a tensor of one number; none if there is no such tensor.
std::optional<float> number_in(const named_tensors& from, std::string_view name);

}  // namespace troupe::detail
