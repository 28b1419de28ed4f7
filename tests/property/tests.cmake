
# Random problems of random shapes, each named by its seed when it fails.
block_eigs_test(block_cg_property SOURCES property/block_cg_property_test.cpp RANKS 1 2 3 LABELS property TIMEOUT 240)
block_eigs_test(deferred_solution_property SOURCES property/deferred_solution_property_test.cpp RANKS 1 2 3 LABELS property)
block_eigs_test(orthonormalize_property SOURCES property/orthonormalize_property_test.cpp RANKS 1 2 3 LABELS property)
