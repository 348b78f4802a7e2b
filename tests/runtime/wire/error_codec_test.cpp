#include "runtime/wire/error_codec.hpp"

#include <functional>
#include <system_error>

#include "runtime/base/error.hpp"
#include "tests/runtime/wire/wire_values.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using wire_values::there_and_back;

class sold_out : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

template <class E>
std::exception_ptr made(E error) {
  return std::make_exception_ptr(std::move(error));
}

/// Comes back as exactly an E, and says the same.
template <class E>
void check_kept(E error) {
  const auto back = there_and_back(made(error));
  try {
    std::rethrow_exception(back);
  } catch (const std::exception& e) {
    CHECK(typeid(e) == typeid(E));
    CHECK(std::string(e.what()) == error.what());
  }
}

TEST_CASE("error codec: the standard library's exceptions keep type and text") {
  check_kept(std::invalid_argument("lr: expected > 0"));
  check_kept(std::out_of_range("row 7"));
  check_kept(std::domain_error("d"));
  check_kept(std::length_error("l"));
  check_kept(std::logic_error(""));
  check_kept(std::runtime_error("grüße"));
  check_kept(std::range_error("r"));
  check_kept(std::overflow_error("o"));
  check_kept(std::underflow_error("u"));
  check_kept(std::bad_alloc());
  check_kept(std::bad_function_call());
  check_kept(std::bad_optional_access());
  check_kept(fatal("half written"));
  check_kept(wire_error("int at byte 3"));
}

TEST_CASE("error codec: a call_error keeps kind and text, a role_error its cause") {
  check_kept(call_error(error_kind::service_down, "policy is down"));
  const auto back =
      there_and_back(made(role_error("policy[1]::act", made(std::out_of_range("row 7")))));
  try {
    std::rethrow_exception(back);
  } catch (const role_error& e) {
    CHECK(std::string(e.what()) == "role_error: policy[1]::act threw: row 7");
    CHECK_THROWS_AS(std::rethrow_exception(e.cause()), std::out_of_range);
    return;
  }
  FAIL("no role_error");
}

TEST_CASE("error codec: a system_error keeps code and text, also the second time") {
  const std::system_error thrown(ENOENT, std::generic_category(), "weights.bin");
  auto error = made(thrown);
  for (int crossing = 0; crossing < 2; ++crossing) error = there_and_back(error);
  try {
    std::rethrow_exception(error);
  } catch (const std::system_error& e) {
    CHECK(e.code() == thrown.code());
    CHECK(std::string(e.what()) == thrown.what());
    return;
  }
  FAIL("no system_error");
}

TEST_CASE("error codec: any other type arrives as a remote_error that names it") {
  auto error = made(sold_out("no more tickets"));
  for (int crossing = 0; crossing < 2; ++crossing) error = there_and_back(error);
  try {
    std::rethrow_exception(error);
  } catch (const remote_error& e) {
    CHECK(e.type() == "troupe::(anonymous namespace)::sold_out");
    CHECK(e.message() == "no more tickets");
    CHECK(std::string(e.what()) == e.type() + ": " + e.message());
  }
  CHECK(describe(there_and_back(made(7))) == "int: an exception that is not a std::exception");
  CHECK(there_and_back(std::exception_ptr()) == nullptr);
}

TEST_CASE("error codec: a text that is no UTF-8 is made one, a long one is cut") {
  CHECK(describe(there_and_back(made(std::runtime_error("a\xff"
                                                        "b")))) ==
        "a\xef\xbf\xbd"
        "b");
  const auto back = describe(there_and_back(made(std::runtime_error(std::string(1 << 20, 'x')))));
  CHECK(back.size() == (std::size_t{64} << 10) + 3);
}

TEST_CASE("error codec: of control characters only the ends of lines and tabs arrive") {
  const auto back = describe(there_and_back(made(std::runtime_error("\x1b]0;x\x07 a\n\tb\r"))));
  CHECK(back == "\\u001b]0;x\\u0007 a\n\tb\\u000d");
}

TEST_CASE("error codec: outcomes carry the value or the error") {
  CHECK(there_and_back(outcome<int>(7)).value() == 7);
  CHECK_THROWS_AS(there_and_back(outcome<int>(made(std::out_of_range("x")))).value(),
                  std::out_of_range);
  CHECK(there_and_back(outcome<void>()).ok());
  CHECK_THROWS_AS(there_and_back(outcome<void>(made(std::out_of_range("x")))).value(),
                  std::out_of_range);
}

}  // namespace
}  // namespace troupe
