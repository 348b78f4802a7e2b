#pragma once
// The result of a call as a value: `try_route` and `fanout_settled` return it.

#include <exception>
#include <memory>
#include <utility>
#include <variant>

namespace troupe {

/// A value, or the error that came in its place. It is for callers that handle the failure on the
/// next line; all others await the call and let it throw.
template <class T>
class outcome {
 public:
  using value_type = T;

  outcome(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  outcome(std::exception_ptr error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  /// Returns the value; throws the error if there is one.
  T& value() & {
    if (!ok()) std::rethrow_exception(std::get<1>(state_));
    return std::get<0>(state_);
  }
  const T& value() const& { return const_cast<outcome&>(*this).value(); }
  T&& value() && { return std::move(value()); }

  /// The value, by the operators that std::expected has. There must be one: unlike std::expected
  /// they throw the error if there is none, as `value` does.
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return std::addressof(value()); }
  const T* operator->() const { return std::addressof(value()); }

  /// Returns the error; null if there is a value.
  std::exception_ptr error() const noexcept { return ok() ? nullptr : std::get<1>(state_); }

 private:
  std::variant<T, std::exception_ptr> state_;
};

/// The outcome of something that returns nothing.
template <>
class outcome<void> {
 public:
  using value_type = void;

  outcome() = default;
  outcome(std::exception_ptr error) : error_(std::move(error)) {}

  bool ok() const noexcept { return !error_; }
  explicit operator bool() const noexcept { return ok(); }
  void value() const {
    if (error_) std::rethrow_exception(error_);
  }
  /// Throws the error if there is one, as `value` does.
  void operator*() const { value(); }
  std::exception_ptr error() const noexcept { return error_; }

 private:
  std::exception_ptr error_;
};

}  // namespace troupe
