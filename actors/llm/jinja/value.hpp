#pragma once
// The values of templates, which are those of Python.

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "actors/llm/jinja/text.hpp"

namespace troupe::llm::jinja {

class value;
class loop_state;
struct macro;

/// The value of a name or a field that isn't there.
struct undefined {
  std::string name = {};  ///< for messages
};
struct none {};

/// A function that templates may call by its name.
enum class builtin { range, dict, name_space, raise_exception, strftime_now, joiner };

/// What Python distinguishes among lists and what is like one.
enum class list_kind { list, tuple, range, keys, values, items, generator };

struct list;
struct dict;
struct name_space;
struct joiner;
struct bound_method;

class value {
 public:
  value() = default;
  value(none) : held_(none{}) {}
  value(undefined of) : held_(std::move(of)) {}
  template <std::same_as<bool> Truth>  // a pointer isn't one
  value(Truth of) : held_(of) {}
  value(std::int64_t of) : held_(of) {}
  value(int of) : held_(std::int64_t{of}) {}
  value(double of) : held_(of) {}
  value(text of) : held_(std::make_shared<const text>(std::move(of))) {}
  value(list of);
  value(dict of);
  value(std::shared_ptr<name_space> of) : held_(std::move(of)) {}
  value(std::shared_ptr<joiner> of) : held_(std::move(of)) {}
  value(std::shared_ptr<const bound_method> of) : held_(std::move(of)) {}
  value(const macro* of) : held_(of) {}
  value(loop_state* of) : held_(of) {}
  value(builtin of) : held_(of) {}

  bool is_undefined() const { return std::holds_alternative<undefined>(held_); }
  bool is_none() const { return std::holds_alternative<none>(held_); }
  bool is_bool() const { return std::holds_alternative<bool>(held_); }
  bool is_float() const { return std::holds_alternative<double>(held_); }
  /// True for an integer, and for a boolean as in Python.
  bool is_int() const { return is_bool() || std::holds_alternative<std::int64_t>(held_); }
  bool is_number() const { return is_int() || is_float(); }

  const text* as_text() const { return pointer<const text>(); }
  list* as_list() const { return pointer<list>(); }
  /// The list if it is of this kind, and otherwise null.
  list* as_list(list_kind kind) const;
  const dict* as_dict() const { return pointer<const dict>(); }
  name_space* as_namespace() const { return pointer<name_space>(); }
  joiner* as_joiner() const { return pointer<joiner>(); }
  const bound_method* as_method() const { return pointer<const bound_method>(); }
  const macro* as_macro() const { return plain<const macro*>(); }
  loop_state* as_loop() const { return plain<loop_state*>(); }
  const undefined* as_undefined() const { return std::get_if<undefined>(&held_); }
  const builtin* as_builtin() const { return std::get_if<builtin>(&held_); }
  std::int64_t integer() const;  ///< of an is_int()
  double real() const;           ///< of an is_number()

  /// The name of the type, as Python has it.
  std::string_view type() const;
  /// One for a value without items, and one more than its deepest item for others.
  int depth() const;
  bool truth() const;

 private:
  template <class T>
  T* pointer() const {
    const auto* held = std::get_if<std::shared_ptr<T>>(&held_);
    return held ? held->get() : nullptr;
  }
  template <class T>
  T plain() const {
    const auto* held = std::get_if<T>(&held_);
    return held ? *held : nullptr;
  }

  std::variant<undefined, none, bool, std::int64_t, double, std::shared_ptr<const text>,
               std::shared_ptr<list>, std::shared_ptr<const dict>, std::shared_ptr<name_space>,
               std::shared_ptr<joiner>, std::shared_ptr<const bound_method>, const macro*,
               loop_state*, builtin>
      held_;
};

struct list {
  list_kind kind = list_kind::list;
  std::vector<value> items = {};
  int depth = 1;          ///< one more than that of the deepest item
  bool consumed = false;  ///< a generator was iterated over
};

/// A dictionary, whose keys are in the order in which they were first set.
struct dict {
  std::vector<std::pair<value, value>> entries = {};
  int depth = 1;

  const value* find(const value& key) const;
  const value* find(std::string_view key) const;
  void set(value key, value to);
};

/// The object of the function `namespace`, whose attributes templates may set.
struct name_space {
  dict attributes;
};

struct joiner {
  text separator;
  bool used = false;
};

inline value::value(list of) : held_(std::make_shared<list>(std::move(of))) {}
inline value::value(dict of) : held_(std::make_shared<const dict>(std::move(of))) {}

/// A method of a value, such as content.strip.
struct bound_method {
  value of;
  std::string name;
};

}  // namespace troupe::llm::jinja
