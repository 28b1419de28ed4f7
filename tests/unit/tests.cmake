
block_eigs_test(generate SOURCES unit/generate_grid_test.cpp unit/generate_elasticity_test.cpp
  unit/generate_random_test.cpp LABELS unit)

block_eigs_test(config SOURCES unit/config_test.cpp LABELS unit TIMEOUT 60 LIBRARIES block_eigs_apps)
