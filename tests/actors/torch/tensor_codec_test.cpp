#include "actors/torch/tensor_codec.hpp"

#include <bit>
#include <limits>

#include "actors/torch/torch.hpp"
#include "actors/weights/weight_store.hpp"
#include "runtime/actor/splitmix.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;

at::Tensor there_and_back(const at::Tensor& tensor) {
  const auto bytes = detail::encode(tensor);
  return detail::decode<at::Tensor>(bytes.bytes());
}

std::string refusal(const detail::block& bytes) {
  return testing::message_of<wire_error>([&] { detail::decode<at::Tensor>(bytes.bytes()); });
}

/// Type, shape and every byte.
bool same(const at::Tensor& a, const at::Tensor& b) {
  const auto left = a.contiguous(), right = b.contiguous();
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         std::memcmp(left.data_ptr(), right.data_ptr(), left.nbytes()) == 0;
}

/// The bytes of a tensor that nobody has checked: what `write` would write for this.
template <class Data>
detail::block forged(std::uint8_t type, const std::vector<std::int64_t>& shape, const Data& data) {
  return detail::encode(std::tuple(true, type, shape, data));
}

TEST_CASE("tensor codec: every element type comes back with its shape and its bytes") {
  for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kBool, at::kByte,
                          at::kChar, at::kShort, at::kInt, at::kLong}) {
    const auto tensor = at::arange(-3, 21, at::kLong).reshape({2, 3, 4}).to(type);
    CHECK(same(there_and_back(tensor), tensor));
  }
}

TEST_CASE("tensor codec: floats keep their bits") {
  const std::vector<std::uint32_t> bits{0x7fc00000, 0x7f800001, 0xffc0beef, 0x7f800000,
                                        0xff800000, 0x80000000, 0x00000001, 0x807fffff};
  const auto tensor = at::empty({8}, at::kFloat);
  std::memcpy(tensor.data_ptr(), bits.data(), tensor.nbytes());
  CHECK(std::memcmp(there_and_back(tensor).data_ptr(), bits.data(), tensor.nbytes()) == 0);
}

TEST_CASE("tensor codec: scalars, empty and undefined tensors are what they were") {
  CHECK(there_and_back(at::full({}, 2.5)).item<double>() == 2.5);
  CHECK(there_and_back(at::empty({0})).sizes() == at::IntArrayRef{0});
  CHECK(there_and_back(at::empty({3, 0, 5})).sizes() == at::IntArrayRef({3, 0, 5}));
  CHECK_FALSE(there_and_back(at::Tensor()).defined());
}

TEST_CASE("tensor codec: what is no row-major memory arrives as such, without a gradient") {
  const auto rows = at::arange(12, at::kFloat).reshape({3, 4});
  const auto spread = at::ones({1, 4}).expand({3, 4});
  for (const auto& tensor : {rows.t(), rows.slice(1, 0, 4, 2), rows.select(0, 1), spread}) {
    const auto back = there_and_back(tensor);
    CHECK(back.is_contiguous());
    CHECK(same(back, tensor));
  }
  const auto learned = rows.clone().requires_grad_(true);
  CHECK_FALSE(there_and_back(learned).requires_grad());
  CHECK(same(there_and_back(learned), rows));
}

TEST_CASE("tensor codec: types that don't cross are named") {
  CHECK_THROWS_WITH(detail::encode(at::ones({2}, at::kComplexFloat)), Contains("ComplexFloat"));
  CHECK_THROWS_WITH(detail::encode(at::ones({2, 2}).to_sparse()), Contains("not dense"));
}

TEST_CASE("tensor codec: bad types, shapes and sizes are refused") {
  const std::vector<std::int64_t> none, two{2};
  const std::array<float, 2> data{1, 2};
  CHECK(refusal(forged(0, two, data)) == "");
  CHECK_THAT(refusal(forged(200, two, data)), Contains("no element type has number 200"));
  CHECK_THAT(refusal(forged(0, {-2}, data)), Contains("a dimension of -2"));
  CHECK_THAT(refusal(forged(0, {3}, data)), Contains("expected 12 bytes, 8 are left"));
  CHECK_THAT(refusal(forged(0, {1}, data)), Contains("4 bytes are left"));
  const auto large = std::int64_t{1} << 40;
  CHECK_THAT(refusal(forged(0, {large, large}, data)), Contains("its size overflows"));
  CHECK_THAT(refusal(forged(0, {0, large, large}, none)), Contains("its size overflows"));
  CHECK_THAT(refusal(forged(0, std::vector<std::int64_t>(65, 1), data)), Contains("65"));
  CHECK_THAT(refusal(forged(4, two, std::array<std::uint8_t, 2>{1, 2})), Contains("a bool"));
}

TEST_CASE("tensor codec: of a hundred thousand damaged messages each is refused or a tensor") {
  const auto whole = detail::encode(at::arange(12, at::kShort).reshape({3, 4}));
  std::uint64_t state = 1;
  int taken = 0, refused = 0;
  for (int i = 0; i < 100'000; ++i) {
    detail::block bytes(whole.size());
    std::memcpy(bytes.data(), whole.data(), whole.size());
    const auto at = detail::next_of(state) % bytes.size();
    bytes.data()[at] = static_cast<std::byte>(detail::next_of(state));
    try {
      detail::decode<at::Tensor>(bytes.bytes()).sum();
      ++taken;
    } catch (const wire_error&) {
      ++refused;
    }
  }
  CHECK(taken > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("tensor codec: weights cross as a whole") {
  const weights sent{7, at::arange(5, at::kFloat), "abc"};
  const auto bytes = detail::encode(sent);
  const auto back = detail::decode<weights>(bytes.bytes());
  CHECK(back.version == 7);
  CHECK(same(back.parameters, sent.parameters));
  CHECK(back.sha256 == "abc");
}

}  // namespace
}  // namespace troupe
