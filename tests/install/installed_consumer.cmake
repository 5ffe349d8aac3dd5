# A find_package(attnviz) consumer builds and runs against an installed tree that was moved since.
include(${CMAKE_CURRENT_LIST_DIR}/support.cmake)

run(ignored ${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${WORK_DIR}/first)
file(RENAME ${WORK_DIR}/first ${WORK_DIR}/moved)

run(ignored ${CONFIGURE} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK_DIR}/build
  -DCMAKE_PREFIX_PATH=${WORK_DIR}/moved)
run(ignored ${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(output ${WORK_DIR}/build/consumer)

# Causal: the first token sees itself only; nobody sees what comes later.
set(number "0\\.[0-9][0-9][0-9][0-9]")
expect_match("${output}"
  "^1\\.0000 0\\.0000 0\\.0000 \n${number} ${number} 0\\.0000 \n${number} ${number} ${number} \n$"
  "the consumer's output")

file(GLOB_RECURSE internal ${WORK_DIR}/moved/include/*-inl.h)
if(internal)
  message(FATAL_ERROR "installed, but internal: ${internal}")
endif()
file(GLOB_RECURSE exported ${WORK_DIR}/moved/*.cmake)
foreach(file IN LISTS exported)
  file(READ ${file} content)
  string(FIND "${content}" "${SOURCE_DIR}" found)
  if(NOT found EQUAL -1)
    message(FATAL_ERROR "${file} names the source folder ${SOURCE_DIR}")
  endif()
endforeach()
