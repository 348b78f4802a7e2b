#include "actors/llm/jinja/parser.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "actors/llm/jinja/library.hpp"

namespace troupe::llm::jinja {
namespace {

std::string described(const token& of) {
  switch (of.kind) {
    case token_kind::end:
      return "the end";
    case token_kind::end_block:
      return "%}";
    case token_kind::end_output:
      return "}}";
    case token_kind::string:
      return "a string";
    default:
      return of.text.size() > 60 ? of.text.substr(0, 60) : of.text;
  }
}

class parser {
 public:
  explicit parser(std::string_view source) : tokens_(tokens_of(source)) {}

  tree run() {
    tree made;
    made.body = read_block({});
    made.strings = std::move(strings_);
    for (auto& name : names_) made.names.insert(std::move(name));
    return made;
  }

 private:
  // -- tokens --

  const token& now() const { return tokens_[at_]; }
  const token& after() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  token take() {
    auto taken = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return taken;
  }
  bool is(token_kind kind, std::string_view text) const {
    return now().kind == kind && now().text == text;
  }
  bool is_sign(std::string_view sign) const { return is(token_kind::sign, sign); }
  bool is_word(std::string_view word) const { return is(token_kind::name, word); }
  bool skip_sign(std::string_view sign) { return is_sign(sign) ? (take(), true) : false; }
  bool skip_word(std::string_view word) { return is_word(word) ? (take(), true) : false; }

  [[noreturn]] void fail(const std::string& what) const { throw syntax_error(now().line, what); }
  [[noreturn]] void unexpected(const std::string& expected) const {
    fail("expected " + expected + ", got " + described(now()));
  }
  void expect_sign(std::string_view sign) {
    if (!skip_sign(sign)) unexpected(std::string(sign));
  }
  std::string expect_name() {
    if (now().kind != token_kind::name) unexpected("a name");
    return take().text;
  }
  void expect_end_of_block() {
    if (now().kind != token_kind::end_block) unexpected("%}");
    take();
  }

  /// Counts the nesting of the function that holds it.
  class level {
   public:
    explicit level(parser& of) : of_(of) {
      if (++of_.depth_ > syntax_depth_max)
        of_.fail("expected at most " + std::to_string(syntax_depth_max) + " levels of nesting");
    }
    ~level() { --of_.depth_; }
    level(const level&) = delete;
    level& operator=(const level&) = delete;

   private:
    parser& of_;
  };

  // -- expressions --

  expression_ptr make(expression_kind kind, int line, std::vector<expression_ptr> parts = {},
                      std::string text = {}) {
    auto made = std::make_unique<expression>();
    made->kind = kind;
    made->line = line;
    made->parts = std::move(parts);
    made->text = std::move(text);
    measure(*made);
    return made;
  }
  template <class... Part>
  expression_ptr join(expression_kind kind, int line, std::string text, Part... part) {
    std::vector<expression_ptr> parts;
    (parts.push_back(std::move(part)), ...);
    return make(kind, line, std::move(parts), std::move(text));
  }
  expression_ptr constant_of(value held, int line) {
    auto made = make(expression_kind::constant, line);
    made->constant = std::move(held);
    return made;
  }

  void measure(expression& of) {
    const auto add = [&](const expression_ptr& part) {
      if (part) of.depth = std::max(of.depth, part->depth + 1);
    };
    for (const auto& part : of.parts) add(part);
    for (const auto& part : of.given.positional) add(part);
    for (const auto& [name, part] : of.given.named) add(part);
    if (of.depth > syntax_depth_max)
      throw syntax_error(of.line, "expected an expression of at most " +
                                      std::to_string(syntax_depth_max) + " levels");
  }

  expression_ptr read_expression(bool with_condition = true) {
    const level guard(*this);
    if (!with_condition) return read_or();
    auto made = read_or();
    while (is_word("if")) {
      const int line = take().line;
      auto condition = read_or();
      expression_ptr otherwise;
      if (skip_word("else")) otherwise = read_expression();
      made = join(expression_kind::conditional, line, "", std::move(condition), std::move(made),
                  std::move(otherwise));
    }
    return made;
  }

  expression_ptr read_or() {
    auto made = read_and();
    while (is_word("or")) {
      const int line = take().line;
      auto right = read_and();
      made = join(expression_kind::either, line, "", std::move(made), std::move(right));
    }
    return made;
  }
  expression_ptr read_and() {
    auto made = read_not();
    while (is_word("and")) {
      const int line = take().line;
      auto right = read_not();
      made = join(expression_kind::both, line, "", std::move(made), std::move(right));
    }
    return made;
  }
  expression_ptr read_not() {
    if (!is_word("not")) return read_comparison();
    const level guard(*this);
    const int line = take().line;
    return join(expression_kind::negation, line, "", read_not());
  }

  expression_ptr read_comparison() {
    const int line = now().line;
    std::vector<expression_ptr> parts;
    std::vector<std::string> operators;
    parts.push_back(read_sum());
    for (;;) {
      constexpr std::string_view signs[] = {"==", "!=", "<", "<=", ">", ">="};
      if (now().kind == token_kind::sign &&
          std::ranges::find(signs, now().text) != std::end(signs)) {
        operators.push_back(take().text);
      } else if (is_word("in")) {
        operators.push_back(take().text);
      } else if (is_word("not") && after().kind == token_kind::name && after().text == "in") {
        take();
        take();
        operators.emplace_back("not in");
      } else {
        break;
      }
      parts.push_back(read_sum());
    }
    if (operators.empty()) return std::move(parts.front());
    auto made = make(expression_kind::comparison, line, std::move(parts));
    made->operators = std::move(operators);
    return made;
  }

  /// Operands with operators of the same rank between them, from the left.
  template <class Operand>
  expression_ptr read_chain(std::initializer_list<std::string_view> signs, Operand operand) {
    auto made = (this->*operand)();
    while (now().kind == token_kind::sign && std::ranges::find(signs, now().text) != signs.end()) {
      const auto sign = take();
      auto right = (this->*operand)();
      made = join(expression_kind::arithmetic, sign.line, sign.text, std::move(made),
                  std::move(right));
    }
    return made;
  }
  expression_ptr read_sum() { return read_chain({"+", "-"}, &parser::read_concat); }
  expression_ptr read_product() { return read_chain({"*", "/", "//", "%"}, &parser::read_power); }
  expression_ptr read_power() { return read_chain({"**"}, &parser::read_unary); }
  expression_ptr read_concat() {
    const int line = now().line;
    std::vector<expression_ptr> parts;
    parts.push_back(read_product());
    while (skip_sign("~")) parts.push_back(read_product());
    if (parts.size() == 1) return std::move(parts.front());
    return make(expression_kind::concat, line, std::move(parts));
  }

  expression_ptr read_unary() { return read_filters(read_signed()); }
  expression_ptr read_signed() {
    const level guard(*this);
    if (!is_sign("-") && !is_sign("+")) return read_postfix(read_primary());
    const auto sign = take();
    auto made = join(expression_kind::sign, sign.line, sign.text, read_signed());
    return read_postfix(std::move(made));
  }

  expression_ptr read_primary(bool is_target = false) {
    const auto first = now();
    if (first.kind == token_kind::name) {
      take();
      const auto& word = first.text;
      if (word == "true" || word == "True") return constant_of(true, first.line);
      if (word == "false" || word == "False") return constant_of(false, first.line);
      if (word == "none" || word == "None") return constant_of(none{}, first.line);
      if (is_target && skip_sign(".")) {
        auto made = make(expression_kind::member, first.line, {}, word);
        made->constant = unmarked(expect_name());
        return made;
      }
      if (!is_target) names_.push_back(word);
      return make(expression_kind::name, first.line, {}, word);
    }
    if (first.kind == token_kind::string) {
      std::string all;
      while (now().kind == token_kind::string) all += take().text;
      strings_.insert(all);
      return constant_of(unmarked(all), first.line);
    }
    if (first.kind == token_kind::integer || first.kind == token_kind::real) {
      take();
      return constant_of(number_of(first), first.line);
    }
    if (skip_sign("(")) {
      auto made = read_tuple(true, true);
      expect_sign(")");
      return made;
    }
    if (skip_sign("[")) {
      auto parts = read_items("]");
      return make(expression_kind::list, first.line, std::move(parts));
    }
    if (skip_sign("{")) return read_dict(first.line);
    unexpected("an expression");
  }

  value number_of(const token& of) const {
    const char* end = of.text.data() + of.text.size();
    std::int64_t whole = 0;
    double real = 0;
    const auto read = of.kind == token_kind::integer ? std::from_chars(of.text.data(), end, whole)
                                                     : std::from_chars(of.text.data(), end, real);
    if (read.ec != std::errc())
      throw syntax_error(of.line,
                         "expected a number that 64 bits can hold, got " + of.text.substr(0, 60));
    return of.kind == token_kind::integer ? value(whole) : value(real);
  }

  std::vector<expression_ptr> read_items(std::string_view close) {
    std::vector<expression_ptr> items;
    while (!is_sign(close)) {
      if (!items.empty()) expect_sign(",");
      if (is_sign(close)) break;
      items.push_back(read_expression());
    }
    expect_sign(close);
    return items;
  }

  expression_ptr read_dict(int line) {
    std::vector<expression_ptr> parts;
    while (!is_sign("}")) {
      if (!parts.empty()) expect_sign(",");
      if (is_sign("}")) break;
      parts.push_back(read_expression());
      expect_sign(":");
      parts.push_back(read_expression());
    }
    expect_sign("}");
    return make(expression_kind::dict, line, std::move(parts));
  }

  bool ends_tuple(std::string_view word) const {
    return now().kind == token_kind::end_block || now().kind == token_kind::end_output ||
           now().kind == token_kind::end || is_sign(")") || (!word.empty() && is_word(word));
  }

  /// An expression, or several with commas as a tuple.
  expression_ptr read_tuple(bool with_condition, bool in_parentheses,
                            std::string_view end_word = "") {
    const int line = now().line;
    return tuple_of(line, in_parentheses, end_word,
                    [&] { return read_expression(with_condition); });
  }
  /// What is assigned to: a name, an attribute of a namespace, or several of them.
  expression_ptr read_target(bool with_members, std::string_view end_word = "") {
    const int line = now().line;
    auto made = tuple_of(line, false, end_word, [&] { return read_target_part(with_members); });
    check_target(*made);
    return made;
  }
  expression_ptr read_target_part(bool with_members) {
    if (!is_sign("(")) {
      if (now().kind != token_kind::name) unexpected("a name to assign to");
      auto made = read_primary(true);
      if (made->kind == expression_kind::member && !with_members)
        fail("expected a name to assign to");
      return made;
    }
    const level guard(*this);
    take();
    auto made = read_target(with_members);
    expect_sign(")");
    return made;
  }
  void check_target(const expression& of) {
    if (of.kind == expression_kind::tuple) {
      for (const auto& part : of.parts) check_target(*part);
    } else if (of.kind == expression_kind::name) {
      assigned_.insert(of.text);
    } else if (of.kind != expression_kind::member) {
      throw syntax_error(of.line, "expected a name to assign to, got a constant");
    }
  }

  template <class Read>
  expression_ptr tuple_of(int line, bool in_parentheses, std::string_view end_word, Read read) {
    std::vector<expression_ptr> parts;
    bool is_tuple = false;
    for (;;) {
      if (!parts.empty()) expect_sign(",");
      if (ends_tuple(end_word)) break;
      parts.push_back(read());
      if (!is_sign(",")) break;
      is_tuple = true;
    }
    if (!is_tuple && !parts.empty()) return std::move(parts.front());
    if (parts.empty() && !in_parentheses) unexpected("an expression");
    return make(expression_kind::tuple, line, std::move(parts));
  }

  expression_ptr read_postfix(expression_ptr made) {
    for (;;) {
      if (is_sign(".")) {
        made = read_attribute(std::move(made));
      } else if (is_sign("[")) {
        made = read_item(std::move(made));
      } else if (is_sign("(")) {
        made = read_call(std::move(made));
      } else {
        return made;
      }
    }
  }

  expression_ptr read_attribute(expression_ptr of) {
    const int line = take().line;
    if (now().kind == token_kind::integer) {
      auto index = constant_of(number_of(now()), line);
      take();
      return join(expression_kind::item, line, "", std::move(of), std::move(index));
    }
    return join(expression_kind::attribute, line, expect_name(), std::move(of));
  }

  expression_ptr read_item(expression_ptr of) {
    const int line = take().line;
    expression_ptr parts[3];
    int filled = 0;
    bool is_slice = false;
    for (;; ++filled) {
      if (filled > 2) fail("expected at most three parts of a slice");
      if (!is_sign(":") && !is_sign("]")) parts[filled] = read_expression();
      if (!skip_sign(":")) break;
      is_slice = true;
    }
    expect_sign("]");
    if (is_slice)
      return join(expression_kind::slice, line, "", std::move(of), std::move(parts[0]),
                  std::move(parts[1]), std::move(parts[2]));
    if (!parts[0]) fail("expected an index between [ and ]");
    return join(expression_kind::item, line, "", std::move(of), std::move(parts[0]));
  }

  expression_ptr read_call(expression_ptr of) {
    const int line = now().line;
    if (of->kind == expression_kind::attribute && !is_method(of->text))
      throw syntax_error(line, "the method " + of->text + " isn't known");
    if (of->kind == expression_kind::name) called_.push_back({of->text, line});
    auto made = join(expression_kind::call, line, "", std::move(of));
    made->given = read_arguments();
    measure(*made);
    return made;
  }

  arguments read_arguments() {
    expect_sign("(");
    arguments made;
    bool first = true;
    while (!is_sign(")")) {
      if (!first) expect_sign(",");
      if (is_sign(")")) break;
      first = false;
      if (is_sign("*") || is_sign("**")) fail("expected arguments one by one, got " + now().text);
      if (now().kind == token_kind::name && after().kind == token_kind::sign &&
          after().text == "=") {
        auto name = take().text;
        take();
        for (const auto& [other, held] : made.named)
          if (other == name) fail("expected the argument " + name + " once");
        made.named.emplace_back(std::move(name), read_expression());
      } else {
        if (!made.named.empty()) fail("expected no argument without a name after one with a name");
        made.positional.push_back(read_expression());
      }
    }
    expect_sign(")");
    return made;
  }

  expression_ptr read_filters(expression_ptr made) {
    for (;;) {
      if (is_sign("|")) {
        made = read_filter(std::move(made));
      } else if (is_word("is")) {
        made = read_test(std::move(made));
      } else if (is_sign("(")) {
        made = read_call(std::move(made));
      } else {
        return made;
      }
    }
  }

  /// A filter, from its | on, or from its name on if that was skipped.
  expression_ptr read_filter(expression_ptr of) {
    skip_sign("|");
    const int line = now().line;
    auto name = expect_name();
    if (!is_filter(name)) throw syntax_error(line, "the filter " + name + " isn't known");
    auto made = join(expression_kind::filter, line, std::move(name), std::move(of));
    if (is_sign("(")) made->given = read_arguments();
    check_named_by_text(*made);
    measure(*made);
    return made;
  }

  /// The filters that take the name of another filter or of a test, where that is a constant.
  void check_named_by_text(const expression& filter) const {
    const auto& given = filter.given.positional;
    const bool maps = filter.text == "map";
    const bool by_attribute = filter.text == "selectattr" || filter.text == "rejectattr";
    if (!maps && !by_attribute && filter.text != "select" && filter.text != "reject") return;
    const std::size_t at = by_attribute ? 1 : 0;
    if (given.size() <= at || !given[at]->constant.as_text()) return;
    const auto& name = given[at]->constant.as_text()->chars;
    if (maps ? !is_filter(name) : !is_test(name))
      throw syntax_error(filter.line, (maps ? "the filter " : "the test ") + name + " isn't known");
  }

  expression_ptr read_test(expression_ptr of) {
    const int line = take().line;
    const bool negated = skip_word("not");
    auto name = expect_name();
    if (!is_test(name)) throw syntax_error(line, "the test " + name + " isn't known");
    auto made = join(expression_kind::test, line, std::move(name), std::move(of));
    if (is_sign("(")) {
      made->given = read_arguments();
    } else if (begins_test_argument()) {
      if (is_word("is")) fail("expected one test, got a second \"is\"");
      made->given.positional.push_back(read_postfix(read_primary()));
    }
    measure(*made);
    return negated ? join(expression_kind::negation, line, "", std::move(made)) : std::move(made);
  }
  bool begins_test_argument() const {
    switch (now().kind) {
      case token_kind::name:
        return !is_word("else") && !is_word("or") && !is_word("and");
      case token_kind::string:
      case token_kind::integer:
      case token_kind::real:
        return true;
      default:
        return is_sign("[") || is_sign("{");
    }
  }

  // -- statements --

  /// Statements up to a tag with one of these words, which is the current token then.
  block read_block(std::initializer_list<std::string_view> ends) {
    const level guard(*this);
    block made;
    for (;;) {
      const int line = now().line;
      switch (now().kind) {
        case token_kind::end:
          if (ends.size() > 0) unexpected("{% " + std::string(*(ends.end() - 1)) + " %}");
          check_calls();
          return made;
        case token_kind::data:
          made.push_back(
              {.kind = statement_kind::data, .line = line, .data = unmarked(take().text)});
          break;
        case token_kind::begin_output: {
          take();
          auto& to = made.emplace_back(statement{.kind = statement_kind::output, .line = line});
          to.expressions.push_back(read_tuple(true, false));
          if (now().kind != token_kind::end_output) unexpected("}}");
          take();
          break;
        }
        default:
          take();  // {%
          for (const auto end : ends)
            if (is_word(end)) return made;
          made.push_back(read_statement());
      }
    }
  }

  /// The statements of a tag, after its head, up to the tag that ends it, which is skipped.
  block read_body(std::initializer_list<std::string_view> ends) {
    skip_sign(":");
    expect_end_of_block();
    auto made = read_block(ends);
    return made;
  }
  void end_body() {
    take();
    expect_end_of_block();
  }

  statement read_statement() {
    const int line = now().line;
    const auto word = expect_name();
    statement made{.line = line};
    if (word == "if") {
      read_condition(made);
    } else if (word == "for") {
      read_loop(made);
    } else if (word == "set") {
      read_set(made);
    } else if (word == "macro") {
      read_macro(made);
    } else if (word == "generation") {
      made.kind = statement_kind::generation;
      made.bodies.push_back(read_body({"endgeneration"}));
      end_body();
    } else if (word == "with") {
      read_with(made);
    } else if (word == "filter") {
      made.kind = statement_kind::filtered;
      auto filter = read_filter(nullptr);
      while (is_sign("|")) filter = read_filter(std::move(filter));
      made.expressions.push_back(std::move(filter));
      made.bodies.push_back(read_body({"endfilter"}));
      end_body();
    } else if (word == "call") {
      read_call_block(made);
    } else if (word == "break" || word == "continue") {
      if (loops_ == 0) throw syntax_error(line, "expected " + word + " in a loop");
      made.kind = word == "break" ? statement_kind::leave : statement_kind::next;
      expect_end_of_block();
    } else {
      throw syntax_error(line, "the statement " + word + " isn't known");
    }
    return made;
  }

  void read_condition(statement& made) {
    made.kind = statement_kind::condition;
    for (;;) {
      made.expressions.push_back(read_tuple(false, false));
      made.bodies.push_back(read_body({"elif", "else", "endif"}));
      if (skip_word("elif")) continue;
      if (is_word("else")) {
        take();
        made.bodies.push_back(read_body({"endif"}));
      }
      return end_body();
    }
  }

  void read_loop(statement& made) {
    made.kind = statement_kind::loop;
    made.targets.push_back(read_target(false, "in"));
    if (!skip_word("in")) unexpected("in");
    made.expressions.push_back(read_tuple(false, false));
    made.expressions.push_back(skip_word("if") ? read_expression() : nullptr);
    if (is_word("recursive")) fail("a recursive loop isn't known");
    ++loops_;
    made.bodies.push_back(read_body({"else", "endfor"}));
    --loops_;
    if (skip_word("else")) made.bodies.push_back(read_body({"endfor"}));
    end_body();
  }

  void read_set(statement& made) {
    made.targets.push_back(read_target(true));
    if (skip_sign("=")) {
      made.kind = statement_kind::assignment;
      made.expressions.push_back(read_tuple(true, false));
      return expect_end_of_block();
    }
    made.kind = statement_kind::capture;
    expression_ptr filter;
    while (is_sign("|")) filter = read_filter(std::move(filter));
    made.expressions.push_back(std::move(filter));
    made.bodies.push_back(read_body({"endset"}));
    end_body();
  }

  void read_macro(statement& made) {
    made.kind = statement_kind::macro;
    made.definition = std::make_unique<macro_definition>();
    made.definition->name = expect_name();
    macros_.insert(made.definition->name);
    read_parameters(*made.definition);
    read_macro_body(*made.definition, "endmacro");
  }
  void read_parameters(macro_definition& made) {
    expect_sign("(");
    while (!is_sign(")")) {
      if (!made.parameters.empty()) expect_sign(",");
      auto name = expect_name();
      if (std::ranges::find(made.parameters, name) != made.parameters.end())
        fail("expected the parameter " + name + " once");
      assigned_.insert(name);
      made.parameters.push_back(std::move(name));
      if (skip_sign("=")) {
        made.defaults.push_back(read_expression());
      } else if (!made.defaults.empty()) {
        fail("expected a default for the parameter " + made.parameters.back());
      }
    }
    expect_sign(")");
  }
  void read_macro_body(macro_definition& made, std::string_view end) {
    const auto first = names_.size();
    const int loops = std::exchange(loops_, 0);
    made.body = read_body({end});
    loops_ = loops;
    end_body();
    const auto reads = [&](std::string_view name) {
      return std::find(names_.begin() + std::ptrdiff_t(first), names_.end(), name) != names_.end();
    };
    made.uses_varargs = reads("varargs");
    made.uses_kwargs = reads("kwargs");
    made.uses_caller = reads("caller");
  }

  void read_call_block(statement& made) {
    made.kind = statement_kind::call_block;
    made.definition = std::make_unique<macro_definition>();
    made.definition->name = "caller";
    if (is_sign("(")) read_parameters(*made.definition);
    auto call = read_expression();
    if (call->kind != expression_kind::call) fail("expected a call after {% call");
    made.expressions.push_back(std::move(call));
    read_macro_body(*made.definition, "endcall");
  }

  void read_with(statement& made) {
    made.kind = statement_kind::with;
    while (now().kind != token_kind::end_block && !is_sign(":")) {
      if (!made.targets.empty()) expect_sign(",");
      made.targets.push_back(make(expression_kind::name, now().line, {}, expect_name()));
      check_target(*made.targets.back());
      expect_sign("=");
      made.expressions.push_back(read_expression());
    }
    made.bodies.push_back(read_body({"endwith"}));
    end_body();
  }

  /// A called name is a macro, a function, or a variable of the template.
  void check_calls() const {
    for (const auto& [name, line] : called_) {
      if (is_function(name) || macros_.contains(name) || assigned_.contains(name)) continue;
      throw syntax_error(line, "the function " + name + " isn't known");
    }
  }

  struct called_name {
    std::string name;
    int line;
  };

  std::vector<token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;  // how many loops are around the current statement
  std::set<std::string, std::less<>> strings_;
  std::vector<std::string> names_;
  std::vector<called_name> called_;
  std::set<std::string, std::less<>> macros_, assigned_{"caller", "loop"};
};

}  // namespace

tree parse(std::string_view source) { return parser(source).run(); }

}  // namespace troupe::llm::jinja
