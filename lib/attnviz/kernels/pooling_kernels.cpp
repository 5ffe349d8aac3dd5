// Pooling of rows into cells, compiled once per SIMD target.

#include "attnviz/kernels/row_kernels.h"

#include <cstdint>
#include <limits>

#include "attnviz/core/exact_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/pooling_kernels.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this comes after foreach_target.h

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using FloatVector = hn::Vec<Floats>;
constexpr std::size_t kLanes = hn::MaxLanes(Floats());

struct Largest {
  using Cell = float;
  static constexpr float kNothing = -std::numeric_limits<float>::infinity();

  static HWY_INLINE FloatVector combine(FloatVector a, FloatVector b) { return hn::Max(a, b); }
  static HWY_INLINE void put(FloatVector largest, float* cells) {
    const Floats d;
    hn::StoreU(hn::Max(largest, hn::LoadU(d, cells)), d, cells);
  }
};

struct Sum {
  using Cell = double;
  static constexpr float kNothing = 0.0f;

  static HWY_INLINE FloatVector combine(FloatVector a, FloatVector b) { return hn::Add(a, b); }
  static HWY_INLINE void put(FloatVector sums, double* cells) {
    const hn::CappedTag<double, kLanes> d;
    const hn::Rebind<float, decltype(d)> narrow;
    const auto coarse = hn::Set(d, kCoarse);
    HWY_ALIGN float lanes[kLanes];
    hn::Store(sums, Floats(), lanes);
    for (std::size_t i = 0; i < kLanes; i += hn::Lanes(d)) {
      const auto sum = hn::PromoteTo(d, hn::Load(narrow, lanes + i));
      const auto rounded = hn::Sub(hn::Add(sum, coarse), coarse);
      hn::StoreU(hn::Add(hn::LoadU(d, cells + i), rounded), d, cells + i);
    }
  }
};

// How the keys of a cell lie in vectors. Cells with fewer keys than a vector has lanes share a
// vector, each in as many lanes as the next power of two; the keys of larger cells are combined in
// one vector.
struct Layout {
  explicit Layout(std::size_t keys_per_cell) : keys(keys_per_cell), lanes(1) {
    while (lanes < kLanes && lanes < keys) {
      lanes *= 2;
    }
    for (std::size_t i = 0; i < kLanes; ++i) {
      const std::size_t key = i % lanes;
      is_key[i] = key < keys ? 1.0f : 0.0f;
      source[i] = static_cast<std::int32_t>(i / lanes * keys + (key < keys ? key : 0));
      is_rest[i] = i + keys % kLanes >= kLanes ? 1.0f : 0.0f;
    }
  }

  bool is_dense() const { return keys == lanes; }

  std::size_t keys;
  std::size_t lanes;  // of one cell
  HWY_ALIGN float is_key[kLanes];
  HWY_ALIGN std::int32_t source[kLanes];
  HWY_ALIGN float is_rest[kLanes];  // lanes of a large cell's last keys, fewer than a vector
};

// Numbers of a row, with bounds. Key 0 is the first one of its first cell.
template <class Op>
struct Row {
  const float* data;
  std::size_t first;
  std::size_t end;

  bool holds(std::size_t key, std::size_t count) const {
    return key >= first && key + count <= end;
  }
  // Loads kLanes of them. kIsInside: the row contains them all.
  template <bool kIsInside>
  HWY_INLINE FloatVector load(std::size_t key) const {
    const Floats d;
    if (kIsInside || holds(key, kLanes)) {
      return hn::LoadU(d, data + (key - first));
    }
    HWY_ALIGN float lanes[kLanes];
    for (std::size_t i = 0; i < kLanes; ++i) {
      lanes[i] = holds(key + i, 1) ? data[key + i - first] : Op::kNothing;
    }
    return hn::Load(d, lanes);
  }
};

// The vectors of kLanes small cells; `key` is the first key.
template <class Op, bool kIsInside, std::size_t kCellLanes>
class SmallCells {
 public:
  HWY_INLINE SmallCells(const Layout& layout, const Row<Op>& row, std::size_t key)
      : is_key_(hn::Eq(hn::Load(Floats(), layout.is_key), hn::Set(Floats(), 1.0f))),
        source_(hn::SetTableIndices(Floats(), layout.source)),
        step_(kLanes / kCellLanes * layout.keys),
        row_(row),
        key_(key) {}

  HWY_INLINE FloatVector vector(std::size_t index) const {
    const Floats d;
    const auto keys =
        hn::TableLookupLanes(row_.template load<kIsInside>(key_ + index * step_), source_);
    return hn::IfThenElse(is_key_, keys, hn::Set(d, Op::kNothing));
  }

 private:
  hn::Mask<Floats> is_key_;
  decltype(hn::SetTableIndices(Floats(), Layout(1).source)) source_;
  std::size_t step_;
  const Row<Op>& row_;
  std::size_t key_;
};

// Consecutive vectors in memory.
struct VectorsInMemory {
  const float* from;

  HWY_INLINE FloatVector vector(std::size_t index) const {
    return hn::LoadU(Floats(), from + index * kLanes);
  }
};

// Combines the keys of kLanes large cells into one vector each.
template <class Op, bool kIsInside>
HWY_INLINE void lay_out_large(const Layout& layout, const Row<Op>& row, std::size_t key,
                              float* to) {
  const Floats d;
  const auto nothing = hn::Set(d, Op::kNothing);
  const auto is_rest = hn::Eq(hn::Load(d, layout.is_rest), hn::Set(d, 1.0f));
  const std::size_t rest = layout.keys % kLanes;
  for (std::size_t cell = 0; cell < kLanes; ++cell, key += layout.keys) {
    if (!kIsInside && key >= row.end) {
      hn::Store(nothing, d, to + cell * kLanes);
      continue;
    }
    auto all = row.template load<kIsInside>(key);
    for (std::size_t i = kLanes; i + rest < layout.keys; i += kLanes) {
      all = Op::combine(all, row.template load<kIsInside>(key + i));
    }
    if (rest > 0) {
      const auto last = row.template load<kIsInside>(key + layout.keys - kLanes);
      all = Op::combine(all, hn::IfThenElse(is_rest, last, nothing));
    }
    hn::Store(all, d, to + cell * kLanes);
  }
}

// Lane i: the numbers of cell i in kVectors vectors, combined in pairs, pairs of pairs and so on.
template <class Op, std::size_t kVectors, class Vectors>
HWY_INLINE FloatVector combine_neighbours(const Vectors& vectors, std::size_t first = 0) {
  if constexpr (kVectors == 1) {
    return vectors.vector(first);
#if HWY_TARGET != HWY_SCALAR
  } else {
    const Floats d;
    const auto low = combine_neighbours<Op, kVectors / 2>(vectors, first);
    const auto high = combine_neighbours<Op, kVectors / 2>(vectors, first + kVectors / 2);
    return Op::combine(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
#endif
  }
}

// Pools kLanes cells; `key` is their first key.
template <class Op, bool kIsInside, std::size_t kCellLanes>
HWY_INLINE FloatVector pool_cells(const Layout& layout, const Row<Op>& row, std::size_t key) {
  if (kIsInside && layout.is_dense()) {
    return combine_neighbours<Op, kCellLanes>(VectorsInMemory{row.data + (key - row.first)});
  }
  if (kCellLanes < kLanes || layout.keys < kLanes) {
    return combine_neighbours<Op, kCellLanes>(
        SmallCells<Op, kIsInside, kCellLanes>(layout, row, key));
  }
  HWY_ALIGN float vectors[kLanes * kLanes];
  lay_out_large<Op, kIsInside>(layout, row, key, vectors);
  return combine_neighbours<Op, kCellLanes>(VectorsInMemory{vectors});
}

template <class Op, std::size_t kCellLanes>
void pool_row(const Layout& layout, const float* data, std::size_t n, std::size_t first_key,
              typename Op::Cell* cells) {
  const std::size_t skipped = first_key % layout.keys;
  const Row<Op> row{data, skipped, skipped + n};
  cells += first_key / layout.keys;
  const std::size_t n_cells = (row.end + layout.keys - 1) / layout.keys;
  // Numbers loaded for kLanes cells: the last vector of small cells extends past them.
  const std::size_t reach = kLanes * layout.keys + (layout.is_dense() ? 0 : kLanes);
  for (std::size_t cell = 0; cell < n_cells; cell += kLanes) {
    const std::size_t key = cell * layout.keys;
    if (row.holds(key, reach)) {
      Op::put(pool_cells<Op, true, kCellLanes>(layout, row, key), cells + cell);
      continue;
    }
    const auto combined = pool_cells<Op, false, kCellLanes>(layout, row, key);
    typename Op::Cell some[kLanes];
    const std::size_t count = HWY_MIN(kLanes, n_cells - cell);
    for (std::size_t i = 0; i < kLanes; ++i) {
      some[i] = i < count ? cells[cell + i] : typename Op::Cell{0};
    }
    Op::put(combined, some);
    for (std::size_t i = 0; i < count; ++i) {
      cells[cell + i] = some[i];
    }
  }
}

// Chooses the code for the layout's lanes: one of kMost, kMost / 2, …, 1.
template <class Op, std::size_t kMost = kLanes>
void pool_any_row(const Layout& layout, const float* data, std::size_t n, std::size_t first_key,
                  typename Op::Cell* cells) {
  if constexpr (kMost > 1) {
    if (layout.lanes < kMost) {
      return pool_any_row<Op, kMost / 2>(layout, data, n, first_key, cells);
    }
  }
  pool_row<Op, kMost>(layout, data, n, first_key, cells);
}

// Takes the maximum of each column.
void combine_rows(ConstMatrix rows, float* largest) {
  const Floats d;
  std::size_t col = 0;
  for (; col + kLanes <= rows.cols; col += kLanes) {
    auto all = hn::LoadU(d, rows.data + col);
    for (std::size_t row = 1; row < rows.rows; ++row) {
      all = hn::Max(all, hn::LoadU(d, rows.row_data(row) + col));
    }
    hn::StoreU(all, d, largest + col);
  }
  for (; col < rows.cols; ++col) {
    largest[col] = rows.data[col];
    for (std::size_t row = 1; row < rows.rows; ++row) {
      largest[col] = HWY_MAX(largest[col], rows(row, col));
    }
  }
}

void pool_largest(ConstMatrix rows, std::size_t first_key, std::size_t keys_per_cell,
                  float* cells) {
  const Layout layout(keys_per_cell);
  if (rows.rows == 1) {
    return pool_any_row<Largest>(layout, rows.data, rows.cols, first_key, cells);
  }
  // As many columns as fit the first-level cache.
  constexpr std::size_t kColumns = 4096;
  float largest[kColumns];
  for (std::size_t col = 0; col < rows.cols && rows.rows > 0; col += kColumns) {
    const ConstMatrix some = rows.col_block(col, HWY_MIN(kColumns, rows.cols - col));
    combine_rows(some, largest);
    pool_any_row<Largest>(layout, largest, some.cols, first_key + col, cells);
  }
}

void pool_sums(ConstMatrix rows, std::size_t first_key, std::size_t keys_per_cell, double* cells) {
  const Layout layout(keys_per_cell);
  for (std::size_t row = 0; row < rows.rows; ++row) {
    pool_any_row<Sum>(layout, rows.row_data(row), rows.cols, first_key, cells);
  }
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(pool_largest);
HWY_EXPORT(pool_sums);

void pool_largest(ConstMatrix rows, std::size_t first_key, std::size_t keys_per_cell,
                  std::span<float> cells) noexcept {
  HWY_DYNAMIC_DISPATCH(pool_largest)(rows, first_key, keys_per_cell, cells.data());
}

void pool_sums(ConstMatrix rows, std::size_t first_key, std::size_t keys_per_cell,
               std::span<double> cells) noexcept {
  HWY_DYNAMIC_DISPATCH(pool_sums)(rows, first_key, keys_per_cell, cells.data());
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
