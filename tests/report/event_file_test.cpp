#include "report/tensorboard/event_file.h"

#include "core/hash.h"
#include "support/catch.h"

using namespace headprune;

namespace {

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    for (const int part : {static_cast<unsigned char>(c) >> 4, static_cast<unsigned char>(c) & 15})
      text += "0123456789abcdef"[part];
  }
  return text;
}

}  // namespace

// docs/formats.md section 10: the version and the scalar were checked with TensorBoard's own reader.
TEST_CASE("the records of an event file are byte for byte those that TensorBoard reads", "[event_file]") {
  const std::string version = "1800000000000000a37f4b220900000040fc54d9411a0d627261696e2e4576656e743a32eced8f9d";
  const std::string start = "0d000000000000003c37b8340900000040fc54d9413a020801b7a36b29";
  const std::string scalar =
      "2300000000000000b09f77430900004040fc54d941100a2a160a140a0d6576616c2f6163637572616379150000403f37c8d535";
  EventFile file(1700000000.0);
  CHECK(hex(file.bytes()) == version + start);
  file.scalar("eval/accuracy", {1700000001.0, 10}, 0.75);
  CHECK(hex(file.bytes()) == version + start + scalar);
}

// docs/formats.md section 10 again.
TEST_CASE("a process that goes on says from which step", "[event_file]") {
  EventFile file(1700000000.0);
  file.take();
  file.restart({1700000002.0, 6});
  CHECK(hex(file.bytes()) == "0f000000000000006d532b090900008040fc54d94110063a020801b37124dd");
  CHECK(file.take().size() == 31);
  CHECK(file.bytes().empty());
}

TEST_CASE("a scalar of zero is written, since it is a member of a oneof", "[event_file]") {
  EventFile file(1700000000.0);
  const size_t before = file.bytes().size();
  file.scalar("a", {1700000000.0, 0}, 0);
  CHECK_THAT(hex(file.bytes().substr(before)), ContainsSubstring("0a080a01611500000000"));
}

// The one-pixel red PNG, put together from the PNG and zlib specifications with Python's zlib.crc32 and zlib.adler32.
TEST_CASE("a PNG has the chunks and checksums that the format asks for", "[event_file]") {
  CHECK(hex(png_bytes({1, 1, {0xff0000}})) ==
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000f4944415478010104"
        "00fbff00ff0000030101008d1de5820000000049454e44ae426082");
}
