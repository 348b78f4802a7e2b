#pragma once
// Configurations that must be refused, made from a schema and its defaults by a seeded mutator.
// Each knows what its refusal has to name.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace troupe::testing {

struct malformed_config {
  std::string kind;                    ///< "wrong type": what was done to a valid one.
  std::string text;                    ///< The file.
  std::vector<std::string> overrides;  ///< The command line's `a.b=value`.
  /// What the message starts with: a JSON pointer, an override's own text, or "configuration" for
  /// the whole. Empty: the message has a line and a column.
  std::string place;
};

class config_mutator {
 public:
  /// `schema`: JSON Schema as troupe::schema_json gives it; `defaults`: a valid document.
  config_mutator(nlohmann::json schema, nlohmann::json defaults);

  /// The same for the same seed. Every kind of fault is as likely as any other.
  malformed_config make(std::uint64_t seed);
  /// How many kinds of fault there are.
  static std::size_t kinds();

 private:
  using json = nlohmann::json;
  struct field {
    json::json_pointer at;
    json schema;
  };
  using mutation = void (config_mutator::*)(malformed_config&);
  struct named_mutation {
    const char* kind;
    mutation apply;
  };
  static const std::vector<named_mutation>& mutations();

  // In the file.
  void wrong_type(malformed_config& c);
  void wrong_element(malformed_config& c);
  void too_many_elements(malformed_config& c);
  void out_of_range(malformed_config& c);
  void huge_integer(malformed_config& c);
  void unknown_key(malformed_config& c);
  void duplicate_key(malformed_config& c);
  void truncated(malformed_config& c);
  void no_json_value(malformed_config& c);
  void not_utf8(malformed_config& c);
  void nested_too_deep(malformed_config& c);
  void garbage(malformed_config& c);
  void no_object(malformed_config& c);
  // On the command line.
  void override_without_value(malformed_config& c);
  void override_with_empty_key(malformed_config& c);
  void override_too_long(malformed_config& c);
  void override_through_value(malformed_config& c);
  void override_of_unknown_key(malformed_config& c);
  void override_of_wrong_type(malformed_config& c);
  void override_out_of_range(malformed_config& c);
  void override_not_utf8(malformed_config& c);

  std::size_t draw(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[draw(choices.size())];
  }
  template <class Predicate>
  const field& field_that(Predicate holds);
  void collect(const json& schema, const json::json_pointer& at);
  json valid_document();
  json wrong_value(const json& schema);
  json value_out_of_range(const json& schema);
  std::string unknown_name(const json::json_pointer& object);
  /// The document's text with `raw` in the place of one value.
  std::string with_raw(json document, const json::json_pointer& at, const std::string& raw);

  json defaults_;
  std::vector<field> fields_;                ///< What is no object.
  std::vector<json::json_pointer> objects_;  ///< The document itself included.
  std::mt19937_64 random_;
};

}  // namespace troupe::testing
