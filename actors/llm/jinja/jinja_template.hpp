#pragma once
// Chat templates: the part of Jinja that they use, with Python's values.

#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "actors/llm/jinja/text.hpp"
#include "actors/llm/jinja/value.hpp"

namespace troupe::llm::jinja {

/// The longest template that is read.
inline constexpr std::size_t template_bytes_max = std::size_t{1} << 20;

/// A template that can't be read, or that can't write what it is given. The message names the line.
class template_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct tree;

/// A template that was read. It writes what jinja2 writes in the environment of transformers'
/// apply_chat_template: with trim_blocks and lstrip_blocks, break and continue, {% generation %},
/// raise_exception, strftime_now, and tojson without HTML's entities. What isn't known here is
/// refused when the template is read. Time and memory are bounded (machine.hpp). Copies are cheap,
/// and const calls may run at the same time.
class jinja_template {
 public:
  /// Throws template_error for what isn't a template, and for a statement, filter, test, method or
  /// function that isn't known.
  explicit jinja_template(std::string_view source);

  /// What the template writes for these variables. Each byte's marks say where it comes from.
  /// Throws template_error if the template refuses the variables or goes beyond the bounds.
  text render(const dict& variables, const std::tm& date) const;

  /// True if the template has this text as a constant.
  bool has_string(std::string_view of) const;
  /// True if the template reads a variable of this name.
  bool reads(std::string_view name) const;

 private:
  std::shared_ptr<const tree> tree_;
};

}  // namespace troupe::llm::jinja
