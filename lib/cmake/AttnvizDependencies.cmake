# Finds what attnviz links, and says which package is missing. Used by the build and by the installed
# CMake package, so both agree. Static libraries are preferred where the system has them: the program
# then needs little and starts fast.

file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/dependencies.txt" ATTNVIZ_DEPENDENCY_TABLE REGEX "^[^#]+\\|")
set(ATTNVIZ_MISSING "")

# Notes in ATTNVIZ_MISSING that `what` of the dependency `name` is not there, and where to get it.
macro(attnviz_note_missing name what)
  foreach(line IN LISTS ATTNVIZ_DEPENDENCY_TABLE)
    string(REGEX REPLACE " *\\| *" ";" fields "${line}")
    list(GET fields 0 candidate)
    if(candidate STREQUAL "${name}")
      list(GET fields 2 debian)
      list(GET fields 3 upstream)
      string(APPEND ATTNVIZ_MISSING "\n  ${name} (${what} not found)"
        "\n    Debian, Ubuntu:  apt-get install ${debian}"
        "\n    other systems:   ${upstream}")
    endif()
  endforeach()
endmacro()

# Makes the target attnviz_deps::<name> from a header, in the folder FOLDER of includes when given, and,
# when given, a library.
function(attnviz_find name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;FOLDER;LIBRARY;DEFINITION" "")
  if(TARGET attnviz_deps::${name})
    return()
  endif()
  find_path(ATTNVIZ_${name}_INCLUDE ${arg_HEADER} PATH_SUFFIXES ${arg_FOLDER})
  mark_as_advanced(ATTNVIZ_${name}_INCLUDE)
  if(NOT ATTNVIZ_${name}_INCLUDE)
    attnviz_note_missing(${name} "header ${arg_HEADER}")
  endif()
  if(arg_LIBRARY AND ATTNVIZ_${name}_INCLUDE)
    find_library(ATTNVIZ_${name}_LIBRARY NAMES lib${arg_LIBRARY}.a ${arg_LIBRARY})
    mark_as_advanced(ATTNVIZ_${name}_LIBRARY)
    if(NOT ATTNVIZ_${name}_LIBRARY)
      attnviz_note_missing(${name} "library ${arg_LIBRARY}")
    endif()
  endif()
  if(ATTNVIZ_MISSING)
    set(ATTNVIZ_MISSING "${ATTNVIZ_MISSING}" PARENT_SCOPE)
    return()
  endif()
  if(arg_LIBRARY)
    add_library(attnviz_deps::${name} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(attnviz_deps::${name} PROPERTIES
      IMPORTED_LOCATION "${ATTNVIZ_${name}_LIBRARY}")
  else()
    add_library(attnviz_deps::${name} INTERFACE IMPORTED GLOBAL)
  endif()
  target_include_directories(attnviz_deps::${name} SYSTEM INTERFACE "${ATTNVIZ_${name}_INCLUDE}")
  if(arg_DEFINITION)
    target_compile_definitions(attnviz_deps::${name} INTERFACE ${arg_DEFINITION})
  endif()
endfunction()

# What a consumer of the library links too.
macro(attnviz_find_link_dependencies)
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED)
  attnviz_find(utf8proc HEADER utf8proc.h LIBRARY utf8proc DEFINITION UTF8PROC_STATIC)
  attnviz_find(unistring HEADER uniwbrk.h LIBRARY unistring)
  attnviz_find(fribidi HEADER fribidi/fribidi.h LIBRARY fribidi)
  attnviz_find(deflate HEADER libdeflate.h LIBRARY deflate)
  attnviz_find(oniguruma HEADER oniguruma.h LIBRARY onig)
endmacro()

# What only our own sources need.
macro(attnviz_find_build_dependencies)
  attnviz_find(hwy HEADER hwy/highway.h)
  attnviz_find(fmt HEADER fmt/format.h)
  attnviz_find(nlohmann_json HEADER nlohmann/json.hpp)
  attnviz_find(CLI11 HEADER CLI/CLI.hpp)
  attnviz_find(eigen HEADER Eigen/Eigenvalues FOLDER eigen3)
  # Their libraries are opened when a picture needs them, so only the headers count here.
  attnviz_find(harfbuzz HEADER harfbuzz/hb-draw.h)
  attnviz_find(fontconfig HEADER fontconfig/fontconfig.h)
  attnviz_find(stb HEADER stb/stb_truetype.h)
  find_file(ATTNVIZ_FONT DejaVuSansMono.ttf
    PATHS /usr/share/fonts/truetype/dejavu /usr/share/fonts/dejavu /usr/share/fonts/TTF
          /usr/share/fonts/dejavu-sans-mono-fonts /usr/local/share/fonts NO_DEFAULT_PATH)
  mark_as_advanced(ATTNVIZ_FONT)
  if(NOT ATTNVIZ_FONT)
    attnviz_note_missing(dejavu "font DejaVuSansMono.ttf")
  endif()
endmacro()

# Stops with everything that is missing.
macro(attnviz_require_dependencies)
  if(ATTNVIZ_MISSING)
    message(FATAL_ERROR "attnviz needs what is not installed:${ATTNVIZ_MISSING}\n")
  endif()
endmacro()
