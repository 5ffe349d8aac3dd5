// The lessons that there are.
#pragma once

#include <array>
#include <string_view>

#include "attnviz/core/choices.h"

namespace attnviz {

enum class LessonKind { kScaling, kHeads, kLinear, kPositions, kCost, kCache, kMasks };

inline constexpr std::array kLessonChoices = {
    Choice{"scaling", LessonKind::kScaling}, Choice{"heads", LessonKind::kHeads},
    Choice{"linear", LessonKind::kLinear},   Choice{"positions", LessonKind::kPositions},
    Choice{"cost", LessonKind::kCost},       Choice{"cache", LessonKind::kCache},
    Choice{"masks", LessonKind::kMasks}};

/// What a lesson teaches, and what its figure has, in the order of kLessonChoices.
struct LessonSummary {
  std::string_view teaches;
  std::string_view draws;
};

inline constexpr std::array<LessonSummary, kLessonChoices.size()> kLessonSummaries = {{
    {"why scores are divided by √d_head", "variance of q · k and sharpness of softmax, over d"},
    {"one wide head or many narrow ones, with the same parameters", "the patterns of both"},
    {"linear attention, which never makes the n x n matrix", "its weights beside softmax's"},
    {"how attention learns where a token stands", "four kinds of positions, side by side"},
    {"what attention takes as texts grow, measured here", "time and memory over n"},
    {"what keeping keys and values saves", "multiplications and time over the text's length"},
    {"who may see whom", "the masks, side by side"},
}};

}  // namespace attnviz
