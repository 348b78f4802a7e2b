#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// Type-erased reading, writing and description of one C++ type in JSON. options_schema.hpp builds
/// on it, so that only .cpp files include nlohmann's full header. Internal to runtime/config/.
namespace troupe::detail {

/// The limits of a field beyond its type. In a vector the bounds hold for each element.
struct value_limits {
  std::optional<double> above, at_least, below, at_most;
  std::size_t items_min = 0;
  std::size_t items_max = std::numeric_limits<std::size_t>::max();
  std::vector<std::string> one_of;
  std::string example;  ///< An example of a list, for messages: "[64,64]".
  /// True if a struct made in C++ may hold +infinity, which JSON can't express.
  bool infinity = false;

  bool bounds_numbers() const { return above || at_least || below || at_most; }
  bool bounds_items() const {
    return items_min > 0 || items_max < std::numeric_limits<std::size_t>::max();
  }
  /// Returns the expectation as a text: "a number > 0 and <= 1" for the noun "a number".
  std::string expected(const std::string& noun) const;
};

class struct_kind;

class value_kind {
 public:
  virtual ~value_kind() = default;
  /// Reads the value `from`, which stands at `pointer`, into the object at `to`. Throws
  /// config_error.
  virtual void read(const nlohmann::json& from, void* to, const std::string& pointer,
                    const value_limits& limits) const = 0;
  /// Writes the object at `from`. Throws config_error for NaN and infinities, which JSON can't
  /// express.
  virtual void write(const void* from, nlohmann::json& to, const std::string& pointer) const = 0;
  /// Adds the JSON Schema keywords of this type.
  virtual void describe(nlohmann::json& to, const value_limits& limits) const = 0;
  /// Returns true if the number at `from` is +infinity.
  virtual bool is_infinity(const void*) const { return false; }
  /// Returns the dotted path of a field of that name inside this type, such as "trainer.lr"; empty
  /// if there is none.
  virtual std::string find_field(const std::string&) const { return {}; }
  /// The fields of a struct; null for any other type.
  virtual const struct_kind* fields() const { return nullptr; }
};
using value_kind_ptr = std::unique_ptr<value_kind>;

value_kind_ptr make_bool_kind();
value_kind_ptr make_string_kind();
value_kind_ptr make_json_object_kind();
value_kind_ptr make_double_kind();
value_kind_ptr make_float_kind();

/// Access to an integer of any type through the two widest types.
struct integer_access {
  bool is_signed;
  std::int64_t lowest;
  std::uint64_t highest;
  void (*set)(void* to, std::uint64_t bits);  ///< `bits` is the value in two's complement.
  std::uint64_t (*get)(const void* from);
};
value_kind_ptr make_integer_kind(const integer_access& access);

/// Access to an enumerator by its value.
struct enum_access {
  void (*set)(void* to, std::int64_t value);
  std::int64_t (*get)(const void* from);
};
using enum_values = std::vector<std::pair<std::string, std::int64_t>>;
value_kind_ptr make_enum_kind(enum_values values, const enum_access& access);

/// Access to a std::optional.
struct optional_access {
  void (*clear)(void* to);
  void* (*emplace)(void* to);
  const void* (*get)(const void* from);  ///< Null if it is empty.
};
value_kind_ptr make_optional_kind(value_kind_ptr inner, const optional_access& access);

/// Access to a std::vector. An element is added as a whole, so that vector<bool> works too.
struct list_access {
  std::size_t (*size)(const void* from);
  void (*clear)(void* to);
  void (*append)(void* to, const value_kind& element, const nlohmann::json& from,
                 const std::string& pointer, const value_limits& limits);
  void (*write)(const void* from, std::size_t index, const value_kind& element, nlohmann::json& to,
                const std::string& pointer);
};
value_kind_ptr make_list_kind(value_kind_ptr element, const list_access& access);

template <class T>
integer_access access_integer() {
  return {
      std::is_signed_v<T>, static_cast<std::int64_t>(std::numeric_limits<T>::min()),
      static_cast<std::uint64_t>(std::numeric_limits<T>::max()),
      [](void* to, std::uint64_t bits) { *static_cast<T*>(to) = static_cast<T>(bits); },
      [](const void* from) { return static_cast<std::uint64_t>(*static_cast<const T*>(from)); }};
}

template <class T>
enum_access access_enum() {
  return {[](void* to, std::int64_t value) { *static_cast<T*>(to) = static_cast<T>(value); },
          [](const void* from) { return static_cast<std::int64_t>(*static_cast<const T*>(from)); }};
}

template <class T>
optional_access access_optional() {
  using optional = std::optional<T>;
  return {[](void* to) { static_cast<optional*>(to)->reset(); },
          [](void* to) -> void* { return &static_cast<optional*>(to)->emplace(); },
          [](const void* from) -> const void* {
            const auto& value = *static_cast<const optional*>(from);
            return value ? &*value : nullptr;
          }};
}

template <class T>
list_access access_list() {
  using list = std::vector<T>;
  return {[](const void* from) { return static_cast<const list*>(from)->size(); },
          [](void* to) { static_cast<list*>(to)->clear(); },
          [](void* to, const value_kind& element, const nlohmann::json& from,
             const std::string& pointer, const value_limits& limits) {
            T value{};
            element.read(from, &value, pointer, limits);
            static_cast<list*>(to)->push_back(std::move(value));
          },
          [](const void* from, std::size_t index, const value_kind& element, nlohmann::json& to,
             const std::string& pointer) {
            const T value = (*static_cast<const list*>(from))[index];
            element.write(&value, to, pointer);
          }};
}

}  // namespace troupe::detail
