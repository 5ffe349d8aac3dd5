// Lessons, for programs.
#pragma once

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/lessons/lesson.h"

namespace attnviz {

/// The format `attnviz.lesson/1`, as its schema describes it.
void write_lesson_json(const Lesson& lesson, const ByteSink& sink);

/// The lessons that there are, as `attnviz.lessons/1`.
void write_lesson_list_json(const ByteSink& sink);

/// The table, under the keys of its columns.
void write_lesson_csv(const Lesson& lesson, const ByteSink& sink);

}  // namespace attnviz
