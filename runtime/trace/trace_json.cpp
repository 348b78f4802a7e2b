#include "runtime/trace/trace_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "runtime/trace/trace_rows.hpp"

namespace troupe {

namespace {

using detail::trace_picture;
using detail::trace_slice;
using kind = trace_slice::kind;

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Returns the function in the name of an endpoint: "step" for "environment::step".
std::string_view function_of(std::string_view endpoint) {
  const auto colons = endpoint.rfind("::");
  return colons == endpoint.npos ? endpoint : endpoint.substr(colons + 2);
}

std::string title_of(const trace_slice& slice) {
  switch (slice.what) {
    case kind::wait:
      return fmt::format("waiting for {}.{}", slice.group, function_of(slice.name));
    case kind::execution:
      return std::string(function_of(slice.name));
    case kind::batch:
      return fmt::format("{} x{}", function_of(slice.name), slice.count);
    default:
      return std::string(slice.name);
  }
}

const char* category_of(const trace_slice& slice) {
  if (slice.what == kind::wait) return "wait";
  if (slice.what == kind::span) return "span";
  return slice.what == kind::mark ? "mark" : "execution";
}

std::string arguments_of(const trace_slice& slice) {
  std::string text;
  const auto add = [&](std::string_view key, std::string_view value) {
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", key, value);
  };
  if (slice.what == kind::batch) add("calls", std::to_string(slice.count));
  if (slice.what != kind::span && slice.what != kind::mark) add("endpoint", json_text(slice.name));
  if (slice.how == trace_slice::outcome::error) add("outcome", "\"error\"");
  if (slice.how == trace_slice::outcome::cancelled) add("outcome", "\"cancelled\"");
  return text;
}

class writer {
 public:
  explicit writer(std::ostream& to) : to_(to) {}

  void write(const trace& of) {
    const auto picture = detail::draw(of);
    zero_ = first_of(picture);
    to_ << "{\"traceEvents\":[";
    write_names(picture);
    for (std::size_t row = 0; row < picture.rows.size(); ++row) {
      for (const auto& slice : picture.rows[row].slices) write_slice(row, slice);
    }
    write_arrows(picture);
    const auto full = of.full_since();
    if (full) {
      event(
          "\"name\":\"the trace is full: {} slices\",\"ph\":\"i\",\"s\":\"g\",\"ts\":{},\"tid\":0",
          of.limit(), microseconds(*full - zero_));
    }
    to_ << "\n],\"displayTimeUnit\":\"ms\",\"otherData\":"
        << fmt::format("{{\"slices\":{},\"limit\":{},\"full\":{}}}}}\n", of.size(), of.limit(),
                       full.has_value());
  }

 private:
  static time_point first_of(const trace_picture& picture) {
    auto first = time_point::max();
    for (const auto& row : picture.rows) {
      for (const auto& slice : row.slices) first = std::min(first, slice.begin);
    }
    return first == time_point::max() ? time_point() : first;
  }

  static std::string microseconds(duration time) {
    const auto ns = std::chrono::nanoseconds(time).count();
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
  }

  /// Writes one event of this process.
  template <class... A>
  void event(fmt::format_string<A...> text, A&&... args) {
    to_ << (any_ ? ",\n{\"pid\":1," : "\n{\"pid\":1,")
        << fmt::format(text, std::forward<A>(args)...) << '}';
    any_ = true;
  }

  void write_names(const trace_picture& picture) {
    event("\"name\":\"process_name\",\"ph\":\"M\",\"tid\":0,\"args\":{{\"name\":\"troupe\"}}");
    for (std::size_t row = 0; row < picture.rows.size(); ++row) {
      event("\"name\":\"thread_name\",\"ph\":\"M\",\"tid\":{},\"args\":{{\"name\":{}}}", row + 1,
            json_text(picture.rows[row].name));
      event("\"name\":\"thread_sort_index\",\"ph\":\"M\",\"tid\":{},\"args\":{{\"sort_index\":{}}}",
            row + 1, row + 1);
    }
  }

  void write_slice(std::size_t row, const trace_slice& slice) {
    const auto head =
        fmt::format("\"name\":{},\"cat\":\"{}\",\"tid\":{},\"ts\":{}", json_text(title_of(slice)),
                    category_of(slice), row + 1, microseconds(slice.begin - zero_));
    if (slice.what == kind::mark) return event("{},\"ph\":\"i\",\"s\":\"t\"", head);
    event("{},\"ph\":\"X\",\"dur\":{},\"args\":{{{}}}", head, microseconds(slice.end - slice.begin),
          arguments_of(slice));
  }

  /// Writes an arrow from each call's wait to its execution. A call that was repeated and executed
  /// twice has two arrows.
  void write_arrows(const trace_picture& picture) {
    std::size_t arrow = 0;
    for (const auto& [call, executed] : picture.executions) {
      const auto waited = picture.waits.find(call);
      if (waited == picture.waits.end()) continue;
      ++arrow;
      const auto end = [&](const char* phase, const detail::trace_place& at) {
        event("\"name\":\"call\",\"cat\":\"call\",\"ph\":\"{}\",\"id\":{},\"tid\":{},\"ts\":{}",
              phase, arrow, at.row + 1, microseconds(at.at - zero_));
      };
      end("s", waited->second);
      end("f\",\"bp\":\"e", executed);
    }
  }

  std::ostream& to_;
  time_point zero_{};
  bool any_ = false;
};

}  // namespace

void write_trace(const trace& of, std::ostream& to) { writer(to).write(of); }

}  // namespace troupe
