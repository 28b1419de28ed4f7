#pragma once

#include <cstddef>
#include <vector>

namespace block_eigs {

/// Has the system supply the pages of fresh memory to all threads at once, large ones where it has them: those of
/// a vector would come to the one thread that fills it with zeros. Overwrites what is there.
void touch_pages(void* memory, std::size_t bytes);

/// values.resize(count), of an empty vector. Throws std::bad_alloc.
template <class T>
void resize_large(std::vector<T>& values, std::size_t count) {
  if (count > values.capacity()) {
    values.reserve(count);
    touch_pages(values.data(), count * sizeof(T));
  }
  values.resize(count);
}

/// to = from, by all threads. Throws std::bad_alloc.
template <class T>
void copy_large(const std::vector<T>& from, std::vector<T>& to) {
  to.clear();
  resize_large(to, from.size());
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < from.size(); ++k) to[k] = from[k];
}

}  // namespace block_eigs
