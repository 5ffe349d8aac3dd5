# A room of the library: objects that are compiled, and tested, without what stands above them.
#
# attnviz_add_room(NAME [COLD] BELOW ROOM… SOURCES FILE… HEADERS FILE…): attnviz_NAME, of which the
# library is made.
#   BELOW:   the rooms that its sources include, as far as those do not include each other.
#   COLD:    no time is spent in it: -O1, which compiles a quarter faster than -O2.
#   HEADERS: those of rooms below that most of its sources include, to be precompiled.
function(attnviz_add_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COLD" "" "BELOW;SOURCES;HEADERS")
  set(target attnviz_${room})
  add_library(${target} OBJECT ${arg_SOURCES})
  set_property(TARGET ${target} PROPERTY ATTNVIZ_BELOW ${arg_BELOW})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/lib)
  target_link_libraries(${target} PRIVATE attnviz_settings attnviz_library_dependencies)
  attnviz_shipped(${target})
  # -O3 makes only the kernels faster, and all other sources a third slower to compile.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${arg_COLD}>,-O1,-O2>>)
  list(TRANSFORM arg_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/lib/attnviz/)
  if(arg_COLD OR arg_HEADERS OR room STREQUAL core)
    target_precompile_headers(${target} PRIVATE ${ATTNVIZ_COMMON_HEADERS} ${arg_HEADERS})
  else()
    target_precompile_headers(${target} REUSE_FROM attnviz_core)
  endif()
  target_sources(attnviz PRIVATE $<TARGET_OBJECTS:${target}>)
endfunction()

# attnviz_link_rooms(TARGET ROOM…): links these rooms, those below them, and what they need.
function(attnviz_link_rooms target)
  set(rooms "")
  set(next ${ARGN})
  while(next)
    list(POP_FRONT next room)
    if(room IN_LIST rooms)
      continue()
    endif()
    list(APPEND rooms ${room})
    get_property(below TARGET attnviz_${room} PROPERTY ATTNVIZ_BELOW)
    list(APPEND next ${below})
  endwhile()
  foreach(room IN LISTS rooms)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:attnviz_${room}>)
  endforeach()
  target_link_libraries(${target} PRIVATE attnviz_library_dependencies)
endfunction()
