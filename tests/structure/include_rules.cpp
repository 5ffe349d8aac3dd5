#include "structure/include_rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace attnviz::test {
namespace {

struct Room {
  std::string_view name;  // a folder, including subfolders that are not listed
  int floor;  // a room may include lower floors and itself, but no other room on its floor
};

// Ten floors are a storey: sub-rooms have their own floors, which count within one folder.
constexpr int kStorey = 10;

// lib/attnviz, from the ground up.
constexpr std::array kLibraryRooms = {
    Room{"core", 0},
    Room{"formats", 10},
    Room{"kernels", 10},
    Room{"model", 20},
    Room{"text", 20},
    Room{"text/tokenizers", 21},
    Room{"text/files", 22},
    Room{"text/template", 22},
    Room{"attention", 30},
    Room{"analysis/heads", 40},
    Room{"analysis", 41},
    Room{"analysis/why", 42},
    Room{"analysis/lessons", 42},
    Room{"color", 40},
    Room{"report/words", 50},
    Room{"report", 51},
    Room{"report/steps", 52},
    Room{"report/lessons", 53},
    Room{"report/json", 54},
    Room{"report/reports", 55},
    Room{"picture/scene", 60},
    Room{"picture/fonts", 61},
    Room{"picture/raster", 62},
    Room{"picture/layout", 62},
    Room{"picture", 63},
    Room{"terminal/page", 60},
    Room{"terminal", 61},
    Room{"page", 70},
    Room{"library", 80},
};

// app, from the ground up.
constexpr std::array kProgramRooms = {
    Room{"outputs/formats", 0}, Room{"options", 10}, Room{"system", 20},
    Room{"stores", 30},         Room{"outputs", 30}, Room{"commands", 40},
};

// The room of a path such as "text/files/bpe.h": the longest room name that the path begins with.
std::optional<Room> room_of(std::string_view path, std::span<const Room> rooms) {
  std::optional<Room> found;
  for (const Room& room : rooms) {
    const bool inside =
        path.starts_with(room.name) && path.substr(room.name.size()).starts_with('/');
    if (inside && (!found || found->name.size() < room.name.size())) {
      found = room;
    }
  }
  return found;
}

std::string_view first_folder(std::string_view path) {
  return path.substr(0, path.find('/'));
}

struct Include {
  std::string_view name;
  bool quoted;
};

std::optional<Include> parse_include(std::string_view line) {
  const auto skip_blanks = [&line] {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  };
  skip_blanks();
  if (!line.starts_with('#')) {
    return std::nullopt;
  }
  line.remove_prefix(1);
  skip_blanks();
  if (!line.starts_with("include")) {
    return std::nullopt;
  }
  line.remove_prefix(7);
  skip_blanks();
  if (!line.starts_with('"') && !line.starts_with('<')) {
    return std::nullopt;
  }
  const bool quoted = line.front() == '"';
  line.remove_prefix(1);
  return Include{line.substr(0, line.find(quoted ? '"' : '>')), quoted};
}

// The standard's headers have neither a folder nor an extension; POSIX ones end in .h.
bool is_third_party(const Include& include) {
  return !include.quoted && include.name.find_first_of("/.") != std::string_view::npos &&
         !include.name.starts_with("sys/") && include.name != "fcntl.h" &&
         include.name != "unistd.h";
}

// Headers of Unix-like systems, and the rooms where the program meets the system.
bool is_of_the_system(const Include& include) {
  constexpr std::array<std::string_view, 14> kHeaders = {
      "dirent.h", "dlfcn.h", "fcntl.h",  "poll.h",    "pthread.h",  "pwd.h",    "sched.h",
      "signal.h", "spawn.h", "syslog.h", "termios.h", "ucontext.h", "unistd.h", "wait.h"};
  return !include.quoted &&
         (include.name.starts_with("sys/") || include.name.starts_with("linux/") ||
          std::ranges::find(kHeaders, include.name) != kHeaders.end());
}

bool may_meet_the_system(std::string_view path) {
  return path.starts_with("lib/attnviz/core/") || path.starts_with("app/system/");
}

// Why one room must not include from another; empty when it may.
std::string fault_between(const Room& from, std::string_view path, std::span<const Room> rooms) {
  const std::optional<Room> to = room_of(path, rooms);
  if (!to) {
    return "there is no room " + std::string(first_folder(path));
  }
  const bool of_one_folder = first_folder(from.name) == first_folder(to->name);
  const bool below =
      to->name == from.name ||
      (of_one_folder ? to->floor < from.floor : to->floor / kStorey < from.floor / kStorey);
  return below ? "" : std::string(from.name) + " must not know " + std::string(to->name);
}

std::string fault_in_library(const Room& room, const Include& include, bool is_header) {
  if (include.name.starts_with("hwy/")) {
    return room.name == "kernels" ? "" : "SIMD lives in kernels only";
  }
  if (!include.quoted) {
    return is_header && is_third_party(include)
               ? "a header of the library needs no third-party header"
               : "";
  }
  constexpr std::string_view kPrefix = "attnviz/";
  if (!include.name.starts_with(kPrefix)) {
    return "the library includes its own headers as attnviz/<room>/…";
  }
  return fault_between(room, include.name.substr(kPrefix.size()), kLibraryRooms);
}

std::string fault_in_program(std::string_view path, const Include& include) {
  if (include.name.starts_with("hwy/")) {
    return "SIMD lives in kernels only";
  }
  const bool is_above_all = path.find('/') == std::string_view::npos;  // main.cpp
  if (!include.quoted || include.name.starts_with("attnviz/") || is_above_all) {
    return "";
  }
  const std::optional<Room> room = room_of(path, kProgramRooms);
  return room ? fault_between(*room, include.name, kProgramRooms)
              : "a source of the program lies in one of its rooms";
}

std::string fault_of(std::string_view path, const Include& include) {
  constexpr std::string_view kLibrary = "lib/attnviz/";
  constexpr std::string_view kProgram = "app/";
  const bool is_shipped = path.starts_with("lib/") || path.starts_with(kProgram);
  if (is_shipped && is_of_the_system(include) && !may_meet_the_system(path)) {
    return "only core and the program's system know what system they are on";
  }
  if (path.starts_with(kProgram)) {
    return fault_in_program(path.substr(kProgram.size()), include);
  }
  if (!path.starts_with("lib/")) {
    return "";  // tests may include everything
  }
  const std::optional<Room> room = path.starts_with(kLibrary)
                                       ? room_of(path.substr(kLibrary.size()), kLibraryRooms)
                                       : std::nullopt;
  if (!room) {
    return "a source of the library lies in one of its rooms";
  }
  return fault_in_library(*room, include, path.ends_with(".h") && !path.ends_with("-inl.h"));
}

// Whether a string literal of this line names an option of the program. Character literals such as
// '"' and literals over several lines are not handled: no source needs that.
bool names_option(std::string_view line) {
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view rest = line.substr(i);
    if (!inside && (rest.starts_with("//") || rest.starts_with("'\"'"))) {
      return false;
    }
    if (inside && rest[0] == '\\') {
      ++i;
    } else if (rest[0] == '"') {
      inside = !inside;
    } else if (inside && rest.size() > 2 && rest.starts_with("--") && rest[2] >= 'a' &&
               rest[2] <= 'z') {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> structure_faults(std::string_view path, std::string_view content) {
  std::vector<std::string> faults;
  std::size_t n_lines = 0;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    ++n_lines;
    const std::string_view line = content.substr(begin, end - begin);
    if (path.starts_with("lib/") && names_option(line)) {
      faults.push_back(std::string(path) + ":" + std::to_string(n_lines) +
                       ": the library knows parameters, no options");
    }
    if (const auto include = parse_include(line)) {
      if (const std::string fault = fault_of(path, *include); !fault.empty()) {
        faults.push_back(std::string(path) + ":" + std::to_string(n_lines) + ": includes " +
                         std::string(include->name) + ": " + fault);
      }
    }
    begin = end + 1;
  }
  if (n_lines > kMaxLines) {
    faults.push_back(std::string(path) + ": " + std::to_string(n_lines) + " lines, at most " +
                     std::to_string(kMaxLines) + " fit one idea");
  }
  return faults;
}

std::vector<std::string> folder_faults(std::span<const std::string> paths) {
  std::vector<std::string> faults;
  std::map<std::string, std::size_t> sizes;      // by folder
  std::map<std::string, std::string> header_of;  // by name
  for (const std::string& path : paths) {
    if (!path.starts_with("lib/") && !path.starts_with("app/")) {
      continue;
    }
    const std::size_t slash = path.rfind('/');
    if (++sizes[path.substr(0, slash)] == kMaxSources + 1) {
      faults.push_back(path.substr(0, slash) + ": more than " + std::to_string(kMaxSources) +
                       " sources");
    }
    const auto [other, is_new] = header_of.try_emplace(path.substr(slash + 1), path);
    if (!is_new && path.ends_with(".h")) {
      faults.push_back(path + ": has the name of " + other->second);
    }
  }
  return faults;
}

}  // namespace attnviz::test
