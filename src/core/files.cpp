#include "core/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/leftovers.h"
#include "core/open_file.h"
#include "core/text.h"

namespace headprune {
namespace {

std::string reason_text(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail_write(const fs::path& path, int error, size_t needed) {
  std::error_code ignored;
  const auto advice = [error] {
    switch (error) {
      case ENOSPC:
        return "; free some space and run the same command again";
      case EDQUOT:
        return "; the disk quota is used up: free some space and run the same command again";
      case EFBIG:
        return "; the file size limit is too low: raise it (ulimit -f) and run the same command again";
      case EMFILE:
      case ENFILE:
        return "; raise the number of open files (ulimit -n) and run the same command again";
      default:
        return "";
    }
  };
  uint64_t available = 0;
  try {
    available = bytes_free(path);
  } catch (const Error&) {
    // The first failure is the one to tell; its file system may be gone altogether.
  }
  fail(ExitCode::io, "cannot write {}: {} (needs {} bytes, {} bytes free){}", path.string(), reason_text(error), needed,
       available, advice());
}

}  // namespace

namespace detail {

/// An open file that is closed and, until keep() is called, deleted again. In a named namespace since FileBatch has it.
class NewFile {
 public:
  /// Fails with `error() != 0`; EEXIST when the name is taken.
  explicit NewFile(const fs::path& path)
      : path_(path), file_(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666)) {
    if (file_ < 0) error_ = errno;
  }
  ~NewFile() {
    if (file_ >= 0) ::close(file_);
    if (created() && !kept_) ::unlink(path_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  bool created() const { return created_; }
  int error() const { return error_; }
  void keep() { kept_ = true; }

  /// Writes everything, syncs and closes; the first error stays in error().
  void fill(std::string_view bytes, Sync sync) {
    write(bytes);
    finish(sync);
  }

  void write(std::string_view bytes) {
    while (error_ == 0 && !bytes.empty()) {
      const ssize_t count = ::write(file_, bytes.data(), bytes.size());
      if (count > 0) {
        bytes.remove_prefix(static_cast<size_t>(count));
      } else if (count == 0) {
        error_ = ENOSPC;  // no progress and no reason: never loop for ever
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
  }

  /// Lets the disk begin; finish() waits for it.
  void begin_sync() const { ::sync_file_range(file_, 0, 0, SYNC_FILE_RANGE_WRITE); }

  void finish(Sync sync) {
    if (error_ == 0 && sync == Sync::yes && ::fsync(file_) != 0) error_ = errno;
    // Network file systems report a full disk here. After EINTR the descriptor is closed all the same.
    const int file = std::exchange(file_, -1);
    if (::close(file) != 0 && errno != EINTR && error_ == 0) error_ = errno;
  }

 private:
  fs::path path_;
  int file_;
  bool created_ = file_ >= 0;
  bool kept_ = false;
  int error_ = 0;
};

}  // namespace detail

namespace {

using detail::NewFile;

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// Where a write to `path` ends, links followed, also those that lead to nothing yet. What is there must be of the type
/// that is written: a device, a FIFO or a socket is not ours to replace.
fs::path write_target(const fs::path& path, mode_t type) {
  constexpr int kMostLinks = 40;  // Linux's own
  fs::path target = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    struct stat status = {};
    if (::lstat(target.c_str(), &status) != 0) return target;  // absent, or the write says why it cannot be looked at
    if (!S_ISLNK(status.st_mode)) {
      if ((status.st_mode & S_IFMT) == type) return target;
      fail(ExitCode::usage, "cannot write {}: {} is there, and only {} is replaced; name another path", path.string(),
           file_kind(status.st_mode), file_kind(type));
    }
    std::error_code error;
    const fs::path next = fs::read_symlink(target, error);
    if (error) fail(ExitCode::usage, "cannot write {}: {}", path.string(), error.message());
    target = next.is_absolute() ? next : folder_of(target) / next;
  }
  fail(ExitCode::usage, "cannot write {}: {}", path.string(), reason_text(ELOOP));
}

/// A name that no other file has: the process id keeps processes apart, the counter writes of one process.
fs::path temporary_name(const fs::path& path) {
  static std::atomic<uint64_t> counter{0};
  return folder_of(path) / fmt::format(".tmp-{}-{}", ::getpid(), counter++);
}

/// A name that no file has. A crashed process with this process id may have left some.
fs::path free_temporary_name(const fs::path& path) {
  remove_abandoned_files(folder_of(path));
  fs::path temporary = temporary_name(path);
  while (fs::exists(fs::symlink_status(temporary))) temporary = temporary_name(path);
  return temporary;
}

/// Writes a file that must not exist yet; on failure nothing is left. `shown` is the name for the error.
void create_file(const fs::path& path, std::string_view bytes, const fs::path& shown) {
  NewFile file(path);
  if (file.error() == 0) file.fill(bytes, Sync::yes);
  if (file.error() != 0) fail_write(shown, file.error(), bytes.size());
  file.keep();
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

/// Plain names joined by '/': a path that stays inside its folder.
bool is_inner_path(const std::string& name) {
  const std::vector<std::string_view> parts = split(name, '/');
  return std::all_of(parts.begin(), parts.end(),
                     [](std::string_view part) { return is_plain_name(std::string(part)); });
}

constexpr const char* kManifest = "manifest.json";
constexpr const char* kAside = ".tmp-old-";
constexpr const char* kBeside = ".tmp-";

}  // namespace

fs::path program_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

std::string read_file(const fs::path& path) { return read_file_up_to(path, std::numeric_limits<uint64_t>::max()); }

void write_file(const fs::path& to, std::string_view bytes, Sync sync) {
  const fs::path path = write_target(to, S_IFREG);
  const fs::path temporary = free_temporary_name(path);
  NewFile file(temporary);
  if (file.error() == 0) file.fill(bytes, sync);
  if (file.error() != 0) fail_write(path, file.error(), bytes.size());
  if (::rename(temporary.c_str(), path.c_str()) != 0) fail_write(path, errno, bytes.size());
  file.keep();
  if (sync == Sync::yes) sync_folder(folder_of(path));
}

struct FileBatch::Pending {
  Pending(const fs::path& to, size_t size)
      : path(write_target(to, S_IFREG)), temporary(free_temporary_name(path)), file(temporary), bytes(size) {}
  fs::path path, temporary;
  detail::NewFile file;
  size_t bytes;
};

FileBatch::FileBatch() = default;
FileBatch::~FileBatch() = default;

void FileBatch::write(const fs::path& path, std::string_view bytes) {
  Pending& pending = *pending_.emplace_back(std::make_unique<Pending>(path, bytes.size()));
  if (pending.file.error() == 0) pending.file.write(bytes);
  if (pending.file.error() != 0) fail_write(path, pending.file.error(), bytes.size());
  pending.file.begin_sync();
}

void FileBatch::commit() {
  for (const auto& pending : pending_) {
    pending->file.finish(Sync::yes);
    if (pending->file.error() != 0) fail_write(pending->path, pending->file.error(), pending->bytes);
  }
  std::set<fs::path> folders;
  for (const auto& pending : pending_) {
    if (::rename(pending->temporary.c_str(), pending->path.c_str()) != 0)
      fail_write(pending->path, errno, pending->bytes);
    pending->file.keep();
    folders.insert(folder_of(pending->path));
  }
  pending_.clear();
  for (const fs::path& folder : folders) sync_folder(folder);
}

void make_folder(const fs::path& path) {
  if (::mkdir(path.c_str(), 0777) != 0 && !(errno == EEXIST && fs::is_directory(path)))
    fail(ExitCode::io, "cannot make the folder {}: {}", path.string(), reason_text(errno));
}

void make_folders(const fs::path& path) {
  std::error_code error;
  if (const fs::file_status there = fs::status(path, error); fs::exists(there) && !fs::is_directory(there))
    fail(ExitCode::usage, "cannot make the folder {}: something else than a folder is there; name another",
         path.string());
  fs::create_directories(path, error);
  if (error) fail(ExitCode::io, "cannot make the folder {}: {}", path.string(), error.message());
}

void sync_folder(const fs::path& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int error = folder < 0 ? errno : 0;
  // Some file systems cannot sync folders and say EINVAL; there is nothing more to do on them.
  if (error == 0 && ::fsync(folder) != 0 && errno != EINVAL) error = errno;
  if (folder >= 0) ::close(folder);
  if (error != 0) fail(ExitCode::io, "cannot sync the folder {}: {}", path.string(), reason_text(error));
}

uint64_t bytes_free(const fs::path& path) {
  struct statvfs status = {};
  fs::path existing = path.empty() ? fs::path(".") : path;
  while (::statvfs(existing.c_str(), &status) != 0) {
    const int error = errno;
    const fs::path parent = folder_of(existing);
    if ((error != ENOENT && error != ENOTDIR) || parent == existing) {
      fail(ExitCode::io, "cannot tell the free space of {}: {}", path.string(), reason_text(error));
    }
    existing = parent;
  }
  return static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
}

FolderWriter::FolderWriter(fs::path target) : target_(std::move(target)) {
  if (!target_.has_filename()) target_ = target_.parent_path();  // "model/" means "model"
  target_ = write_target(target_, S_IFDIR);
  remove_abandoned_folders(target_);
  temporary_ = target_;
  temporary_ += fmt::format("{}{}", kBeside, ::getpid());
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);
  make_folder(temporary_);
}

FolderWriter::~FolderWriter() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(temporary_, ignored);
}

void FolderWriter::write(const std::string& name, std::string_view bytes) {
  if (!is_inner_path(name) || name == kManifest) throw std::logic_error("FolderWriter: bad file name " + name);
  const fs::path inner = (temporary_ / name).parent_path();
  if (inner != temporary_) make_folders(inner);
  create_file(temporary_ / name, bytes, target_ / name);
  files_.push_back({{"name", name}, {"bytes", bytes.size()}, {"sha256", sha256(bytes)}});
}

std::string FolderWriter::commit() {
  if (committed_) throw std::logic_error("FolderWriter: committed twice");
  const std::string manifest = dump_json_file({{"schema_version", 1}, {"files", files_}});
  create_file(temporary_ / kManifest, manifest, target_ / kManifest);
  for (const auto& entry : fs::recursive_directory_iterator(temporary_)) {
    if (entry.is_directory()) sync_folder(entry.path());
  }
  sync_folder(temporary_);
  fs::path aside = target_;
  aside += fmt::format("{}{}", kAside, ::getpid());
  std::error_code ignored;
  const bool replaces = fs::exists(fs::symlink_status(target_));
  if (replaces) fs::remove_all(aside, ignored);
  if (replaces && ::rename(target_.c_str(), aside.c_str()) != 0) fail_write(target_, errno, manifest.size());
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    if (replaces) fs::rename(aside, target_, ignored);
    fail_write(target_, error, manifest.size());
  }
  committed_ = true;
  sync_folder(folder_of(target_));
  if (replaces) fs::remove_all(aside, ignored);
  return sha256(manifest);
}

bool is_manifest(const fs::path& folder) {
  if (!fs::is_regular_file(folder / kManifest)) return false;
  const Json manifest =
      Json::parse(read_file_up_to(folder / kManifest, kMaxJsonFile), nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object() || !manifest.contains("schema_version") || !manifest.contains("files")) return false;
  const Json& files = manifest["files"];
  return files.is_array() && std::all_of(files.begin(), files.end(), [](const Json& file) {
           return file.is_object() && file.contains("name") && file.contains("bytes") && file.contains("sha256");
         });
}

std::string verify_manifest(const fs::path& folder) {
  const std::string where = (folder / kManifest).string();
  try {
    const Json manifest = read_json(folder / kManifest);
    if (!manifest.is_object() || !manifest.contains("schema_version") || !manifest.contains("files") ||
        !manifest["files"].is_array())
      return fmt::format("{} is not a manifest", where);
    if (manifest["schema_version"] != 1) return fmt::format("{} is of a newer version", where);
    for (const Json& entry : manifest["files"]) {
      const auto has = [&](const char* key, auto is) { return entry.contains(key) && (entry[key].*is)(); };
      if (!entry.is_object() || !has("name", &Json::is_string) || !has("bytes", &Json::is_number_unsigned) ||
          !has("sha256", &Json::is_string))
        return fmt::format("{} is not a manifest: a file in it has no name, bytes and sha256", where);
      const std::string name = entry["name"];
      if (!is_inner_path(name)) return fmt::format("{} names \"{}\"", where, name);
      const fs::path path = folder / name;
      std::error_code error;
      const uint64_t bytes = fs::file_size(path, error), expected = entry["bytes"];
      if (error) return fmt::format("{}: {}", path.string(), error.message());
      if (bytes != expected) return fmt::format("{} has {} bytes instead of {}", path.string(), bytes, expected);
      if (sha256_file(path) != entry["sha256"]) return fmt::format("{} has changed: wrong SHA-256", path.string());
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void remove_temporaries(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.find(".tmp-") == std::string::npos) continue;
    // A crash between the two renames of commit(): the old folder was set aside and the new one not yet put in place.
    const size_t aside = name.find(kAside);
    std::error_code ignored;
    if (aside != std::string::npos && aside > 0 && !fs::exists(folder / name.substr(0, aside))) {
      fs::rename(entry.path(), folder / name.substr(0, aside), ignored);
    } else {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

}  // namespace headprune
