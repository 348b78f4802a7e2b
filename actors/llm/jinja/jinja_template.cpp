#include "actors/llm/jinja/jinja_template.hpp"

#include "actors/llm/jinja/evaluator.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::llm::jinja {

jinja_template::jinja_template(std::string_view source) {
  if (source.size() > template_bytes_max)
    throw template_error("expected a template of at most " + std::to_string(template_bytes_max) +
                         " bytes, got " + std::to_string(source.size()));
  if (!detail::is_utf8(source)) throw template_error("expected a template in UTF-8");
  try {
    tree_ = std::make_shared<const tree>(parse(source));
  } catch (const syntax_error& e) {
    throw template_error(e.what());
  }
}

text jinja_template::render(const dict& variables, const std::tm& date) const {
  int line = 1;
  machine run(date);
  try {
    return run_template(*tree_, variables, run, line);
  } catch (const run_error& e) {
    throw template_error("line " + std::to_string(line) + ": " + e.what());
  }
}

bool jinja_template::has_string(std::string_view of) const { return tree_->strings.contains(of); }
bool jinja_template::reads(std::string_view name) const { return tree_->names.contains(name); }

}  // namespace troupe::llm::jinja
