#include "system/system_fonts.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fontconfig/fontconfig.h>
#include <unistd.h>
#include <utf8proc.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/shared_library.h"
#include "system/diagnostics.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

// The functions of fontconfig in use, with their types from its headers.
struct Fontconfig {
#define ATTNVIZ_FONTCONFIG_FUNCTIONS(use)                                                        \
  use(CharSetAddChar) use(CharSetCreate) use(CharSetDestroy) use(CharSetHasChar)                 \
      use(ConfigSubstitute) use(DefaultSubstitute) use(FontMatch) use(Init) use(PatternAddBool)  \
          use(PatternAddCharSet) use(PatternAddInteger) use(PatternAddString) use(PatternCreate) \
              use(PatternDestroy) use(PatternGetCharSet) use(PatternGetInteger)                  \
                  use(PatternGetString)
// NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member
#define ATTNVIZ_FONTCONFIG_MEMBER(name) decltype(&Fc##name) name;
  ATTNVIZ_FONTCONFIG_FUNCTIONS(ATTNVIZ_FONTCONFIG_MEMBER)
#undef ATTNVIZ_FONTCONFIG_MEMBER
};

// Loaded at the first search for a character: the program starts and works without it.
std::optional<Fontconfig> load() {
  const auto library = SharedLibrary::load("libfontconfig.so.1");
  Fontconfig functions = {};
#define ATTNVIZ_FONTCONFIG_FIND(name) &&library->find("Fc" #name, functions.name)
  if (library ATTNVIZ_FONTCONFIG_FUNCTIONS(ATTNVIZ_FONTCONFIG_FIND)) {
    return functions;
  }
#undef ATTNVIZ_FONTCONFIG_FIND
  return std::nullopt;
}

// While it exists, output on standard error is discarded.
class Hush {
 public:
  Hush() noexcept
      : before_(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)),
        nowhere_(before_ < 0 ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC)) {
    if (nowhere_ >= 0) {
      dup2(nowhere_, STDERR_FILENO);
    }
  }
  ~Hush() {
    if (nowhere_ >= 0) {
      dup2(before_, STDERR_FILENO);
      close(nowhere_);
    }
    if (before_ >= 0) {
      close(before_);
    }
  }
  Hush(const Hush&) = delete;
  Hush& operator=(const Hush&) = delete;

 private:
  int before_;
  int nowhere_;
};

const Fontconfig* fontconfig() {
  static const std::optional<Fontconfig> loaded = [] {
    std::optional<Fontconfig> functions = load();
    if (functions) {
      const Hush hush;  // Init() complains if it cannot cache font lists
      functions->Init();
    }
    return functions;
  }();
  return loaded ? &*loaded : nullptr;
}

const FcChar8* family_for(char32_t code_point) {
  const auto* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(code_point));
  const bool is_emoji = property->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC ||
                        property->boundclass == UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR ||
                        (code_point >= 0x1F3FB && code_point <= 0x1F3FF);  // skin tones
  return reinterpret_cast<const FcChar8*>(is_emoji ? "emoji" : "sans-serif");
}

using Pattern = std::unique_ptr<FcPattern, decltype(&FcPatternDestroy)>;

FontFile font_file(const fs::path& path, unsigned face) {
  auto file = std::make_shared<const MappedFile>(path);
  FontFile font = {path.string(), file->bytes(), nullptr, face};
  font.owner = std::move(file);
  check_font_file(font);
  return font;
}

// Reports once that a listed font is missing or broken, and the consequence.
void warn_unusable(const Verbosity& verbosity, const std::string& path, const Error& error) {
  static std::set<std::string> warned;
  if (warned.insert(path).second) {
    inform(verbosity,
           fmt::format("{}; characters that need this installed font become boxes", error.what()));
  }
}

// The installed font that fontconfig chooses for the character: upright and regular, a colour font
// for emoji. Nothing without fontconfig, or if no font has the character.
std::optional<FontFile> find_system_font(char32_t code_point, const Verbosity& verbosity) {
  const Fontconfig* fc = fontconfig();
  if (fc == nullptr) {
    return std::nullopt;
  }
  const Pattern wanted(fc->PatternCreate(), fc->PatternDestroy);
  const std::unique_ptr<FcCharSet, decltype(&FcCharSetDestroy)> characters(fc->CharSetCreate(),
                                                                           fc->CharSetDestroy);
  fc->CharSetAddChar(characters.get(), code_point);
  fc->PatternAddCharSet(wanted.get(), FC_CHARSET, characters.get());
  fc->PatternAddString(wanted.get(), FC_FAMILY, family_for(code_point));
  fc->PatternAddBool(wanted.get(), FC_SCALABLE, FcTrue);
  fc->PatternAddInteger(wanted.get(), FC_WEIGHT, FC_WEIGHT_REGULAR);
  fc->PatternAddInteger(wanted.get(), FC_SLANT, FC_SLANT_ROMAN);
  fc->ConfigSubstitute(nullptr, wanted.get(), FcMatchPattern);
  fc->DefaultSubstitute(wanted.get());
  FcResult result = FcResultNoMatch;
  const Pattern match(fc->FontMatch(nullptr, wanted.get(), &result), fc->PatternDestroy);
  FcCharSet* has = nullptr;
  FcChar8* path = nullptr;
  int face = 0;
  if (match == nullptr ||
      fc->PatternGetCharSet(match.get(), FC_CHARSET, 0, &has) != FcResultMatch ||
      fc->CharSetHasChar(has, code_point) == FcFalse ||
      fc->PatternGetString(match.get(), FC_FILE, 0, &path) != FcResultMatch ||
      fc->PatternGetInteger(match.get(), FC_INDEX, 0, &face) != FcResultMatch) {
    return std::nullopt;
  }
  try {
    // The upper half numbers the named instances of a variable font.
    return font_file(reinterpret_cast<const char*>(path), static_cast<unsigned>(face) & 0xFFFF);
  } catch (const Error& error) {
    warn_unusable(verbosity, reinterpret_cast<const char*>(path), error);
    return std::nullopt;
  }
}

}  // namespace

std::unique_ptr<FontSet> open_fonts(std::span<const fs::path> files, const Verbosity& verbosity) {
  std::vector<FontFile> fonts;
  fonts.reserve(files.size());
  for (const fs::path& path : files) {
    fonts.push_back(font_file(path, 0));
  }
  if (!fonts.empty() && !can_draw_other_fonts()) {
    throw Error(ErrorKind::kUnsupported,
                "--font: drawing other fonts needs HarfBuzz, which this system lacks; install "
                "libharfbuzz0b");
  }
  return std::make_unique<FontSet>(std::move(fonts), [verbosity](char32_t code_point) {
    return find_system_font(code_point, verbosity);
  });
}

}  // namespace attnviz::app
