# Configuring without the dependencies names each with its Debian package and its upstream project.
include(${CMAKE_CURRENT_LIST_DIR}/support.cmake)

file(STRINGS ${BINARY_DIR}/CMakeCache.txt found REGEX "^ATTNVIZ_(.*_INCLUDE|FONT):")
set(hidden "")
foreach(line IN LISTS found)
  string(REGEX REPLACE "^[^=]*=" "" place "${line}")
  if(line MATCHES "^ATTNVIZ_FONT")
    get_filename_component(place "${place}" DIRECTORY)
  endif()
  list(APPEND hidden "${place}")
endforeach()
list(REMOVE_DUPLICATES hidden)

execute_process(
  COMMAND ${CONFIGURE} -S ${SOURCE_DIR} -B ${WORK_DIR}/build "-DCMAKE_IGNORE_PATH=${hidden}"
  OUTPUT_QUIET ERROR_VARIABLE errors RESULT_VARIABLE result)
if(result EQUAL 0)
  message(FATAL_ERROR "configured without its dependencies")
endif()

set(checked 0)
file(STRINGS ${SOURCE_DIR}/lib/cmake/dependencies.txt table REGEX "^[^#]+\\|")
foreach(line IN LISTS table)
  string(REGEX REPLACE " *\\| *" ";" fields "${line}")
  list(POP_FRONT fields name scope debian upstream)
  if(NOT scope STREQUAL build OR name MATCHES "^(compiler|cmake|ninja)$")
    continue()
  endif()
  expect_match("${errors}"
    "${name} \\([^\n]* not found\\)\n[^\n]*apt-get install ${debian}\n[^\n]*${upstream}\n"
    "the message about ${name}")
  math(EXPR checked "${checked} + 1")
endforeach()
if(checked LESS 9)
  message(FATAL_ERROR "only ${checked} dependencies were checked")
endif()
