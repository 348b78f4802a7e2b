#include "actors/llm/jinja/evaluator.hpp"

#include <algorithm>
#include <deque>

#include "actors/llm/jinja/library.hpp"
#include "actors/llm/jinja/loop_state.hpp"
#include "actors/llm/jinja/operations.hpp"

namespace troupe::llm::jinja {

/// The variables of a block. A name that isn't there is looked for in the parent.
struct scope {
  scope* parent = nullptr;
  std::vector<std::pair<std::string_view, value>> names = {};

  const value* find(std::string_view name) const {
    for (const auto* at = this; at; at = at->parent)
      for (const auto& [key, held] : at->names)
        if (key == name) return &held;
    return nullptr;
  }
  void set(std::string_view name, value to) {
    for (auto& [key, held] : names) {
      if (key != name) continue;
      held = std::move(to);
      return;
    }
    names.emplace_back(name, std::move(to));
  }
};

/// A macro and the scope where it was defined. Nothing can hold it longer than that scope
/// (machine::checked).
struct macro {
  const macro_definition* definition;
  scope* home;
  const value* caller = nullptr;
};

namespace {

enum class flow { on, leave, next };

class evaluator {
 public:
  evaluator(machine& run, int& line) : run_(run), line_(line) {}

  text render(const tree& of, const dict& variables) {
    scope given, top{&given};
    for (const auto& [name, held] : variables.entries) given.set(name.as_text()->chars, held);
    text_builder to(run_);
    execute(of.body, top, to);
    return to.take();
  }

 private:
  class level {
   public:
    explicit level(int& depth) : depth_(depth) {
      if (++depth_ > run_depth_max) {
        --depth_;
        fail("expected at most " + std::to_string(run_depth_max) +
             " levels of macros and expressions");
      }
    }
    ~level() { --depth_; }
    level(const level&) = delete;
    level& operator=(const level&) = delete;

   private:
    int& depth_;
  };

  // -- statements --

  flow execute(const block& all, scope& in, text_builder& to) {
    const level guard(depth_);
    for (const auto& one : all) {
      run_.work(1);
      line_ = one.line;
      if (const auto next = execute(one, in, to); next != flow::on) return next;
    }
    return flow::on;
  }

  flow execute(const statement& of, scope& in, text_builder& to) {
    switch (of.kind) {
      case statement_kind::data:
        to.add(of.data);
        return flow::on;
      case statement_kind::output:
        to.add(str_of(run_, eval(of.expressions[0], in)));
        return flow::on;
      case statement_kind::condition:
        return choose(of, in, to);
      case statement_kind::loop:
        return loop(of, in, to);
      case statement_kind::assignment:
        assign(*of.targets[0], eval(of.expressions[0], in), in);
        return flow::on;
      case statement_kind::capture:
        assign(*of.targets[0], filtered_body(of, in), in);
        return flow::on;
      case statement_kind::macro:
        run_.work(50);
        in.set(of.definition->name, value(&macros_.emplace_back(macro{of.definition.get(), &in})));
        return flow::on;
      case statement_kind::generation:
        to.add(generated_text(of, in));
        return flow::on;
      case statement_kind::with:
        return with(of, in, to);
      case statement_kind::filtered:
        to.add(str_of(run_, filtered_body(of, in)));
        return flow::on;
      case statement_kind::call_block:
        to.add(str_of(run_, call_block(of, in)));
        return flow::on;
      case statement_kind::leave:
        return flow::leave;
      case statement_kind::next:
        return flow::next;
    }
    return flow::on;
  }

  flow choose(const statement& of, scope& in, text_builder& to) {
    for (std::size_t i = 0; i < of.expressions.size(); ++i)
      if (eval(of.expressions[i], in).truth()) return execute(of.bodies[i], in, to);
    if (of.bodies.size() > of.expressions.size()) return execute(of.bodies.back(), in, to);
    return flow::on;
  }

  flow loop(const statement& of, scope& in, text_builder& to) {
    auto items = items_of(run_, eval(of.expressions[0], in));
    std::function<bool(const value&)> keeps;
    if (of.expressions[1]) {
      keeps = [&](const value& item) {
        scope around{&in};
        assign(*of.targets[0], item, around);
        return eval(of.expressions[1], around).truth();
      };
    }
    loop_state state(std::move(items), std::move(keeps));
    bool any = false;
    while (state.next()) {
      any = true;
      run_.work(1);
      scope around{&in};
      around.set("loop", value(&state));
      assign(*of.targets[0], state.current(), around);
      if (execute(of.bodies[0], around, to) == flow::leave) break;
    }
    if (any || of.bodies.size() < 2) return flow::on;
    scope around{&in};
    return execute(of.bodies[1], around, to);
  }

  flow with(const statement& of, scope& in, text_builder& to) {
    scope around{&in};
    for (std::size_t i = 0; i < of.targets.size(); ++i)
      around.set(of.targets[i]->text, eval(of.expressions[i], in));
    return execute(of.bodies[0], around, to);
  }

  text body_text(const statement& of, scope& in) {
    scope around{&in};
    text_builder to(run_);
    execute(of.bodies[0], around, to);
    return to.take();
  }

  text generated_text(const statement& of, scope& in) {
    auto made = body_text(of, in);
    if (made.marks.empty()) made.marks.resize(made.size());
    for (auto& mark : made.marks) mark = static_cast<char>(mark | generated);
    return made;
  }

  value filtered_body(const statement& of, scope& in) {
    auto made = run_.make(body_text(of, in));
    return of.expressions[0] ? apply_filters(*of.expressions[0], std::move(made), in) : made;
  }
  value apply_filters(const expression& of, value made, scope& in) {
    if (of.parts[0]) made = apply_filters(*of.parts[0], std::move(made), in);
    return filtered(run_, of.text, made, arguments_of(of.given, in));
  }

  value call_block(const statement& of, scope& in) {
    const macro body{of.definition.get(), &in};
    const value caller(&body);
    const auto& call = *of.expressions[0];
    return this->call(eval(call.parts[0], in), arguments_of(call.given, in), &caller);
  }

  void assign(const expression& to, const value& what, scope& in) {
    if (to.kind == expression_kind::name) return in.set(to.text, what);
    if (to.kind == expression_kind::member) {
      const auto* held = in.find(to.text);
      if (!held || !held->as_namespace())
        fail("expected a namespace to set an attribute of, got " + to.text);
      auto& attributes = held->as_namespace()->attributes;
      run_.work(attributes.entries.size() / 8);
      attributes.set(to.constant, machine::checked(what));
      return;
    }
    const auto items = items_of(run_, what);
    if (items.size() != to.parts.size())
      fail("expected " + std::to_string(to.parts.size()) + " values to assign, got " +
           std::to_string(items.size()));
    for (std::size_t i = 0; i < items.size(); ++i) assign(*to.parts[i], items[i], in);
  }

  // -- expressions --

  value eval(const expression_ptr& of, scope& in) { return eval(*of, in); }

  value eval(const expression& of, scope& in) {
    const level guard(depth_);
    run_.work(1);
    switch (of.kind) {
      case expression_kind::constant:
        return of.constant;
      case expression_kind::name:
        return named(of.text, in);
      case expression_kind::negation:
        return !eval(of.parts[0], in).truth();
      case expression_kind::both: {
        auto left = eval(of.parts[0], in);
        return left.truth() ? eval(of.parts[1], in) : left;
      }
      case expression_kind::either: {
        auto left = eval(of.parts[0], in);
        return left.truth() ? left : eval(of.parts[1], in);
      }
      case expression_kind::conditional:
        if (eval(of.parts[0], in).truth()) return eval(of.parts[1], in);
        return of.parts[2] ? eval(of.parts[2], in)
                           : value(undefined{"the other value of a condition without else"});
      case expression_kind::attribute:
      case expression_kind::item:
      case expression_kind::slice:
        return field(of, in);
      case expression_kind::call:
        return called(of, in);
      case expression_kind::filter: {
        const auto held = eval(of.parts[0], in);
        const auto given = arguments_of(of.given, in);
        line_ = of.line;
        return filtered(run_, of.text, held, given);
      }
      case expression_kind::test: {
        const auto held = eval(of.parts[0], in);
        const auto given = arguments_of(of.given, in);
        line_ = of.line;
        return tested(run_, of.text, held, given);
      }
      case expression_kind::comparison:
        return compared(of, in);
      default:
        return composed(of, in);
    }
  }

  value named(const std::string& name, scope& in) {
    if (const auto* held = in.find(name)) return *held;
    auto function = function_named(name);
    return function.is_undefined() ? value(undefined{name}) : function;
  }

  value field(const expression& of, scope& in) {
    const auto held = eval(of.parts[0], in);
    if (of.kind == expression_kind::attribute) {
      line_ = of.line;
      return attribute_of(run_, held, of.text);
    }
    const auto part = [&](std::size_t i) {
      return of.parts[i] ? eval(of.parts[i], in) : value(none{});
    };
    const auto first = part(1);
    if (of.kind == expression_kind::item) {
      line_ = of.line;
      return item_of(run_, held, first);
    }
    const auto second = part(2), third = part(3);
    line_ = of.line;
    return slice_of(run_, held, first, second, third);
  }

  value compared(const expression& of, scope& in) {
    auto left = eval(of.parts[0], in);
    for (std::size_t i = 0; i < of.operators.size(); ++i) {
      auto right = eval(of.parts[i + 1], in);
      line_ = of.line;
      if (!compare_with(run_, of.operators[i], left, right)) return false;
      left = std::move(right);
    }
    return true;
  }

  value composed(const expression& of, scope& in) {
    std::vector<value> parts;
    for (const auto& part : of.parts) parts.push_back(eval(part, in));
    line_ = of.line;
    switch (of.kind) {
      case expression_kind::list:
        return run_.make(std::move(parts));
      case expression_kind::tuple:
        return run_.make(std::move(parts), list_kind::tuple);
      case expression_kind::dict: {
        dict made;
        for (std::size_t i = 0; i < parts.size(); i += 2) {
          if (parts[i].as_list() || parts[i].as_dict() || parts[i].is_undefined())
            fail("expected a text or a number as a key, got a " + std::string(parts[i].type()));
          made.set(parts[i], parts[i + 1]);
        }
        return run_.make(std::move(made));
      }
      case expression_kind::sign:
        return with_sign(of.text, parts[0]);
      case expression_kind::arithmetic:
        return calculate(run_, of.text, parts[0], parts[1]);
      default:
        break;
    }
    text_builder to(run_);
    for (const auto& part : parts) to.add(str_of(run_, part));
    return run_.make(to.take());
  }

  given_arguments arguments_of(const arguments& of, scope& in) {
    given_arguments made;
    for (const auto& one : of.positional) made.positional.push_back(eval(one, in));
    for (const auto& [name, one] : of.named) made.named.emplace_back(name, eval(one, in));
    return made;
  }

  value called(const expression& of, scope& in) {
    const auto callee = eval(of.parts[0], in);
    const auto given = arguments_of(of.given, in);
    line_ = of.line;
    return call(callee, given, nullptr);
  }

  value call(const value& callee, const given_arguments& given, const value* caller) {
    if (const auto* function = callee.as_macro()) return call(*function, given, caller);
    if (const auto* method = callee.as_method()) return call_method(run_, *method, given);
    if (const auto* function = callee.as_builtin()) return call_function(run_, *function, given);
    if (auto* between = callee.as_joiner()) {
      bound_arguments("joiner", given, {});
      return std::exchange(between->used, true) ? value(between->separator) : value(text());
    }
    if (callee.is_undefined()) fail(callee.as_undefined()->name + " is undefined");
    fail("expected a function or a macro to call, got a " + std::string(callee.type()));
  }

  value call(const macro& of, const given_arguments& given, const value* caller) {
    const level guard(depth_);
    run_.work(4);
    const auto& definition = *of.definition;
    const auto& parameters = definition.parameters;
    scope around{of.home};
    std::vector<value> more;
    for (std::size_t i = 0; i < given.positional.size(); ++i) {
      if (i < parameters.size()) {
        around.set(parameters[i], given.positional[i]);
      } else {
        more.push_back(given.positional[i]);
      }
    }
    dict others;
    bool has_caller = caller != nullptr;
    for (const auto& [name, held] : given.named) {
      const auto at = std::ranges::find(parameters, name);
      const bool is_parameter = at != parameters.end();
      if (is_parameter &&
          std::ranges::any_of(around.names, [&](const auto& one) { return one.first == name; }))
        fail("the macro " + definition.name + " got the argument " + name + " twice");
      if (is_parameter) {
        around.set(*at, held);
      } else if (name == "caller" && definition.uses_caller) {
        around.set("caller", held);
        has_caller = true;
      } else {
        others.set(unmarked(name), held);
      }
    }
    if (caller && definition.uses_caller) around.set("caller", *caller);
    if (caller && !definition.uses_caller)
      fail("the macro " + definition.name + " calls no caller");
    if (!has_caller && definition.uses_caller)
      around.set("caller", undefined{"the caller of " + definition.name});
    if ((!more.empty() && !definition.uses_varargs) ||
        (!others.entries.empty() && !definition.uses_kwargs))
      fail("the macro " + definition.name + " got an argument too many");
    if (definition.uses_varargs)
      around.set("varargs", run_.make(std::move(more), list_kind::tuple));
    if (definition.uses_kwargs) around.set("kwargs", run_.make(std::move(others)));
    add_defaults(definition, around);
    text_builder to(run_);
    execute(definition.body, around, to);
    return run_.make(to.take());
  }

  /// Later defaults see earlier parameters.
  void add_defaults(const macro_definition& of, scope& in) {
    const auto first = of.parameters.size() - of.defaults.size();
    for (std::size_t i = 0; i < of.parameters.size(); ++i) {
      const auto& name = of.parameters[i];
      if (std::ranges::any_of(in.names, [&](const auto& one) { return one.first == name; }))
        continue;
      if (i < first) {
        in.set(name, undefined{"the parameter " + name + " of the macro " + of.name});
      } else {
        in.set(name, eval(of.defaults[i - first], in));
      }
    }
  }

  machine& run_;
  int& line_;
  int depth_ = 0;
  std::deque<macro> macros_;
};

}  // namespace

text run_template(const tree& of, const dict& variables, machine& run, int& line) {
  return evaluator(run, line).render(of, variables);
}

}  // namespace troupe::llm::jinja
