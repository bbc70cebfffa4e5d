#include "core/files.h"

#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "core/error.h"
#include "core/hash.h"
#include "core/log.h"
#include "support/catch.h"
#include "support/error_of.h"
#include "support/folder.h"

using namespace headprune;

namespace {

/// A file system of 256 KiB, where a disk really becomes full. Needs the right to mount.
class SmallDisk {
 public:
  SmallDisk() : mounted_(::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=256k") == 0), error_(errno) {}
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool usable() const {
    if (!mounted_) WARN("skipped: cannot mount a tmpfs of 256 KiB: " << std::strerror(error_));
    return mounted_;
  }
  const fs::path& path() const { return folder_.path(); }
  std::vector<std::string> names() const { return folder_.names(); }

 private:
  TestFolder folder_;
  bool mounted_;
  int error_;
};

/// Files of this process may not grow above `bytes` meanwhile; the signal is ignored as the program does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  sighandler_t handler_;
  rlimit before_{};
};

template <class Work>
std::string io_error(Work work) {
  return error_of(ExitCode::io, work);
}

}  // namespace

TEST_CASE("a file is read back byte for byte", "[core]") {
  const TestFolder folder;
  std::string bytes(3 << 20, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 >> 3);
  write_file(folder.path() / "big", bytes);
  CHECK(read_file(folder.path() / "big") == bytes);
  write_file(folder.path() / "empty", "");
  CHECK(read_file(folder.path() / "empty").empty());
  CHECK_FALSE(read_file("/proc/self/status").empty());  // says that it has 0 bytes
}

TEST_CASE("a file that cannot be read is a usage error with path and reason", "[core]") {
  const TestFolder folder;
  for (const auto& [path, reason] :
       {std::pair{folder.path() / "none", "No such file or directory"}, std::pair{folder.path(), "Is a directory"}}) {
    try {
      read_file(path);
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::usage);
      CHECK(error.what() == "cannot read " + path.string() + ": " + reason);
    }
  }
}

TEST_CASE("write_file replaces a file, leaves nothing beside it and honours the umask", "[core]") {
  const TestFolder folder;
  const fs::path path = folder.path() / "a.txt";
  write_file(path, "old");
  write_file(path, "new", Sync::no);
  CHECK(read_file(path) == "new");
  CHECK(folder.names() == std::vector<std::string>{"a.txt"});
  const mode_t mask = ::umask(0);
  ::umask(mask);
  struct stat status = {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777u) == (0666u & ~mask));
}

TEST_CASE("write_file into a folder that is missing, or over a folder, says so and leaves nothing", "[core]") {
  const TestFolder folder;
  CHECK_THAT(io_error([&] { write_file(folder.path() / "none" / "a", "x"); }),
             ContainsSubstring("none/a: No such file or directory (needs 1 bytes, "));
  fs::create_directory(folder.path() / "sub");
  CHECK_THAT(error_of(ExitCode::usage, [&] { write_file(folder.path() / "sub", "x"); }),
             ContainsSubstring("sub: a folder is there, and only a regular file is replaced"));
  CHECK(folder.names() == std::vector<std::string>{"sub"});
}

TEST_CASE("a full disk keeps the old file, leaves no temporary and tells the bytes", "[core]") {
  const SmallDisk disk;
  if (!disk.usable()) return;
  const fs::path path = disk.path() / "a.bin";
  write_file(path, "old");
  const std::string big(1 << 20, 'x');
  const std::string text = io_error([&] { write_file(path, big); });
  CHECK_THAT(text, ContainsSubstring("cannot write " + path.string() + ": No space left on device"));
  CHECK_THAT(text, ContainsSubstring("needs 1048576 bytes, "));
  CHECK_THAT(text, ContainsSubstring(" bytes free)"));
  CHECK(read_file(path) == "old");
  CHECK(disk.names() == std::vector<std::string>{"a.bin"});
  write_file(path, "new");  // there is space again
  CHECK(read_file(path) == "new");
}

TEST_CASE("a full disk while a folder is written keeps the old folder", "[core]") {
  const SmallDisk disk;
  if (!disk.usable()) return;
  {
    FolderWriter writer(disk.path() / "model");
    writer.write("a", "old");
    writer.commit();
  }
  const std::string text = io_error([&] {
    FolderWriter writer(disk.path() / "model");
    writer.write("a", "new");
    writer.write("b", std::string(1 << 20, 'x'));
    writer.commit();
  });
  CHECK_THAT(text, ContainsSubstring("model/b: No space left on device"));
  CHECK(disk.names() == std::vector<std::string>{"model"});
  CHECK(read_file(disk.path() / "model" / "a") == "old");
  CHECK(verify_manifest(disk.path() / "model").empty());
}

TEST_CASE("a full disk costs lines of log.txt and nothing else", "[core]") {
  const SmallDisk disk;
  if (!disk.usable()) return;
  set_log_level(LogLevel::off);
  log_to_file(disk.path() / "log.txt");
  const std::string line(10000, 'x');
  for (int i = 0; i < 100; ++i) CHECK_NOTHROW(log_info("[test] {}", line));
  log_to_file({});
  set_log_level(LogLevel::info);
  CHECK(fs::file_size(disk.path() / "log.txt") > 100000);
}

TEST_CASE("a file size limit keeps the old file and names the limit", "[core]") {
  const TestFolder folder;
  const fs::path path = folder.path() / "a.bin";
  write_file(path, "old");
  const FileSizeLimit limit(64 << 10);
  // The limit lies inside the text: the first write is short, the next one fails.
  const std::string text = io_error([&] { write_file(path, std::string(100 << 10, 'x')); });
  CHECK_THAT(text, ContainsSubstring("File too large (needs 102400 bytes, "));
  CHECK_THAT(text, ContainsSubstring("ulimit -f"));
  CHECK(read_file(path) == "old");
  CHECK(folder.names() == std::vector<std::string>{"a.bin"});
}

TEST_CASE("free bytes are those of the nearest existing folder", "[core]") {
  const SmallDisk disk;
  if (!disk.usable()) return;
  const uint64_t free = bytes_free(disk.path());
  CHECK(free > 0);
  CHECK(free <= 256 << 10);
  CHECK(bytes_free(disk.path() / "not" / "yet") == free);
  write_file(disk.path() / "a", std::string(64 << 10, 'x'));
  CHECK(bytes_free(disk.path()) + (64 << 10) <= free);
  CHECK(bytes_free("relative-and-missing") > 0);
}

TEST_CASE("folders are made with their parents", "[core]") {
  const TestFolder folder;
  make_folders(folder.path() / "a" / "b");
  make_folders(folder.path() / "a" / "b");
  CHECK(fs::is_directory(folder.path() / "a" / "b"));
  sync_folder(folder.path() / "a");
  write_file(folder.path() / "file", "x");
  CHECK_THAT(io_error([&] { make_folders(folder.path() / "file" / "c"); }),
             ContainsSubstring("file/c: Not a directory"));
  CHECK_THAT(io_error([&] { sync_folder(folder.path() / "none"); }), ContainsSubstring("No such file"));
}

TEST_CASE("a batch replaces its files at commit, and nothing without one", "[core]") {
  const TestFolder folder;
  folder.write("a", "old");
  {
    FileBatch files;
    files.write(folder / "a", "new");
    files.write(folder / "b", "new");
    CHECK(read_file(folder / "a") == "old");
    CHECK_FALSE(fs::exists(folder / "b"));
  }
  CHECK(folder.names() == std::vector<std::string>{"a"});
  FileBatch files;
  files.write(folder / "a", "new");
  files.write(folder / "b", "also");
  CHECK_THAT(io_error([&] { files.write(folder / "none/c", ""); }), ContainsSubstring("none/c"));
  files.write(folder / "a", "newer");
  CHECK_THROWS_AS(files.commit(), Error);  // what could not be written is not forgotten
  CHECK(read_file(folder / "a") == "old");
  FileBatch again;
  again.write(folder / "a", "newer");
  again.write(folder / "b", "also");
  again.commit();
  CHECK(read_file(folder / "a") == "newer");
  CHECK(read_file(folder / "b") == "also");
}

TEST_CASE("a folder appears at commit with a manifest that verifies", "[core]") {
  const TestFolder folder;
  const fs::path target = folder.path() / "deep" / "model";
  CHECK_THAT(io_error([&] { FolderWriter early(target); }), ContainsSubstring("cannot make the folder"));
  make_folders(target.parent_path());
  FolderWriter writer(target);
  writer.write("b.txt", "abc");
  writer.write("a.txt", "");
  CHECK_FALSE(fs::exists(target));
  const std::string digest = writer.commit();
  CHECK(digest == sha256_file(target / "manifest.json"));
  CHECK(verify_manifest(target).empty());
  CHECK(parse_json(read_file(target / "manifest.json"), "m") ==
        Json::parse(R"({"schema_version":1,"files":[{"name":"b.txt","bytes":3,)"
                    R"("sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},)"
                    R"({"name":"a.txt","bytes":0,)"
                    R"("sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}]})"));
  CHECK(std::distance(fs::directory_iterator(folder.path() / "deep"), {}) == 1);
}

TEST_CASE("commit replaces an older folder whole", "[core]") {
  const TestFolder folder;
  for (const char* name : {"old.txt", "new.txt"}) {
    FolderWriter writer(folder.path() / "model");
    writer.write(name, name);
    writer.commit();
  }
  CHECK(folder.names() == std::vector<std::string>{"model"});
  CHECK(fs::exists(folder.path() / "model" / "new.txt"));
  CHECK_FALSE(fs::exists(folder.path() / "model" / "old.txt"));
}

TEST_CASE("a folder that is not committed leaves nothing", "[core]") {
  const TestFolder folder;
  {
    FolderWriter writer(folder.path() / "model");
    writer.write("a", "x");
  }
  CHECK(folder.names().empty());
  FolderWriter writer(folder.path() / "model");
  CHECK_THROWS_AS(writer.write("../a", "x"), std::logic_error);
  CHECK_THROWS_AS(writer.write("b/../../a", "x"), std::logic_error);
  CHECK_THROWS_AS(writer.write("/a", "x"), std::logic_error);
  CHECK_THROWS_AS(writer.write("b/", "x"), std::logic_error);
  CHECK_THROWS_AS(writer.write("", "x"), std::logic_error);
  CHECK_THROWS_AS(writer.write("manifest.json", "x"), std::logic_error);
  writer.write("a", "x");
  CHECK_THAT(io_error([&] { writer.write("a", "x"); }), ContainsSubstring("File exists"));
}

TEST_CASE("a folder may have folders inside", "[core]") {
  const TestFolder folder;
  const fs::path target = folder.path() / "logs";
  FolderWriter writer(target);
  writer.write("a", "1");
  writer.write("seed-1/a", "2");
  writer.commit();
  CHECK(read_file(target / "seed-1/a") == "2");
  CHECK(verify_manifest(target).empty());
  write_file(target / "seed-1/a", "3");
  CHECK_THAT(verify_manifest(target), ContainsSubstring("seed-1/a has changed"));
}

TEST_CASE("a folder that changed after its commit does not verify", "[core]") {
  const TestFolder folder;
  const fs::path target = folder.path() / "model";
  FolderWriter writer(target);
  writer.write("a", "abc");
  writer.commit();
  write_file(target / "a", "abd");
  CHECK_THAT(verify_manifest(target), ContainsSubstring("a has changed: wrong SHA-256"));
  write_file(target / "a", "ab");
  CHECK_THAT(verify_manifest(target), ContainsSubstring("a has 2 bytes instead of 3"));
  fs::remove(target / "a");
  CHECK_THAT(verify_manifest(target), ContainsSubstring("No such file"));
  for (const char* manifest : {"{", "[]", "{}", R"({"schema_version":1})", R"({"schema_version":1,"files":[1]})",
                               R"({"schema_version":1,"files":[{"name":"../a","bytes":0,"sha256":""}]})"}) {
    INFO(manifest);
    write_file(target / "manifest.json", manifest);
    CHECK_THAT(verify_manifest(target), ContainsSubstring("manifest.json"));
  }
  fs::remove(target / "manifest.json");
  CHECK_THAT(verify_manifest(target), ContainsSubstring("manifest.json: No such file"));
}

TEST_CASE("leftovers of interrupted writes are removed, other files stay", "[core]") {
  const TestFolder folder;
  write_file(folder.path() / "keep.txt", "x");
  write_file(folder.path() / ".tmp-12-3", "x");
  make_folders(folder.path() / "checkpoint-000200.tmp-77" / "sub");
  make_folders(folder.path() / "model");
  make_folders(folder.path() / "model.tmp-old-77");
  remove_temporaries(folder.path());
  CHECK(folder.names() == std::vector<std::string>{"keep.txt", "model"});
  remove_temporaries(folder.path() / "none");
}

TEST_CASE("a folder that was set aside when the program died comes back", "[core]") {
  const TestFolder folder;
  make_folders(folder.path() / "model.tmp-old-77");
  write_file(folder.path() / "model.tmp-old-77" / "a", "old");
  make_folders(folder.path() / "model.tmp-77");
  remove_temporaries(folder.path());
  CHECK(folder.names() == std::vector<std::string>{"model"});
  CHECK(read_file(folder.path() / "model" / "a") == "old");
}
