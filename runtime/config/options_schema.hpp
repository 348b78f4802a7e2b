#pragma once
// How an options struct describes its fields: names, types, limits, units and help. The reader, the
// writer, the schema and the checks of runtime/config/config.hpp are derived from it.

#include <concepts>
#include <deque>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "runtime/config/json_text.hpp"
#include "runtime/config/value_kind.hpp"

namespace troupe {

template <class T>
class options_schema;
template <class E>
class enum_schema;

/// An options struct whose fields a function `describe` lists once:
///
///     struct ppo_options { double lr = 3e-4; int n_steps = 2048; };
///     inline void describe(options_schema<ppo_options>& s) {
///       s.field("lr", &ppo_options::lr).above(0).help("Adam's step size");
///       s.field("n_steps", &ppo_options::n_steps).at_least(1).unit("steps");
///     }
///
/// `describe` must be in the namespace of the struct. The defaults are those of the struct.
template <class T>
concept described_options = requires(options_schema<T>& schema) { describe(schema); };
template <class E>
/// An enum whose names a function `describe` lists once; see enum_schema.
concept described_enum = requires(enum_schema<E>& schema) { describe(schema); };

namespace detail {

/// What is known of one field.
struct field_data {
  std::string name;
  value_kind_ptr kind;
  std::function<void*(void*)> place;  ///< Where the field is in an object.
  value_limits limits;
  bool listed = true;
  std::vector<std::string> aliases;
  std::string former;  ///< The name in the version before. Empty: none.
  std::string unit;
  std::string help;
};

/// A rule about an option of a struct, which may be within sections of it.
struct option_rule {
  std::vector<std::string> path;  ///< The names of the sections and of the option.
  std::string words;              ///< The expectation for help texts. Empty: they have none.
  std::function<std::string(const void*)> expected;
  std::function<bool(const void*)> holds;
};

/// When an option of a struct has an effect. The path of a section stands for all its options.
struct option_effect {
  std::vector<std::string> path;
  std::string words;                        ///< The condition, or why there is never an effect.
  std::function<bool(const void*)> has_it;  ///< Null: never.
};

class struct_kind : public value_kind {
 public:
  field_data& add(std::string name, value_kind_ptr kind, std::function<void*(void*)> place);
  void add_rule(option_rule rule);
  void add_effect(option_effect effect);

  /// Reads all fields. A field that `from` does not name keeps the value that it has in `to`.
  void read(const nlohmann::json& from, void* to, const std::string& pointer,
            const value_limits& limits) const override;
  void write(const void* from, nlohmann::json& to, const std::string& pointer) const override;
  void describe(nlohmann::json& to, const value_limits& limits) const override;
  /// Finds a field by its name, or by a name that other libraries use.
  std::string find_field(const std::string& name) const override;
  const struct_kind* fields() const override { return this; }

  /// Writes the JSON Schema with the defaults that `defaults` holds; null means no defaults. What
  /// rules and effects say is not yet in the help texts; add_sentences puts it there.
  void describe_with(nlohmann::json& to, const void* defaults) const;
  /// Throws config_error if a field or a rule refuses a value of `object`. `scratch` is another
  /// object of the same type, which is overwritten.
  void check(const void* object, void* scratch, const std::string& pointer) const;
  /// Throws std::logic_error if a default breaks the limits of its own field.
  void check_defaults(const void* defaults, void* scratch, std::string_view type) const;
  /// The name of the field of `object` that is at `place`. Throws std::logic_error if there is
  /// none.
  const std::string& name_at(const void* object, const void* place) const;
  /// The effects that the options of `object` don't have, those within its sections included. The
  /// paths begin with `before`.
  std::vector<option_effect> missing_effects(const void* object,
                                             const std::vector<std::string>& before = {}) const;

 private:
  void check_rules(const void* object, const std::string& pointer) const;
  /// Describes the options of `schema`, which is this struct's, as rules and effects have it.
  void describe_rules(nlohmann::json& schema) const;
  const field_data* field_of(const std::string& name) const;
  /// The field that had that name in the version before; empty if there is none.
  std::string new_name_of(const std::string& former) const;

  std::deque<field_data> fields_;  // A deque keeps the references valid that `add` returned.
  std::vector<option_rule> rules_;
  std::vector<option_effect> effects_;
};

/// Replaces what rules and effects say in a schema by sentences in the help texts, such as "It has
/// an effect only if mode is async."
void add_sentences(nlohmann::json& schema);

template <class T>
std::function<bool(const void*)> erased(bool (*predicate)(const T&)) {
  return [predicate](const void* object) { return predicate(*static_cast<const T*>(object)); };
}

/// The description of one field of a T: its limits, its unit and its help text. The member
/// functions return the object itself, so that calls can be chained.
template <class T>
class field_schema {
 public:
  field_schema(struct_kind& of, field_data& data) : of_(&of), data_(&data) {}

  field_schema above(double bound) { return data_->limits.above = bound, *this; }
  field_schema at_least(double bound) { return data_->limits.at_least = bound, *this; }
  field_schema below(double bound) { return data_->limits.below = bound, *this; }
  field_schema at_most(double bound) { return data_->limits.at_most = bound, *this; }
  /// Bounds the number of elements of a vector, both ends included.
  field_schema items(std::size_t min, std::size_t max) {
    data_->limits.items_max = max;
    return min_items(min);
  }
  field_schema min_items(std::size_t min) { return data_->limits.items_min = min, *this; }
  /// Gives an example of a list as it is typed on the command line, such as "[64,64]", for
  /// messages.
  field_schema example(std::string text) { return data_->limits.example = std::move(text), *this; }
  /// Gives the names that other libraries use for this option. They are refused, but the error
  /// message suggests this field's name.
  field_schema also_known_as(std::vector<std::string> names) {
    return data_->aliases = std::move(names), *this;
  }
  /// Allows only these strings.
  field_schema one_of(std::vector<std::string> names) {
    return data_->limits.one_of = std::move(names), *this;
  }
  /// The name of this field in the version before. It is still read, with a warning that tells the
  /// present one.
  field_schema renamed_from(std::string name) { return data_->former = std::move(name), *this; }
  /// Also allows +infinity, in structs that are made in C++.
  field_schema or_infinity() { return data_->limits.infinity = true, *this; }
  /// Hides the field from configurations: only code can set it, and checked_options checks it.
  field_schema unlisted() { return data_->listed = false, *this; }
  /// Sets the unit, such as "seconds".
  field_schema unit(std::string text) { return data_->unit = std::move(text), *this; }
  /// Sets the help text: what the option does, and where its default comes from.
  field_schema help(std::string text) { return data_->help = std::move(text), *this; }
  /// As options_schema::option has it, for a condition on other fields of the same struct.
  field_schema has_effect_if(std::string words, bool (*condition)(const T&)) {
    of_->add_effect({{data_->name}, std::move(words), erased(condition)});
    return *this;
  }

 private:
  struct_kind* of_;
  field_data* data_;
};

/// What a T says of one of its options; see options_schema::option.
template <class T>
class option_schema {
 public:
  option_schema(struct_kind& of, std::vector<std::string> path)
      : of_(&of), path_(std::move(path)) {}

  /// Says that the option changes nothing unless the condition holds, which `words` state, such as
  /// "mode is async". The help text says so, and so does idle_options_of where the option is not at
  /// its default. Several conditions must all hold. Those of a section are those of its options.
  option_schema& has_effect_if(std::string words, bool (*condition)(const T&)) {
    of_->add_effect({path_, std::move(words), erased(condition)});
    return *this;
  }
  /// Says that the option changes nothing in any T, and why, such as "vdn has one team".
  option_schema& has_no_effect(std::string why) {
    of_->add_effect({path_, std::move(why), nullptr});
    return *this;
  }
  /// Refuses a T in which the predicate does not hold. The error message names the option, its
  /// value and what was `expected`, such as "1 with several agents". The help text says it, too.
  option_schema& must_be(std::string expected, bool (*holds)(const T&)) {
    of_->add_rule({path_, expected, [expected](const void*) { return expected; }, erased(holds)});
    return *this;
  }
  /// Does the same with an expectation that depends on the values of other options. The help text
  /// does not say it.
  option_schema& must_be(std::string (*expected)(const T&), bool (*holds)(const T&)) {
    of_->add_rule({path_,
                   {},
                   [expected](const void* of) { return expected(*static_cast<const T*>(of)); },
                   erased(holds)});
    return *this;
  }

 private:
  struct_kind* of_;
  std::vector<std::string> path_;
};

template <class T>
const struct_kind& struct_kind_of();
template <class T>
value_kind_ptr make_kind();
/// Adds the names of the fields that the members lead to, from `object` of that kind on.
template <class Object, class Member, class... Members>
void add_names(std::vector<std::string>& to, const struct_kind& kind, const Object& object,
               Member member, Members... members);

}  // namespace detail

/// The schema of an options struct, which its function `describe` fills.
template <class T>
class options_schema {
 public:
  /// Adds a field. `V` is bool, an integer, float, double, std::string, json_object, a described
  /// enum, a described struct, or a std::optional (null in JSON if it is empty) or std::vector of
  /// those. The member may belong to a base class.
  template <class V, class Owner>
    requires std::derived_from<T, Owner>
  detail::field_schema<T> field(std::string name, V Owner::* member) {
    return {kind_,
            kind_.add(std::move(name), detail::make_kind<V>(), [member](void* object) -> void* {
              return &(static_cast<T*>(object)->*member);
            })};
  }

  /// The option that these members lead to, after its sections have been described, for what
  /// depends on the whole struct:
  ///
  ///     s.option(&dqn_config::replay, &ring_section::n_step)
  ///         .must_be("1", [](const dqn_config& c) { return c.replay.n_step == 1; });
  template <class... Members>
  detail::option_schema<T> option(Members... members) {
    const T object{};
    std::vector<std::string> path;
    detail::add_names(path, kind_, object, members...);
    return {kind_, std::move(path)};
  }

  /// Adds a rule about the whole struct, which is checked after the fields. The error message names
  /// the field `name`: `s.rule("batch_size", "<= n_steps", [](const ppo_options& o) { ... })`.
  void rule(std::string name, std::string expected, std::function<bool(const T&)> holds) {
    rule(std::move(name), [expected](const T&) { return expected; }, std::move(holds));
  }
  /// Adds a rule whose expectation is a text that depends on the values of other fields.
  void rule(std::string name, std::function<std::string(const T&)> expected,
            std::function<bool(const T&)> holds) {
    kind_.add_rule(
        {{std::move(name)},
         {},
         [expected](const void* object) { return expected(*static_cast<const T*>(object)); },
         [holds](const void* object) { return holds(*static_cast<const T*>(object)); }});
  }

 private:
  friend const detail::struct_kind& detail::struct_kind_of<T>();
  detail::struct_kind kind_;
};

/// The names of an enum, which its function `describe` fills: `s.name("sync",
/// mode::sync).name("async", mode::async);`
template <class E>
class enum_schema {
 public:
  enum_schema& name(std::string text, E value) {
    values_.emplace_back(std::move(text), static_cast<std::int64_t>(value));
    return *this;
  }
  const detail::enum_values& values() const { return values_; }

 private:
  detail::enum_values values_;
};

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

/// A described struct inside another one. It uses the schema that struct_kind_of keeps.
template <class T>
struct nested_kind : value_kind {
  void read(const nlohmann::json& from, void* to, const std::string& pointer,
            const value_limits& limits) const override {
    struct_kind_of<T>().read(from, to, pointer, limits);
  }
  void write(const void* from, nlohmann::json& to, const std::string& pointer) const override {
    struct_kind_of<T>().write(from, to, pointer);
  }
  void describe(nlohmann::json& to, const value_limits&) const override {
    const T defaults{};
    struct_kind_of<T>().describe_with(to, &defaults);
  }
  std::string find_field(const std::string& name) const override {
    return struct_kind_of<T>().find_field(name);
  }
  const struct_kind* fields() const override { return &struct_kind_of<T>(); }
};

template <class Object, class Member, class... Members>
void add_names(std::vector<std::string>& to, const struct_kind& kind, const Object& object,
               Member member, Members... members) {
  const auto& value = object.*member;
  to.push_back(kind.name_at(&object, &value));
  if constexpr (sizeof...(members) > 0) {
    add_names(to, struct_kind_of<std::remove_cvref_t<decltype(value)>>(), value, members...);
  }
}

template <class T>
value_kind_ptr make_kind() {
  if constexpr (std::same_as<T, bool>) {
    return make_bool_kind();
  } else if constexpr (std::same_as<T, std::string>) {
    return make_string_kind();
  } else if constexpr (std::same_as<T, json_object>) {
    return make_json_object_kind();
  } else if constexpr (std::same_as<T, double>) {
    return make_double_kind();
  } else if constexpr (std::same_as<T, float>) {
    return make_float_kind();
  } else if constexpr (std::integral<T>) {
    return make_integer_kind(access_integer<T>());
  } else if constexpr (is_optional<T>) {
    return make_optional_kind(make_kind<typename T::value_type>(),
                              access_optional<typename T::value_type>());
  } else if constexpr (is_list<T>) {
    return make_list_kind(make_kind<typename T::value_type>(),
                          access_list<typename T::value_type>());
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(described_enum<T>, "describe(enum_schema<T>&) must stand beside the enum");
    enum_schema<T> schema;
    describe(schema);
    return make_enum_kind(schema.values(), access_enum<T>());
  } else {
    static_assert(described_options<T>,
                  "describe(options_schema<T>&) must stand beside the struct");
    return std::make_unique<nested_kind<T>>();
  }
}

template <class T>
const struct_kind& struct_kind_of() {
  static const options_schema<T> schema = [] {
    options_schema<T> fresh;
    describe(fresh);
    const T defaults{};
    T scratch{};
    fresh.kind_.check_defaults(&defaults, &scratch, __PRETTY_FUNCTION__);
    return fresh;
  }();
  return schema.kind_;
}

}  // namespace detail
}  // namespace troupe
