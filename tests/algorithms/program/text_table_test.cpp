#include "algorithms/program/text_table.hpp"

#include "tests/test.hpp"

namespace troupe::command {

TEST_CASE("text_table: a column is as wide as its widest cell") {
  CHECK(text_table({{"a", "bb", "c"}, {"aaa", "b", ""}}) == "  a    bb  c\n  aaa  b\n");
}

TEST_CASE("text_table: a cell that is too long goes on in its column, broken at spaces") {
  CHECK(text_table({{"name", "one two three", "x"}, {"n", "short", "y"}}, 8) ==
        "  name  one two  x\n"
        "        three\n"
        "  n     short    y\n");
  CHECK(text_table({{"a_name_without_spaces", "b c"}}, 4) == "  a_name_without_spaces  b c\n");
  CHECK(text_table({{"a long_word_then more", "b"}}, 4) ==
        "  a               b\n"
        "  long_word_then\n"
        "  more\n");
}

}  // namespace troupe::command
