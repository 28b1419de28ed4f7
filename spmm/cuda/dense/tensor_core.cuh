#pragma once

namespace block_eigs::cuda {

/// c += a b by one warp on the FP64 tensor cores, a being 16 x 8, b 8 x 8. With g = lane / 4 and t = lane % 4 a
/// lane holds a(g, t), a(g + 8, t), a(g, t + 4), a(g + 8, t + 4); b(t, g), b(t + 4, g); c(g, 2t), c(g, 2t + 1),
/// c(g + 8, 2t), c(g + 8, 2t + 1).
__device__ inline void multiply_add(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
#pragma unroll
  for (int k = 0; k < 2; ++k) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
          : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
          : "d"(a[2 * k + half]), "d"(b[k]));
    }
  }
#endif
}

}  // namespace block_eigs::cuda
