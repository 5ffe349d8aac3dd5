#include "attnviz/text/tokenizers/pre_tokenizers.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace attnviz {

namespace {

// Common parts of patterns. The case of contractions is ignored.
#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define BEFORE_WORD R"([^\r\n\p{L}\p{N}]?)"
#define LINES_AND_SPACES R"(\s*[\r\n]+|\s+(?!\S)|\s+)"
#define SIGNS R"( ?[^\s\p{L}\p{N}]+[\r\n]*|)"
// Words end where their case changes: "HelloWorld" is two.
#define UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"

constexpr const char* kGpt2Words[] = {kGpt2Pattern};
constexpr const char* kDigitsThenGpt2[] = {R"(\p{N})", kGpt2Pattern};
constexpr const char* kLlama3[] = {CONTRACTIONS "|" BEFORE_WORD
                                                R"(\p{L}+|\p{N}{1,3}|)" SIGNS LINES_AND_SPACES};
constexpr const char* kQwen2[] = {CONTRACTIONS "|" BEFORE_WORD
                                               R"(\p{L}+|\p{N}|)" SIGNS LINES_AND_SPACES};
constexpr const char* kQwen35[] = {
    CONTRACTIONS "|" BEFORE_WORD
                 R"([\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" LINES_AND_SPACES};
constexpr const char* kGpt4o[] = {
    BEFORE_WORD UPPER "*" LOWER "+" CONTRACTIONS "?|" BEFORE_WORD UPPER "+" LOWER "*" CONTRACTIONS
                      R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" LINES_AND_SPACES};
// Numbers in groups of three from the right. The list of characters that continue a word is that of
// the models' own engine.
constexpr const char* kTinyAya[] = {
    R"(\d{1,3}(?=(?:\d{3})*(?![\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149})"
    R"(\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}])))",
    kGpt4o[0]};
constexpr const char* kSuperBpe[] = {R"(\p{N}+)", R"((?=(\d{3})+(?!\d)))"};
constexpr const char* kYoutu[] = {
    R"([\x{AC00}-\x{D7A3}\x{3131}-\x{318E}]+|[\x{FF01}\x{2026}\x{201C}\x{201D}\x{2018}\x{2019})"
    R"(\x{2014}\x{FF1A}\x{FF1B}\x{FF0C}\x{3001}-\x{303F}\x{FE30}-\x{FE4F}]+|)"
    R"([\x{3105}-\x{312F}]+|[\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)",
    BEFORE_WORD UPPER "*" LOWER "+" CONTRACTIONS "?|" BEFORE_WORD UPPER "+" LOWER "*" CONTRACTIONS
                      R"(?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" LINES_AND_SPACES};
// The script Han as of Unicode 15.1.
#define HAN                                                                                            \
  R"(\x{2E80}-\x{2E99}\x{2E9B}-\x{2EF3}\x{2F00}-\x{2FD5}\x{3005}\x{3007}\x{3021}-\x{3029})"            \
  R"(\x{3038}-\x{303B}\x{3400}-\x{4DBF}\x{4E00}-\x{9FFF}\x{F900}-\x{FA6D}\x{FA70}-\x{FAD9})"           \
  R"(\x{16FE2}\x{16FE3}\x{16FF0}\x{16FF1}\x{20000}-\x{2A6DF}\x{2A700}-\x{2B739})"                      \
  R"(\x{2B740}-\x{2B81D}\x{2B820}-\x{2CEA1}\x{2CEB0}-\x{2EBE0}\x{2EBF0}-\x{2EE5D}\x{2F800}-\x{2FA1D})" \
  R"(\x{30000}-\x{3134A}\x{31350}-\x{323AF})"
#define NOT_HAN(LETTERS) "(?:(?![" HAN "])" LETTERS ")"
constexpr const char* kKimi[] = {
    "[" HAN
    "]+|" BEFORE_WORD NOT_HAN(UPPER) "*" NOT_HAN(LOWER) "+" CONTRACTIONS "?|" BEFORE_WORD NOT_HAN(
        UPPER) "+" NOT_HAN(LOWER) "*" CONTRACTIONS
                                  "?|"
                                  R"(\p{N}{1,3}|)" SIGNS LINES_AND_SPACES};
#undef HAN
#undef NOT_HAN
// A space between letters does not end a word.
constexpr const char* kExaoneMoe[] = {CONTRACTIONS
                                      "|" BEFORE_WORD R"((?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}|)"
                                      R"( ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"};
constexpr const char* kTekken[] = {BEFORE_WORD UPPER
                                   "*" LOWER "+|" BEFORE_WORD UPPER "+" LOWER
                                   R"(*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" LINES_AND_SPACES};
// The letters are those with an upper or lower case in the scripts listed here.
constexpr const char* kDeepseekLlm[] = {
    R"([\r\n])",
    R"(\s?[A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293})"
    R"(\x{295}-\x{2AF}\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A})"
    R"(\x{38C}\x{38E}-\x{3A1}\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556})"
    R"(\x{10A0}-\x{10C5}\x{13A0}-\x{13F5}\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF})"
    R"(\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D})"
    R"(\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D})"
    R"(\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4})"
    R"(\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4})"
    R"(\x{1FF6}-\x{1FFC}\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124})"
    R"(\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F})"
    R"(\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4})"
    R"(\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F})"
    R"(\x{A771}-\x{A787}\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17})"
    R"(\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}\x{104B0}-\x{104D3})"
    R"(\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF})"
    R"(\x{1E900}-\x{1E943}]+)",
    R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+)",
    // Not $, which in Oniguruma also matches before the end of every line. The last run of white
    // space is only tried from its beginning: trying every position of each run would take
    // quadratic time.
    R"((?<!\s)\s+\z)", R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)", R"(\p{N}+)"};
constexpr const char* kDeepseekCoder[] = {
    R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
    R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)", R"(\p{N})"};
constexpr const char* kDeepseek3[] = {
    R"(\p{N}{1,3})", R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)",
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|)"
    R"([^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)" LINES_AND_SPACES};
constexpr const char* kFalcon[] = {R"([\p{P}$+<=>^~|`]+)", kGpt2Pattern, "[0-9][0-9][0-9]"};
constexpr const char* kDefault[] = {R"([\p{P}$+<=>^~|]+)", kGpt2Pattern, R"(\p{N}+)",
                                    "[0-9][0-9][0-9]"};
constexpr const char* kBloom[] = {
    R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C})]+)"};
constexpr const char* kViking[] = {kBloom[0], R"(\p{N})"};
constexpr const char* kBailing[] = {
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|)"
    R"(\s*[\r\n]|\s+(?!\S)|\s+)"};
constexpr const char* kSeedCoder[] = {
    CONTRACTIONS "|" BEFORE_WORD R"(\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|)" LINES_AND_SPACES};

#undef CONTRACTIONS
#undef BEFORE_WORD
#undef LINES_AND_SPACES
#undef SIGNS
#undef UPPER
#undef LOWER

struct Named {
  std::string_view name;
  SplitPattern pattern;
};

constexpr Named kPatterns[] = {
    {"default", {kDefault}},
    {"gpt-2", {kGpt2Words}},
    {"gpt2", {kGpt2Words}},
    {"phi-2", {kGpt2Words}},
    {"mpt", {kGpt2Words}},
    {"olmo", {kGpt2Words}},
    {"jais", {kGpt2Words}},
    {"trillion", {kGpt2Words}},
    {"granite-docling", {kGpt2Words}},
    {"exaone4", {kGpt2Words}},
    {"gigachat", {kGpt2Words}},
    {"a.x-4.0", {kGpt2Words}},
    {"mellum", {kGpt2Words}},
    {"modern-bert", {kGpt2Words}},
    {"jina-es", {kGpt2Words}},
    {"jina-de", {kGpt2Words}},
    {"jina-v2-es", {kGpt2Words}},
    {"jina-v2-de", {kGpt2Words}},
    {"jina-v1-en", {kGpt2Words}},
    {"jina-v2-code", {kGpt2Words}},
    {"roberta-bpe", {kGpt2Words}},
    {"starcoder", {kDigitsThenGpt2}},
    {"refact", {kDigitsThenGpt2}},
    {"command-r", {kDigitsThenGpt2}},
    {"smollm", {kDigitsThenGpt2}},
    {"codeshell", {kDigitsThenGpt2}},
    {"exaone", {kDigitsThenGpt2}},
    {"minerva-7b", {kDigitsThenGpt2}},
    {"mellum2", {kDigitsThenGpt2}},
    {"llama3", {kLlama3, true, true}},
    {"llama-v3", {kLlama3, true, true}},
    {"llama-bpe", {kLlama3, true, true}},
    {"falcon3", {kLlama3, true, true}},
    {"falcon-h1", {kLlama3, true, true}},
    {"pixtral", {kLlama3, true, true}},
    {"midm-2.0", {kLlama3, true, true}},
    {"lfm2", {kLlama3, true, true}},
    {"jina-v5-nano", {kLlama3, true, true}},
    {"dbrx", {kLlama3}},
    {"smaug-bpe", {kLlama3}},
    {"glm4", {kLlama3}},
    {"chatglm-bpe", {kLlama3}},
    {"qwen2", {kQwen2}},
    {"deepseek-r1-qwen", {kQwen2}},
    {"megrez", {kQwen2}},
    {"kormo", {kQwen2}},
    {"f2llmv2", {kQwen2}},
    {"stablelm2", {kQwen2}},
    {"hunyuan", {kQwen2}},
    {"solar-open", {kQwen2}},
    {"grok-2", {kQwen2}},
    {"qwen35", {kQwen35}},
    {"gpt-4o", {kGpt4o}},
    {"llama4", {kGpt4o}},
    {"kanana2", {kGpt4o}},
    {"minimax-m2", {kGpt4o}},
    {"talkie", {kGpt4o}},
    {"granite-embed-multi-97m", {kGpt4o, true}},
    {"tiny_aya", {kTinyAya}},
    {"cohere2moe", {kTinyAya}},
    {"superbpe", {kSuperBpe}},
    {"youtu", {kYoutu, true}},
    {"kimi-k2", {kKimi}},
    {"exaone-moe", {kExaoneMoe}},
    {"tekken", {kTekken, true, true}},
    {"deepseek-llm", {kDeepseekLlm}},
    {"deepseek-coder", {kDeepseekCoder}},
    {"deepseek-v3", {kDeepseek3}},
    {"hunyuan-dense", {kDeepseek3}},
    {"joyai-llm", {kDeepseek3}},
    {"falcon", {kFalcon}},
    {"bloom", {kBloom}},
    {"poro-chat", {kBloom}},
    {"gpt3-finnish", {kBloom}},
    {"viking", {kViking}},
    {"bailingmoe", {kBailing}},
    {"bailingmoe2", {kBailing}},
    {"llada-moe", {kBailing}},
    {"seed-coder", {kSeedCoder}},
};

}  // namespace

bool is_linear_split_pattern(std::string_view regex) {
  // Two of them look ahead over a whole number from each of its digits.
  return regex.find("(?=") == std::string_view::npos &&
         std::ranges::any_of(kPatterns, [&](const Named& named) {
           return std::ranges::find(named.pattern.patterns, regex) != named.pattern.patterns.end();
         });
}

const SplitPattern* find_split_pattern(std::string_view name) {
  const auto* found = std::ranges::find(kPatterns, name, &Named::name);
  return found == std::end(kPatterns) ? nullptr : &found->pattern;
}

std::vector<std::string> split_pattern_names() {
  std::vector<std::string> names;
  names.reserve(std::size(kPatterns));
  for (const Named& named : kPatterns) {
    names.emplace_back(named.name);
  }
  return names;
}

PreTokenizer byte_level_words(const SplitPattern& pattern) {
  std::vector<PreTokenizer> stages;
  stages.reserve(pattern.patterns.size() + 1);
  for (const char* regex : pattern.patterns) {
    stages.push_back(regex_cut(Regex(regex, ""), CutBehavior::kIsolated, /*invert=*/false));
  }
  stages.push_back(byte_level(/*add_prefix_space=*/false, /*use_regex=*/false));
  return sequence_cut(std::move(stages));
}

}  // namespace attnviz
