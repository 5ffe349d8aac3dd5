// What a result can be written as.
#pragma once

#include <array>

#include "attnviz/core/choices.h"

namespace attnviz::app {

enum class OutputFormat { kPng, kJson, kNpy, kText };

/// Each by the ending of its files, which is also its word for --format.
inline constexpr std::array kOutputFormats = {
    Choice{"png", OutputFormat::kPng}, Choice{"json", OutputFormat::kJson},
    Choice{"npy", OutputFormat::kNpy}, Choice{"txt", OutputFormat::kText}};

/// Those that the steps of a computation can be written as.
inline constexpr std::array kInspectionFormats = {Choice{"png", OutputFormat::kPng},
                                                  Choice{"json", OutputFormat::kJson},
                                                  Choice{"txt", OutputFormat::kText}};

}  // namespace attnviz::app
