// What may be read and replaced, and what is left of writers that were killed.
#include "core/open_file.h"

#include <sys/stat.h>

#include <chrono>

#include "core/error.h"
#include "core/files.h"
#include "core/hash.h"
#include "support/catch.h"
#include "support/error_of.h"
#include "support/folder.h"

using namespace headprune;

TEST_CASE("a link is followed when what it names is written, and a FIFO is neither read nor replaced", "[core]") {
  const TestFolder folder;
  fs::create_directory(folder.path() / "real");
  fs::create_symlink("real/a", folder.path() / "link");
  for (const char* text : {"first", "second"}) {
    write_file(folder.path() / "link", text);
    CHECK(fs::is_symlink(folder.path() / "link"));
    CHECK(read_file(folder.path() / "real/a") == text);
  }
  fs::create_symlink("real", folder.path() / "models");
  FolderWriter model(folder.path() / "models");
  model.write("x", "y");
  model.commit();
  CHECK(fs::is_symlink(folder.path() / "models"));
  CHECK(read_file(folder.path() / "real/x") == "y");

  const fs::path fifo = folder.path() / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_THAT(error_of(ExitCode::usage, [&] { read_file(fifo); }), ContainsSubstring("fifo: it is a FIFO"));
  CHECK_THAT(error_of(ExitCode::usage, [&] { sha256_file(fifo); }), ContainsSubstring("fifo: it is a FIFO"));
  CHECK_THAT(error_of(ExitCode::usage, [&] { write_file(fifo, "x"); }), ContainsSubstring("a FIFO or a pipe is there"));
  FileBatch batch;
  batch.write(folder.path() / "fine", "x");
  CHECK_THAT(error_of(ExitCode::usage, [&] { batch.write(fifo, "x"); }),
             ContainsSubstring("a FIFO or a pipe is there"));
  CHECK_FALSE(fs::exists(folder.path() / "fine"));
  CHECK(fs::is_fifo(fifo));
}

TEST_CASE("a file of more bytes than its kind has is refused before it is read", "[core]") {
  const TestFolder folder;
  folder.write("a", "12345");
  CHECK(read_file_up_to(folder.path() / "a", 5) == "12345");
  CHECK(read_start(folder.path() / "a", 3) == "123");
  CHECK(read_start(folder.path() / "a", 9) == "12345");
  CHECK_THAT(error_of(ExitCode::run_failed, [&] { read_file_up_to(folder.path() / "a", 4); }),
             ContainsSubstring("more than 4 bytes"));
  CHECK_THAT(error_of(ExitCode::run_failed, [&] { read_file_up_to("/proc/self/status", 4); }),
             ContainsSubstring("more than 4 bytes"));
  fs::resize_file(folder.path() / "a", uint64_t{1} << 42);  // a hole
  CHECK_THAT(error_of(ExitCode::run_failed, [&] { read_file(folder.path() / "a"); }),
             ContainsSubstring("more than the memory that is free"));
}

TEST_CASE("temporary files of processes that were killed are removed by a later writer", "[core]") {
  const TestFolder folder;
  for (const char* name : {".tmp-999999999-0", ".tmp-999999998-0", ".tmp-1-0"}) {
    folder.write(name, "");
    if (name != std::string(".tmp-999999998-0"))
      fs::last_write_time(folder / name, fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  // This process has been in the folder already, and looks once; another one looks again.
  fs::create_directory(folder / "sub");
  fs::rename(folder / ".tmp-999999999-0", folder / "sub/.tmp-999999999-0");
  fs::rename(folder / ".tmp-999999998-0", folder / "sub/.tmp-999999998-0");
  fs::rename(folder / ".tmp-1-0", folder / "sub/.tmp-1-0");
  write_file(folder / "sub/a", "x");
  CHECK_FALSE(fs::exists(folder / "sub/.tmp-999999999-0"));
  CHECK(fs::exists(folder / "sub/.tmp-999999998-0"));  // may be another host's
  CHECK(fs::exists(folder / "sub/.tmp-1-0"));
}
