# A find_package(attnviz) consumer builds and runs against an installed tree that was moved since.
include(${CMAKE_CURRENT_LIST_DIR}/support.cmake)

run(ignored ${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${WORK_DIR}/first)
file(RENAME ${WORK_DIR}/first ${WORK_DIR}/moved)

run(ignored ${CONFIGURE} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK_DIR}/build
  -DCMAKE_PREFIX_PATH=${WORK_DIR}/moved)
run(ignored ${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(output ${WORK_DIR}/build/consumer)

# Causal: the first token sees only itself; no token sees later ones.
set(number "0\\.[0-9][0-9][0-9][0-9]")
expect_match("${output}"
  "^1\\.0000 0\\.0000 0\\.0000 \n${number} ${number} 0\\.0000 \n${number} ${number} ${number} \n$"
  "the consumer's output")

run(ignored ${WORK_DIR}/build/examples)

# Each that is added is a promise.
file(GLOB_RECURSE public ${WORK_DIR}/moved/include/*.h)
list(LENGTH public n_public)
if(n_public GREATER 15)
  message(FATAL_ERROR "${n_public} public headers, at most 15: ${public}")
endif()
file(GLOB_RECURSE exported ${WORK_DIR}/moved/*.cmake)
foreach(file IN LISTS exported)
  file(READ ${file} content)
  string(FIND "${content}" "${SOURCE_DIR}" found)
  if(NOT found EQUAL -1)
    message(FATAL_ERROR "${file} names the source folder ${SOURCE_DIR}")
  endif()
endforeach()
