#pragma once
// Errors in clients' messages, in the form of OpenEnv's servers.

#include <exception>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

namespace troupe::openenv_server {

/// A list of the errors in a message, in the form of pydantic, which OpenEnv's servers use:
/// {"type", "loc", "msg", "input"} and, if a bound was exceeded, "ctx". At most `errors_max` are
/// kept.
class input_errors {
 public:
  static constexpr std::size_t errors_max = 20;

  using place = nlohmann::json;  ///< An array of keys and indices, such as ["body","seed"].

  void add(const char* type, place at, std::string message, const nlohmann::json& input,
           nlohmann::json context = nullptr);
  /// Adds the error that `object`, whose place is `at`, lacks `key`.
  void add_missing(place at, const char* key, const nlohmann::json& object);
  void add_forbidden(place at, const std::string& key, const nlohmann::json& value);
  /// Adds an error for every key of `object` that is not in `known`.
  void forbid_others(const place& at, const nlohmann::json& object,
                     std::initializer_list<const char*> known);

  bool empty() const { return list_.empty(); }
  const nlohmann::json& list() const { return list_; }
  /// Throws invalid_input unless empty.
  void throw_if_any() const;

 private:
  nlohmann::json list_ = nlohmann::json::array();
};

/// Thrown for an invalid message, before anything was done.
class invalid_input : public std::exception {
 public:
  explicit invalid_input(nlohmann::json errors) : errors_(std::move(errors)) {}
  const nlohmann::json& errors() const { return errors_; }
  const char* what() const noexcept override { return "Invalid message"; }

 private:
  nlohmann::json errors_;
};

/// Returns `at` extended by a key or an index.
input_errors::place below(input_errors::place at, nlohmann::json key);

}  // namespace troupe::openenv_server
