#include "actors/openenv/server/action_reader.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "actors/openenv/server/input_numbers.hpp"
#include "actors/openenv/server/space_json.hpp"

namespace troupe::openenv_server {

namespace {

using nlohmann::json;

bool is_list_of(std::size_t size, const json& value, const input_errors::place& at,
                input_errors& errors) {
  if (!value.is_array()) {
    errors.add("list_type", at, "Input should be a valid list", value);
    return false;
  }
  if (value.size() == size) return true;
  const bool is_short = value.size() < size;
  const auto expected = std::to_string(size) + (size == 1 ? " item" : " items");
  errors.add(is_short ? "too_short" : "too_long", at,
             std::string("List should have at ") + (is_short ? "least " : "most ") + expected +
                 " after validation, not " + std::to_string(value.size()),
             value,
             {{"field_type", "List"},
              {is_short ? "min_length" : "max_length", size},
              {"actual_length", value.size()}});
  return false;
}

}  // namespace

action_reader::action_reader(space actions) : space_(std::move(actions)) {
  const auto* box = space_.get_if<spaces::box>();
  const bool has_no_element = box && box->low.empty();
  if (has_no_element || space_.get_if<spaces::text>() || space_.get_if<spaces::tuple>() ||
      space_.get_if<spaces::dict>()) {
    throw std::invalid_argument(
        "action space: expected one of kind Box, Discrete, MultiDiscrete or MultiBinary, got " +
        to_string(space_));
  }
}

json action_reader::schema() const {
  const json metadata{{"type", "object"}, {"additionalProperties", true}};
  return {{"title", "Action"},
          {"description", "An element of " + to_string(space_)},
          {"type", "object"},
          {"properties", {{"action", json_schema(space_)}, {"metadata", metadata}}},
          {"required", {"action"}},
          {"additionalProperties", false}};
}

void action_reader::read(const json& data, const input_errors::place& at, env_actions& to) const {
  to.discrete.clear();
  to.continuous.clear();
  input_errors errors;
  const auto element = data.find("action");
  if (element == data.end()) {
    errors.add_missing(at, "action", data);
  } else {
    read_element(*element, below(at, "action"), to, errors);
  }
  const auto metadata = data.find("metadata");
  if (metadata != data.end() && !metadata->is_object())
    errors.add("dict_type", below(at, "metadata"), "Input should be a valid dictionary", *metadata);
  errors.forbid_others(at, data, {"action", "metadata"});
  errors.throw_if_any();
}

void action_reader::read_element(const json& element, const input_errors::place& at,
                                 env_actions& to, input_errors& errors) const {
  const auto add = [&](const json& value, std::int64_t first, std::int64_t n,
                       const input_errors::place& where) {
    if (const auto number = read_integer(value, first, first + n - 1, where, errors))
      to.discrete.push_back(*number);
  };
  if (const auto* one = space_.get_if<spaces::discrete>()) {
    add(element, one->start, one->n, at);
  } else if (const auto* several = space_.get_if<spaces::multi_discrete>()) {
    if (!is_list_of(several->n.size(), element, at, errors)) return;
    for (std::size_t i = 0; i < element.size(); ++i)
      add(element[i], several->start[i], several->n[i], below(at, i));
  } else if (const auto* binary = space_.get_if<spaces::multi_binary>()) {
    if (!is_list_of(static_cast<std::size_t>(binary->n), element, at, errors)) return;
    for (std::size_t i = 0; i < element.size(); ++i) add(element[i], 0, 2, below(at, i));
  } else {
    read_box(element, 0, at, to, errors);
  }
}

// The list is row-major, as the floats of a box are.
void action_reader::read_box(const json& list, std::size_t dimension, const input_errors::place& at,
                             env_actions& to, input_errors& errors) const {
  const auto& box = *space_.get_if<spaces::box>();
  if (dimension == box.shape.size()) {
    to.continuous.push_back(read_float(list, at, errors).value_or(0));
    return;
  }
  if (!is_list_of(static_cast<std::size_t>(box.shape[dimension]), list, at, errors)) return;
  for (std::size_t i = 0; i < list.size() && errors.list().size() < input_errors::errors_max; ++i)
    read_box(list[i], dimension + 1, below(at, i), to, errors);
}

}  // namespace troupe::openenv_server
