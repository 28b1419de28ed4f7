cp matrix.h5 written.h5
