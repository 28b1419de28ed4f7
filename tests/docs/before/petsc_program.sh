# A program that knows nothing of block-eigs.
mpicc -o program tests/petsc/programs/systems.c $(pkg-config --cflags --libs PETSc) -lm
