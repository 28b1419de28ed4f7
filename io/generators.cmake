target_sources(block_eigs_io PRIVATE
  generate/generate_elasticity.cpp
  generate/generate_grid.cpp
  generate/generate_laplacian.cpp
  generate/generate_random.cpp
  generate/generate_rmat.cpp
  generate/generate_rows.cpp
  generate/generate_schroedinger.cpp)
