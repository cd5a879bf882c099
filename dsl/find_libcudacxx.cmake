# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Decides where libcu++ (<cuda/std/...>) comes from: the CUDA toolkit, an installed CCCL, or a download by hash.
# Read by our own build and, from the installed package, by the build of whoever uses tally.
# Sets TALLY_CCCL_INCLUDE_DIR, TALLY_CCCL_VERSION, and TALLY_CUDA_INCLUDE_DIR (empty where there is no toolkit).

set(TALLY_CCCL_LEAST_VERSION 3.0.0)
set(TALLY_CCCL_WHEEL "nvidia-cuda-cccl==13.0.85") # CCCL 3.0.1, the one of toolkit 13.0
set(TALLY_CCCL_WHEEL_HASHES # x86_64, aarch64
    sha256:e0da7ad981f3a8aff08241b5bfc1af868742a63e2762f53a5171c492ef242649
    sha256:6f0203e29fed809ee2b7fe9b1344df66ecab990c37d6a2e0e189b26d6c97ed7c)

# The version of the CCCL below a folder, or an empty string.
function(tally_cccl_version folder result)
  set(${result} "" PARENT_SCOPE)
  foreach(file cuda/std/__cccl/version.h cuda/__cccl_config)
    if(EXISTS "${folder}/${file}" AND EXISTS "${folder}/cuda/std/concepts")
      file(STRINGS "${folder}/${file}" line REGEX "define CCCL_VERSION [0-9]+" LIMIT_COUNT 1)
      if(line MATCHES "CCCL_VERSION ([0-9]+)")
        math(EXPR major "${CMAKE_MATCH_1} / 1000000")
        math(EXPR minor "${CMAKE_MATCH_1} / 1000 % 1000")
        math(EXPR patch "${CMAKE_MATCH_1} % 1000")
        set(${result} "${major}.${minor}.${patch}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
endfunction()

# Takes the first of the folders that holds a CCCL new enough.
function(tally_take_cccl origin)
  if(TALLY_CCCL_INCLUDE_DIR)
    return()
  endif()
  foreach(folder ${ARGN})
    tally_cccl_version("${folder}" version)
    if(version AND version VERSION_GREATER_EQUAL TALLY_CCCL_LEAST_VERSION)
      set(TALLY_CCCL_INCLUDE_DIR "${folder}" CACHE PATH "Where <cuda/std/...> is, from ${origin}")
      message(STATUS "tally: libcu++ ${version} from ${origin}: ${folder}")
      return()
    endif()
  endforeach()
endfunction()

# The wheel is a zip of headers: download it by hash through pip, unpack, use.
function(tally_download_cccl folder)
  find_program(TALLY_PYTHON NAMES python3 python)
  if(NOT TALLY_PYTHON)
    return()
  endif()
  list(TRANSFORM TALLY_CCCL_WHEEL_HASHES PREPEND "--hash=" OUTPUT_VARIABLE hashes)
  list(JOIN hashes " " hashes)
  file(MAKE_DIRECTORY "${folder}")
  file(WRITE "${folder}/requirements.txt" "${TALLY_CCCL_WHEEL} ${hashes}\n")
  message(STATUS "tally: no toolkit and no installed CCCL, asking pip for ${TALLY_CCCL_WHEEL}")
  execute_process(COMMAND ${TALLY_PYTHON} -m pip download --quiet --no-deps --only-binary=:all: --require-hashes
                          -r requirements.txt -d . WORKING_DIRECTORY "${folder}" RESULT_VARIABLE failed)
  file(GLOB wheels "${folder}/*.whl")
  if(failed OR NOT wheels)
    return()
  endif()
  list(GET wheels 0 wheel)
  file(ARCHIVE_EXTRACT INPUT "${wheel}" DESTINATION "${folder}")
endfunction()

if(NOT CUDAToolkit_ROOT AND NOT DEFINED ENV{CUDAToolkit_ROOT} AND DEFINED ENV{CUDA_HOME})
  set(CUDAToolkit_ROOT "$ENV{CUDA_HOME}")
endif()
find_package(CUDAToolkit QUIET)
set(TALLY_CUDA_INCLUDE_DIR "" CACHE INTERNAL "Include folder of the CUDA toolkit")
if(CUDAToolkit_FOUND)
  list(GET CUDAToolkit_INCLUDE_DIRS 0 toolkit_include)
  set(TALLY_CUDA_INCLUDE_DIR "${toolkit_include}" CACHE INTERNAL "Include folder of the CUDA toolkit")
  tally_take_cccl("the CUDA toolkit" "${TALLY_CUDA_INCLUDE_DIR}/cccl" "${TALLY_CUDA_INCLUDE_DIR}")
endif()
if(NOT TALLY_CCCL_INCLUDE_DIR)
  find_package(CCCL CONFIG QUIET COMPONENTS libcudacxx)
  if(CCCL_FOUND)
    tally_take_cccl("an installed CCCL" ${libcudacxx_INCLUDE_DIR} "${CCCL_DIR}/../../../include")
  endif()
endif()
if(NOT TALLY_CCCL_INCLUDE_DIR)
  set(tally_downloaded "${CMAKE_BINARY_DIR}/cccl")
  if(NOT EXISTS "${tally_downloaded}/nvidia/cu13/include/cccl/cuda/std/concepts")
    tally_download_cccl("${tally_downloaded}")
  endif()
  tally_take_cccl("the wheel ${TALLY_CCCL_WHEEL}" "${tally_downloaded}/nvidia/cu13/include/cccl")
endif()
if(NOT TALLY_CCCL_INCLUDE_DIR)
  message(FATAL_ERROR "tally needs libcu++ (CCCL ${TALLY_CCCL_LEAST_VERSION} or newer): install the CUDA toolkit, or CCCL, "
                      "or python3 with pip, or set TALLY_CCCL_INCLUDE_DIR to the folder that holds cuda/std")
endif()
tally_cccl_version("${TALLY_CCCL_INCLUDE_DIR}" TALLY_CCCL_VERSION)
