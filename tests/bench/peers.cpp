#include "bench/peers.h"

#ifdef ATTNVIZ_BENCH_OPENBLAS
#include <cblas.h>
#endif
#ifdef ATTNVIZ_BENCH_ONEDNN
#include <dnnl.h>
#endif
#ifdef ATTNVIZ_BENCH_EIGEN
#include <Eigen/Core>
#endif

namespace attnviz::bench {

namespace {

#ifdef ATTNVIZ_BENCH_OPENBLAS
void openblas(bool transposed, ConstMatrix a, ConstMatrix b, Matrix c) {
  const auto size = [](std::size_t value) { return static_cast<int>(value); };
  cblas_sgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans, size(c.rows),
              size(c.cols), size(a.cols), 1.0f, a.data, size(a.stride), b.data, size(b.stride),
              0.0f, c.data, size(c.stride));
}
#endif

#ifdef ATTNVIZ_BENCH_ONEDNN
void onednn(bool transposed, ConstMatrix a, ConstMatrix b, Matrix c) {
  const auto size = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
  dnnl_sgemm('N', transposed ? 'T' : 'N', size(c.rows), size(c.cols), size(a.cols), 1.0f, a.data,
             size(a.stride), b.data, size(b.stride), 0.0f, c.data, size(c.stride));
}
#endif

#ifdef ATTNVIZ_BENCH_EIGEN
void eigen(bool transposed, ConstMatrix a, ConstMatrix b, Matrix c) {
  using Values = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Rows = Eigen::OuterStride<>;
  const auto map = [](ConstMatrix x) {
    return Eigen::Map<const Values, 0, Rows>(x.data, static_cast<Eigen::Index>(x.rows),
                                             static_cast<Eigen::Index>(x.cols),
                                             Rows(static_cast<Eigen::Index>(x.stride)));
  };
  Eigen::Map<Values, 0, Rows> out(c.data, static_cast<Eigen::Index>(c.rows),
                                  static_cast<Eigen::Index>(c.cols),
                                  Rows(static_cast<Eigen::Index>(c.stride)));
  if (transposed) {
    out.noalias() = map(a) * map(b).transpose();
  } else {
    out.noalias() = map(a) * map(b);
  }
}
#endif

}  // namespace

const std::vector<Peer>& peers() {
  static const std::vector<Peer> all = {
#ifdef ATTNVIZ_BENCH_ONEDNN
      {"oneDNN", onednn},
#endif
#ifdef ATTNVIZ_BENCH_OPENBLAS
      {"OpenBLAS", openblas},
#endif
#ifdef ATTNVIZ_BENCH_EIGEN
      {"Eigen", eigen},
#endif
  };
  return all;
}

std::string openblas_core() {
#ifdef ATTNVIZ_BENCH_OPENBLAS
  return openblas_get_corename();
#else
  return {};
#endif
}

const char* better_openblas_core() {
#if defined(__x86_64__) && defined(__GNUC__)
  const std::string core = openblas_core();
  const bool is_old = core == "Prescott" || core == "Core2" || core == "Nehalem";
  if (is_old && __builtin_cpu_supports("avx512vl") != 0) {
    return "SKYLAKEX";
  }
  if (is_old && __builtin_cpu_supports("avx2") != 0) {
    return "HASWELL";
  }
#endif
  return nullptr;
}

}  // namespace attnviz::bench
