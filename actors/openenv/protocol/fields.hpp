#pragma once
// Conversion between structs and the JSON objects of OpenEnv environments.

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "actors/openenv/protocol/protocol.hpp"

namespace troupe::openenv {

template <class T>
class fields;

/// A struct whose fields `describe` lists once, beside it:
///
///     struct move { std::int64_t column = 0; };
///     inline void describe(fields<move>& f) { f.field("column", &move::column); }
///
/// A field is a bool, an integer, a float, a double, a std::string, any JSON, another described
/// struct, or a std::optional or std::vector of those.
template <class T>
concept described = std::is_class_v<T> && requires(fields<T>& list) { describe(list); };

namespace detail {

/// The place of a value in a message, such as "/data/observation/board/3".
struct place {
  const place* in = nullptr;
  const char* key = nullptr;  ///< null for an element of a list
  std::size_t index = 0;
  std::string text() const;
};

/// Throws bad_text: "/data/observation/x: expected a number, got \"a\"".
[[noreturn]] void refuse(const place& at, const std::string& expected, const nlohmann::json& got);

void read_value(const nlohmann::json& from, bool& to, const place& at);
void read_value(const nlohmann::json& from, double& to, const place& at);
void read_value(const nlohmann::json& from, float& to, const place& at);
void read_value(const nlohmann::json& from, std::string& to, const place& at);
inline void read_value(const nlohmann::json& from, nlohmann::json& to, const place&) { to = from; }
/// Returns a whole number from `lowest` to `highest`.
std::int64_t read_integer(const nlohmann::json& from, std::int64_t lowest, std::int64_t highest,
                          const place& at);

template <std::integral T>
  requires(!std::same_as<T, bool> && sizeof(T) < sizeof(std::uint64_t) + std::is_signed_v<T>)
void read_value(const nlohmann::json& from, T& to, const place& at) {
  to = static_cast<T>(
      read_integer(from, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), at));
}
template <described T>
void read_value(const nlohmann::json& from, T& to, const place& at);
template <class T>
void read_value(const nlohmann::json& from, std::optional<T>& to, const place& at);
template <class T>
void read_value(const nlohmann::json& from, std::vector<T>& to, const place& at);

template <class T>
nlohmann::json write_value(const T& value) {
  return value;
}
template <described T>
nlohmann::json write_value(const T& value);
template <class T>
nlohmann::json write_value(const std::vector<T>& values) {
  auto list = nlohmann::json::array();
  for (const auto& value : values) list.push_back(write_value(value));
  return list;
}

}  // namespace detail

/// The list of T's fields, which `describe` fills.
template <class T>
class fields {
 public:
  /// Adds a field that must be present. An empty std::optional is not written, and may be missing
  /// or null.
  template <class V>
  void field(const char* key, V T::* member) {
    add(key, member, true);
  }
  /// Adds a field that keeps its default if the environment does not send it.
  template <class V>
  void field_or_default(const char* key, V T::* member) {
    add(key, member, false);
  }

 private:
  template <described U>
  friend void detail::read_value(const nlohmann::json&, U&, const detail::place&);
  template <described U>
  friend nlohmann::json detail::write_value(const U&);

  template <class V>
  static constexpr bool optional = false;
  template <class V>
  static constexpr bool optional<std::optional<V>> = true;

  struct entry {
    const char* key;
    bool required;
    std::function<void(const nlohmann::json&, T&, const detail::place&)> read;
    std::function<void(const T&, nlohmann::json&)> write;
  };

  template <class V>
  void add(const char* key, V T::* member, bool required) {
    entries_.push_back({key, required && !optional<V>,
                        [member](const nlohmann::json& from, T& to, const detail::place& at) {
                          detail::read_value(from, to.*member, at);
                        },
                        [member, key](const T& from, nlohmann::json& to) {
                          if constexpr (optional<V>) {
                            if (from.*member) to[key] = detail::write_value(*(from.*member));
                          } else {
                            to[key] = detail::write_value(from.*member);
                          }
                        }});
  }

  static const fields& of() {
    static const fields made = [] {
      fields fresh;
      describe(fresh);
      return fresh;
    }();
    return made;
  }

  std::vector<entry> entries_;
};

/// Reads a T from a JSON object and ignores keys that T does not have. `pointer` is the object's
/// place, for messages. Throws bad_text.
template <class T>
T from_json(const nlohmann::json& object, const char* pointer) {
  T made{};
  const detail::place at{nullptr, pointer, 0};
  detail::read_value(object, made, at);
  return made;
}
template <class T>
nlohmann::json to_json_object(const T& value) {
  return detail::write_value(value);
}

namespace detail {

template <described T>
void read_value(const nlohmann::json& from, T& to, const place& at) {
  if (!from.is_object()) refuse(at, "an object", from);
  for (const auto& entry : fields<T>::of().entries_) {
    const place inside{&at, entry.key, 0};
    const auto found = from.find(entry.key);
    if (found != from.end()) {
      entry.read(*found, to, inside);
    } else if (entry.required) {
      throw bad_text(text_fault::wrong_type, inside.text() + ": expected it, got none");
    }
  }
}

template <described T>
nlohmann::json write_value(const T& value) {
  auto object = nlohmann::json::object();
  for (const auto& entry : fields<T>::of().entries_) entry.write(value, object);
  return object;
}

template <class T>
void read_value(const nlohmann::json& from, std::optional<T>& to, const place& at) {
  to.reset();
  if (!from.is_null()) read_value(from, to.emplace(), at);
}

template <class T>
void read_value(const nlohmann::json& from, std::vector<T>& to, const place& at) {
  if (!from.is_array()) refuse(at, "a list", from);
  to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) read_value(from[i], to[i], {&at, nullptr, i});
}

}  // namespace detail
}  // namespace troupe::openenv
