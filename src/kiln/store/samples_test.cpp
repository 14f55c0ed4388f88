#include "kiln/store/samples.h"

#include <gtest/gtest.h>
#include <random>

namespace kiln::store {
namespace {

std::span<const uint8_t> bytesOf(const std::string &blob) {
  return {reinterpret_cast<const uint8_t *>(blob.data()), blob.size()};
}

// The same numbers in every run.
std::mt19937_64 generator(uint64_t seed) {
  return std::mt19937_64(seed);
}

void expectSame(const Samples &samples) {
  std::string blob = encodeSamples(samples);
  Result<Samples> decoded = decodeSamples(bytesOf(blob));
  ASSERT_TRUE(decoded.ok()) << decoded.status().toString();
  EXPECT_EQ(*decoded, samples);
}

TEST(Samples, ComeBackAsTheyWere) {
  expectSame({});
  expectSame({{0}, {}, {}});
  expectSame({{62100, 62099, 70000}, {60000, 60000, 61000}, {2100, 2099, 9000}});
  expectSame({{INT64_MAX, INT64_MIN, 0, -1, 1, INT64_MIN, INT64_MAX}, {}, {5}});
  std::mt19937_64 random = generator(1);
  Samples samples;
  for (int i = 0; i < 1000; ++i)
    samples.call.push_back(static_cast<int64_t>(random() >> (random() % 64)));
  expectSame(samples);
}

// The format is documented for readers in other languages: these bytes are the contract.
TEST(Samples, BytesAreAsDocumented) {
  std::string blob = encodeSamples({{100, 99, 300}, {}, {-1}});
  EXPECT_EQ(blob, std::string("\x01"
                              "\x03\xC8\x01\x01\x92\x03" // 3 values: +100 -> 200, -1 -> 1, +201 -> 402
                              "\x00"
                              "\x01\x01",
                              10));
}

TEST(Samples, TimesOfMicrosecondsTakeTwoBytes) {
  Samples samples;
  for (int i = 0; i < 1000; ++i)
    samples.call.push_back(62000 + i % 50);
  EXPECT_LT(encodeSamples(samples).size(), 2200U);
}

TEST(Samples, EveryTruncationIsFound) {
  std::string blob = encodeSamples({{62100, 62099, 70000}, {60000, 60000, 61000}, {2100, 2099, 9000}});
  for (size_t length = 0; length < blob.size(); ++length) {
    Result<Samples> decoded = decodeSamples(bytesOf(blob).first(length));
    ASSERT_FALSE(decoded.ok()) << length;
    EXPECT_EQ(decoded.status().code(), StatusCode::DataLoss);
  }
  EXPECT_FALSE(decodeSamples(bytesOf(blob + "x")).ok());
}

TEST(Samples, HostileBytesAreErrors) {
  // A count of 2^63 asks for no memory; a number of more than 64 bits is none; format 3 is unknown.
  EXPECT_FALSE(decodeSamples(bytesOf("\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F")).ok());
  EXPECT_FALSE(decodeSamples(bytesOf("\x01\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02")).ok());
  Result<Samples> other = decodeSamples(bytesOf("\x03"));
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.status().message().find("format 3"), std::string::npos);
  std::mt19937_64 random = generator(7);
  for (int i = 0; i < 20000; ++i) {
    std::string blob(1, '\x01');
    for (size_t n = random() % 40; n > 0; --n)
      blob.push_back(static_cast<char>(random()));
    Result<Samples> decoded = decodeSamples(bytesOf(blob));
    EXPECT_EQ(decoded.status().code(), decoded.ok() ? StatusCode::Ok : StatusCode::DataLoss);
  }
}

TEST(Samples, WatchedCallsComeBack) {
  Samples samples;
  samples.call = {4};
  samples.watched = {{"t", 1000, {}, {2}, {6}}, {5}};
  std::string blob = encodeSamples(samples);
  // As docs/store.md has it, and as the reader in Python is tested with.
  EXPECT_EQ(blob, std::string("\x02\x01\x08\x00\x00\x01t\xe8\x07\x01\x0a\x00\x01\x04\x01\x0c", 16));
  auto bytes = std::span(reinterpret_cast<const uint8_t *>(blob.data()), blob.size());
  Result<Samples> read = decodeSamples(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, samples);
  for (size_t length = 0; length < blob.size(); ++length)
    EXPECT_FALSE(decodeSamples(bytes.first(length)).ok()) << length;
  samples.watched.ended.clear(); // what does not belong together
  blob = encodeSamples(samples);
  EXPECT_FALSE(decodeSamples(std::span(reinterpret_cast<const uint8_t *>(blob.data()), blob.size())).ok());
}

} // namespace
} // namespace kiln::store
