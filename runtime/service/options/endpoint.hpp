#pragma once
// The properties of an endpoint, read from the signature of the member function that it is. Service
// options use `endpoint<&role::f>` to name endpoints.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "runtime/base/type_name.hpp"
#include "runtime/coroutine/task.hpp"
#include "runtime/service/options/batch.hpp"

namespace troupe {

enum class endpoint_kind {
  plain,      ///< R f(A...): runs to its end before the replica takes the next call.
  coroutine,  ///< task<R> f(A...): while it waits, the replica serves up to max_ongoing calls.
  batched,    ///< batch<R> f(batch<A>): gathers concurrent calls; callers pass an A and get an R.
};

/// The description of one endpoint, made by `endpoint<&role::f>`. Its address is its identity; the
/// name is for people.
struct endpoint_info {
  std::string_view name;  ///< Role and function, as in "counter::add".
  endpoint_kind kind;
  std::size_t number;  ///< Counted from 0 without gaps.
  /// The number by which other processes know the endpoint; see call_registry.hpp.
  std::uint64_t key;
};

namespace detail {

template <class R>
struct result_traits {
  using type = R;
  static constexpr auto kind = endpoint_kind::plain;
};
template <class R>
struct result_traits<task<R>> {
  using type = R;
  static constexpr auto kind = endpoint_kind::coroutine;
};
template <class R>
struct result_traits<batch<R>> {
  using type = R;
  static constexpr auto kind = endpoint_kind::batched;
};

template <class A>
struct argument_traits {
  using type = std::decay_t<A>;
};
template <class A>
struct argument_traits<batch<A>> {
  using type = A;
};

template <class Role, class R, class... A>
struct signature {
  using role = Role;
  using result = typename result_traits<R>::type;
  using arguments = std::tuple<typename argument_traits<std::remove_cvref_t<A>>::type...>;
  /// What an argument in braces makes where it is the first; nullptr_t if there is none.
  using first_argument = std::tuple_element_t<
      0, std::tuple<typename argument_traits<std::remove_cvref_t<A>>::type..., std::nullptr_t>>;
  static constexpr auto kind = result_traits<R>::kind;
  static_assert(kind != endpoint_kind::batched || sizeof...(A) == 1,
                "a batched endpoint is batch<R> f(batch<A>): it takes one batch");
  static_assert(((!std::is_lvalue_reference_v<A> || std::is_const_v<std::remove_reference_t<A>>) &&
                 ...),
                "an endpoint's arguments are values or const references: they travel in a message");
};

template <class F>
struct endpoint_traits;
template <class C, class R, class... A>
struct endpoint_traits<R (C::*)(A...)> : signature<C, R, A...> {};
template <class C, class R, class... A>
struct endpoint_traits<R (C::*)(A...) const> : signature<C, R, A...> {};
template <class C, class R, class... A>
struct endpoint_traits<R (C::*)(A...) noexcept> : signature<C, R, A...> {};
template <class C, class R, class... A>
struct endpoint_traits<R (C::*)(A...) const noexcept> : signature<C, R, A...> {};

template <auto F>
using endpoint_of = endpoint_traits<decltype(F)>;

/// True if a call of the endpoint F can be made with arguments of these types. A tuple could be
/// made of none as well, so they are counted.
template <auto F, class... A>
concept fits_endpoint = sizeof...(A) == std::tuple_size_v<typename endpoint_of<F>::arguments> &&
                        std::constructible_from<typename endpoint_of<F>::arguments, A...>;

/// Gives the endpoint its key. `spelling` is what the compiler calls it. Called before main.
const endpoint_info* register_endpoint(std::string_view name, endpoint_kind kind,
                                       std::string_view spelling);
/// Returns the endpoint with this key. Throws wire_error if there is none.
const endpoint_info& endpoint_of_key(std::uint64_t key);

/// Returns the position of the last "::" before `end` that is outside template arguments, or npos.
constexpr std::size_t last_colons(std::string_view text, std::size_t end) {
  int depth = 0;
  for (std::size_t i = std::min(end, text.size()); i-- > 0;) {
    if (text[i] == '>') ++depth;
    if (text[i] == '<') --depth;
    if (depth == 0 && text.substr(i, 2) == "::") return i;
  }
  return std::string_view::npos;
}

/// Returns the compiler's spelling of a member function, with its type.
template <auto F, class Type = decltype(F)>
constexpr std::string_view endpoint_spelling() {
  return __PRETTY_FUNCTION__;
}

/// Extracts a name such as "counter::add" from the compiler's spelling of a template argument.
template <auto F>
constexpr std::string_view endpoint_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("F = ") + 4);
  text.remove_suffix(1);
  if (text.find(';') != text.npos) text = text.substr(0, text.find(';'));
  while (!text.empty() && (text.front() == '&' || text.front() == '(')) text.remove_prefix(1);
  // Leave out namespaces, named and anonymous: role::function is enough for people.
  const auto function = last_colons(text, text.npos);
  if (function == text.npos) return text;
  const auto role = last_colons(text, function);
  return role == text.npos ? text : text.substr(role + 2);
}

}  // namespace detail

/// The identity of an endpoint, written `endpoint<&counter::add>`. Options that list endpoints hold
/// these pointers.
template <auto F>
  requires std::is_member_function_pointer_v<decltype(F)>
inline const endpoint_info* const endpoint = detail::register_endpoint(
    detail::endpoint_name<F>(), detail::endpoint_of<F>::kind, detail::endpoint_spelling<F>());

}  // namespace troupe
