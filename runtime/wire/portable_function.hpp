#pragma once
// A std::function that can be sent to another process, for options such as the maker of an
// environment.

#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "runtime/base/demangled.hpp"
#include "runtime/base/text_hash.hpp"
#include "runtime/wire/codec.hpp"

namespace troupe {

template <class Signature>
class portable_function;

namespace detail {

/// The codec of one class of callables.
template <class Signature>
struct portable_kind {
  using function = std::function<Signature>;

  portable_kind(std::string_view name, std::size_t (*size)(const function&),
                void (*write)(const function&, wire_writer&), function (*read)(wire_reader&))
      : key(text_hash(name)), size(size), write(write), read(read) {
    while (find(key)) ++key;  // Types in anonymous namespaces can have the same name.
    next = std::exchange(first, this);
  }

  /// Identifies this kind in another process, like the keys of call_registry.hpp.
  std::uint64_t key;

  std::size_t (*size)(const function&);
  void (*write)(const function&, wire_writer&);
  function (*read)(wire_reader&);

  const portable_kind* next = nullptr;
  /// The list of all kinds, which is complete before main begins.
  static inline constinit const portable_kind* first = nullptr;

  /// Returns null if there is none.
  static const portable_kind* find(std::uint64_t key) {
    const auto* kind = first;
    while (kind != nullptr && kind->key != key) kind = kind->next;
    return kind;
  }
};

template <class F, class Signature>
inline const portable_kind<Signature> portable_kind_of{
    type_name<F>(),
    [](const std::function<Signature>& f) { return wire_size(*f.template target<F>()); },
    [](const std::function<Signature>& f, wire_writer& to) { to.write(*f.template target<F>()); },
    [](wire_reader& from) { return std::function<Signature>(from.read<F>()); }};

}  // namespace detail

/// A std::function that can be sent to another process, if its callable is encodable:
///
///     portable_function<double(answer)> judge = [](const answer& a) { return a.right; };
///
///     struct make_maze {  // a lambda whose captures have names and are encodable
///       int width;
///       std::unique_ptr<environment> operator()() const { return std::make_unique<maze>(width); }
///     };
///     portable_function<std::unique_ptr<environment>()> make = make_maze{9};
///
/// A function that is made from anything else (a lambda with captures, a pointer to a function,
/// another std::function) works in this process, but encoding it throws wire_error.
template <class R, class... A>
class portable_function<R(A...)> {
 public:
  using result_type = R;

  portable_function() = default;
  portable_function(std::nullptr_t) {}
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, portable_function> &&
             std::is_invocable_r_v<R, std::remove_cvref_t<F>&, A...> &&
             std::constructible_from<std::function<R(A...)>, F>)
  portable_function(F&& f) : kind_(kind_of(f)), call_(std::forward<F>(f)) {}

  R operator()(A... arguments) const { return call_(std::forward<A>(arguments)...); }
  explicit operator bool() const noexcept { return static_cast<bool>(call_); }

 private:
  friend struct wire_codec<portable_function>;
  using kind = detail::portable_kind<R(A...)>;

  portable_function(const kind& of, std::function<R(A...)> call)
      : kind_(&of), call_(std::move(call)) {}

  template <class F>
  static const kind* kind_of(const F&) {
    if constexpr (encodable<F>) {
      return &detail::portable_kind_of<F, R(A...)>;
    } else {
      return nullptr;
    }
  }

  const kind* kind_ = nullptr;  ///< Null if the function can't be encoded.
  std::function<R(A...)> call_;
};

/// Encodes functions, including empty ones.
template <class R, class... A>
struct wire_codec<portable_function<R(A...)>> {
  using function = portable_function<R(A...)>;
  using kind = detail::portable_kind<R(A...)>;
  static constexpr std::size_t bytes_min = 1;

  static std::size_t size(const function& f) {
    return 1 + (f ? sizeof(std::uint64_t) + kind_of(f).size(f.call_) : 0);
  }
  static void write(const function& f, wire_writer& to) {
    to.write(static_cast<bool>(f));
    if (!f) return;
    to.write(kind_of(f).key);
    kind_of(f).write(f.call_, to);
  }
  static function read(wire_reader& from) {
    if (!from.read<bool>()) return {};
    const auto* found = kind::find(from.read<std::uint64_t>());
    if (found == nullptr) from.fail(detail::type_name<function>(), "no such function");
    return function(*found, found->read(from));
  }

 private:
  static const kind& kind_of(const function& f) {
    if (f.kind_ != nullptr) return *f.kind_;
    throw wire_error(std::string(detail::type_name<function>()) + " of " +
                     detail::demangled(f.call_.target_type().name()) +
                     " can't be encoded: it needs a lambda without captures, or a struct with an "
                     "operator() whose members are encodable");
  }
};

}  // namespace troupe
