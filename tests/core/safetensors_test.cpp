#include "core/safetensors.h"

#include <filesystem>
#include <stdexcept>

#include "core/files.h"
#include "core/random.h"
#include "support/catch.h"

using namespace headprune;

namespace {

std::string file_of(const std::string& header, const std::string& data = "") {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i));
  return bytes + header + data;
}

/// Header of one F32 tensor "a".
std::string one(const std::string& shape, const std::string& offsets) {
  return R"({"a":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

/// Header of two F32 tensors of one element each.
std::string two(const std::string& first, const std::string& second) {
  return R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)" + first +
         R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + second + "}}";
}

std::string reason(const std::string& file) {
  try {
    parse_safetensors(file, "m.safetensors");
  } catch (const SafetensorsError& error) {
    CHECK(error.code() == ExitCode::run_failed);
    CHECK_THAT(error.what(), ContainsSubstring("m.safetensors: "));
    return error.reason();
  }
  return "accepted";
}

std::string unhex(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return bytes;
}

// Python: safetensors 0.8.0, numpy.save({"weight": f32 [[1,-2.5,0]], "bias": f32 [3], "ids": i64 [7,-1],
// "flags": [True,False,True], "scalar": f64 0.5}, metadata={"format":"pt"}). The Rust writer of that release puts I64
// before F64, as docs/formats.md section 5 says.
const std::string kGoldenHeader =
    R"({"__metadata__":{"format":"pt"},"ids":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},)"
    R"("scalar":{"dtype":"F64","shape":[],"data_offsets":[16,24]},)"
    R"("bias":{"dtype":"F32","shape":[1],"data_offsets":[24,28]},)"
    R"("weight":{"dtype":"F32","shape":[1,3],"data_offsets":[28,40]},)"
    R"("flags":{"dtype":"BOOL","shape":[3],"data_offsets":[40,43]}} )";
const std::string kGoldenData =
    unhex("0700000000000000ffffffffffffffff000000000000e03f000040400000803f000020c000000000010001");

std::vector<TensorBytes> golden_tensors() {
  return {{"weight", Dtype::F32, {1, 3}, unhex("0000803f000020c000000000")},
          {"flags", Dtype::BOOL, {3}, unhex("010001")},
          {"bias", Dtype::F32, {1}, unhex("00004040")},
          {"scalar", Dtype::F64, {}, unhex("000000000000e03f")},
          {"ids", Dtype::I64, {2}, unhex("0700000000000000ffffffffffffffff")}};
}

}  // namespace

TEST_CASE("the writer's bytes are those of the upstream writer", "[core]") {
  CHECK(safetensors_bytes(golden_tensors(), {}) == file_of(kGoldenHeader, kGoldenData));
}

TEST_CASE("metadata follows the format key and the header is padded to 8 bytes", "[core]") {
  const std::string bytes = safetensors_bytes({}, {{"headprune.mask_sha256", "m"}, {"headprune.experiment_id", "e"}});
  CHECK(bytes.substr(8) ==
        R"({"__metadata__":{"format":"pt","headprune.experiment_id":"e","headprune.mask_sha256":"m"}})"
        "      ");
  CHECK(bytes.size() % 8 == 0);
  CHECK(parse_safetensors(bytes, "m").metadata.at("headprune.experiment_id") == "e");
}

TEST_CASE("tensors are written by dtype, widest first, then by name", "[core]") {
  std::vector<TensorBytes> tensors;
  const std::vector<std::string> order = {"U64",  "I64", "F64", "C64", "F32", "U32", "I32",
                                          "BF16", "F16", "U16", "I16", "I8",  "U8",  "BOOL"};
  for (int i = 13; i >= 0; --i) {
    const auto dtype = static_cast<Dtype>(i);
    for (const char* name : {"z.", "a."}) {
      tensors.push_back({name + order[static_cast<size_t>(i)], dtype, {1}, std::string(dtype_bytes(dtype), 'x')});
    }
  }
  const auto header = parse_safetensors(safetensors_bytes(tensors, {}), "m");
  REQUIRE(header.tensors.size() == 28);
  for (size_t i = 0; i < 14; ++i) {
    CHECK(header.tensors[2 * i].name == "a." + order[i]);
    CHECK(header.tensors[2 * i + 1].name == "z." + order[i]);
    CHECK(to_string(header.tensors[2 * i].dtype) == order[i]);
  }
}

TEST_CASE("the writer refuses names and sizes that no reader would take", "[core]") {
  const TensorBytes good{"a", Dtype::F32, {1}, "1234"};
  CHECK_THROWS_AS(safetensors_bytes({good, good}, {}), std::logic_error);
  CHECK_THROWS_AS(safetensors_bytes({{"a", Dtype::F32, {2}, "1234"}}, {}), std::logic_error);
  CHECK_THROWS_AS(safetensors_bytes({{"__metadata__", Dtype::U8, {1}, "1"}}, {}), std::logic_error);
  CHECK_THROWS_AS(safetensors_bytes({{"\xFF", Dtype::U8, {1}, "1"}}, {}), std::logic_error);
}

TEST_CASE("the golden file of no tensors is read", "[core]") {
  const auto header = parse_safetensors(unhex("08000000000000007b7d202020202020"), "m");
  CHECK(header.tensors.empty());
  CHECK(header.metadata.empty());
  CHECK(header.data_start == 16);
}

TEST_CASE("rank 0, sizes of 0 and white space around the header are accepted", "[core]") {
  CHECK(reason(file_of(one("[]", "[0,4]"), "1234")) == "accepted");
  CHECK(reason(file_of(one("[0,3]", "[0,0]"))) == "accepted");
  CHECK(reason(file_of(" \t\r\n{} \t\r\n")) == "accepted");
  CHECK(reason(file_of(one("[1]", "[0,4]") + "   ", "1234")) == "accepted");
  // An empty tensor between others, whose name sorts after the tensor that starts where it does.
  const auto header = parse_safetensors(file_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                                                R"("z":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
                                                "12"),
                                        "m");
  REQUIRE(header.tensors.size() == 2);
  CHECK(header.tensors[0].name == "z");
  // Keys beyond the three are ignored, as upstream does.
  CHECK(reason(file_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"note":{}}})", "1")) == "accepted");
}

TEST_CASE("tensors in any order in the header are accepted when they fill the data", "[core]") {
  const auto header = parse_safetensors(file_of(two("[4,8]", "[0,4]"), "12345678"), "m");
  CHECK(header.tensors[0].name == "b");
  CHECK(header.tensors[1].begin == 4);
}

TEST_CASE("a file shorter than the length field is refused", "[core]") {
  CHECK(reason("") == "header_too_small");
  CHECK(reason("1234567") == "header_too_small");
}

TEST_CASE("a header above 100,000,000 bytes is refused before anything is allocated", "[core]") {
  CHECK(reason(unhex("01e1f50500000000") + "{}") == "header_too_large");       // 100,000,001
  CHECK(reason(unhex("ffffffffffffffff") + "{}") == "header_too_large");       // 2^64 - 1
  CHECK(reason(unhex("00e1f50500000000") + "{}") == "invalid_header_length");  // 100,000,000 is allowed
}

TEST_CASE("a header longer than the file is refused", "[core]") {
  CHECK(reason(unhex("0300000000000000") + "{}") == "invalid_header_length");
  CHECK(reason(unhex("0100000000000000")) == "invalid_header_length");
}

TEST_CASE("a header that is not UTF-8, not JSON or no object is refused", "[core]") {
  CHECK(reason(file_of("{\"\xFF\":1}")) == "invalid_header_non_utf8");
  CHECK(reason(file_of("{\"a\":}")) == "invalid_header_not_json");
  CHECK(reason(file_of("{}{}")) == "invalid_header_not_json");
  CHECK(reason(file_of(std::string("{}\0", 3))) == "invalid_header_not_json");
  CHECK(reason(file_of("{\"a\":" + std::string(200000, '['))) == "invalid_header_not_json");
  CHECK(reason(file_of("[]")) == "invalid_header_start");
  CHECK(reason(file_of("")) == "invalid_header_start");
  CHECK(reason(file_of("\x0B{}")) == "invalid_header_start");
}

TEST_CASE("a name that appears twice is refused", "[core]") {
  CHECK(reason(file_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                       R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                       "12")) == "duplicate_name");
  CHECK(reason(file_of(R"({"__metadata__":{"k":"1","k":"2"}})")) == "duplicate_name");
}

TEST_CASE("metadata other than text is refused", "[core]") {
  CHECK(reason(file_of(R"({"__metadata__":{"format":1}})")) == "invalid_metadata");
  CHECK(reason(file_of(R"({"__metadata__":[]})")) == "invalid_metadata");
  CHECK(reason(file_of(R"({"__metadata__":{"format":"pt"}})")) == "accepted");
}

TEST_CASE("dtypes that this program cannot hold are refused by name", "[core]") {
  for (const std::string dtype : {"F8_E4M3", "F8_E5M2", "F6_E2M3", "F4", "f32", "F128", ""}) {
    CHECK(reason(file_of(R"({"a":{"dtype":")" + dtype + R"(","shape":[1],"data_offsets":[0,1]}})", "1")) ==
          "unsupported_dtype");
  }
}

TEST_CASE("a tensor without its three parts in their types is refused", "[core]") {
  for (const char* tensor :
       {"1", "[]", R"({"shape":[1],"data_offsets":[0,1]})", R"({"dtype":"U8","data_offsets":[0,1]})",
        R"({"dtype":"U8","shape":[1]})", R"({"dtype":1,"shape":[1],"data_offsets":[0,1]})",
        R"({"dtype":"U8","shape":1,"data_offsets":[0,1]})", R"({"dtype":"U8","shape":[1],"data_offsets":{"0":1}})",
        R"({"dtype":"U8","shape":[1],"data_offsets":[0]})", R"({"dtype":"U8","shape":[1],"data_offsets":[0,1,1]})"}) {
    INFO(tensor);
    CHECK(reason(file_of(std::string("{\"a\":") + tensor + "}", "1")) == "invalid_tensor");
  }
}

TEST_CASE("a shape or an offset that is no whole number from 0 is refused", "[core]") {
  for (const char* shape : {"[-1]", "[1.0]", "[1e0]", "[\"1\"]", "[null]", "[true]", "[18446744073709551616]"}) {
    INFO(shape);
    CHECK(reason(file_of(one(shape, "[0,4]"), "1234")) == "invalid_number");
  }
  for (const char* offsets : {"[-1,3]", "[0,4.0]", "[0,\"4\"]", "[0,18446744073709551616]"}) {
    INFO(offsets);
    CHECK(reason(file_of(one("[1]", offsets), "1234")) == "invalid_number");
  }
}

TEST_CASE("a shape whose size overflows 64 bits is refused", "[core]") {
  CHECK(reason(file_of(one("[2,9223372036854775807]", "[0,4]"), "1234")) == "validation_overflow");
  CHECK(reason(file_of(one("[4294967296,4294967296]", "[0,4]"), "1234")) == "validation_overflow");
  CHECK(reason(file_of(one("[4611686018427387904]", "[0,4]"), "1234")) == "validation_overflow");  // times 4 bytes
  CHECK(reason(file_of(one("[18446744073709551615]", "[0,4]"), "1234")) == "validation_overflow");
  CHECK(reason(file_of(one("[0,4294967296,4294967296]", "[0,0]"))) == "validation_overflow");
}

TEST_CASE("offsets that run backwards or do not fit the shape are refused", "[core]") {
  CHECK(reason(file_of(one("[1]", "[4,0]"), "1234")) == "invalid_info");
  CHECK(reason(file_of(one("[1]", "[0,3]"), "123")) == "invalid_info");
  CHECK(reason(file_of(one("[2]", "[0,4]"), "1234")) == "invalid_info");
  CHECK(reason(file_of(one("[0]", "[0,4]"), "1234")) == "invalid_info");
}

TEST_CASE("overlaps and holes are refused", "[core]") {
  CHECK(reason(file_of(two("[0,4]", "[0,4]"), "1234")) == "invalid_offset");
  CHECK(reason(file_of(two("[0,4]", "[2,6]"), "123456")) == "invalid_offset");
  CHECK(reason(file_of(two("[0,4]", "[6,10]"), "1234567890")) == "invalid_offset");
  CHECK(reason(file_of(one("[1]", "[4,8]"), "12345678")) == "invalid_offset");
  // Many tensors on the same bytes (upstream's json_attack).
  std::string header = "{";
  for (int i = 0; i < 100; ++i) {
    header += "\"w" + std::to_string(i) + R"(":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)";
  }
  header.back() = '}';
  CHECK(reason(file_of(header, "1234")) == "invalid_offset");
}

TEST_CASE("missing and trailing data are refused", "[core]") {
  CHECK(reason(file_of(one("[1]", "[0,4]"), "123")) == "metadata_incomplete_buffer");
  CHECK(reason(file_of(one("[1]", "[0,4]"), "12345")) == "metadata_incomplete_buffer");
  CHECK(reason(file_of("{}", "1")) == "metadata_incomplete_buffer");
  CHECK(reason(file_of(one("[1073741824]", "[0,4294967296]"), "1234")) == "metadata_incomplete_buffer");
}

TEST_CASE("a file on disk gives back what was written", "[core]") {
  const auto path = std::filesystem::temp_directory_path() / "headprune-core-test.safetensors";
  write_file(path, safetensors_bytes(golden_tensors(), {{"k", "v"}}));
  const auto header = read_safetensors_header(path);
  CHECK(header.metadata == std::map<std::string, std::string>{{"format", "pt"}, {"k", "v"}});
  const auto tensors = read_safetensors(path);
  REQUIRE(tensors.size() == 5);
  for (const auto& expected : golden_tensors()) {
    const auto found = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const TensorBytes& tensor) { return tensor.name == expected.name; });
    REQUIRE(found != tensors.end());
    CHECK(found->dtype == expected.dtype);
    CHECK(found->shape == expected.shape);
    CHECK(found->bytes == expected.bytes);
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  CHECK_THROWS_AS(read_safetensors_header(path), SafetensorsError);
  CHECK_THROWS_AS(read_safetensors(path), SafetensorsError);
  std::filesystem::resize_file(path, 5);
  CHECK_THROWS_AS(read_safetensors_header(path), SafetensorsError);
  std::filesystem::remove(path);
  CHECK_THROWS_AS(read_safetensors(path), Error);
}

TEST_CASE("any change of a file is parsed or refused, never worse", "[core]") {
  const std::string golden = file_of(kGoldenHeader, kGoldenData);
  Random random(1, "fuzz");
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = golden.substr(0, random.below(4) == 0 ? random.below(golden.size()) : golden.size());
    for (uint64_t i = random.below(4); i > 0 && !bytes.empty(); --i) {
      // Mostly characters that mean something to JSON: they get further than random bytes.
      const std::string_view alphabet = "0123456789[]{}:,\"-e. \xFF";
      bytes[random.below(bytes.size())] = alphabet[random.below(alphabet.size())];
    }
    try {
      const auto header = parse_safetensors(bytes, "fuzz");
      for (const auto& tensor : header.tensors) REQUIRE(header.data_start + tensor.end <= bytes.size());
    } catch (const SafetensorsError&) {
      ++refused;
    }
  }
  CHECK(refused > 5000);
}
