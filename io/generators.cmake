target_sources(block_eigs_io PRIVATE
  generate_elasticity.cpp
  generate_grid.cpp
  generate_laplacian.cpp
  generate_random.cpp
  generate_rmat.cpp
  generate_rows.cpp
  generate_schroedinger.cpp)
