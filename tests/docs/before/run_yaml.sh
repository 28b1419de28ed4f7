cat > run.yaml <<END
matrix: {generate: laplacian1d, size: [100]}
output: {file: result.h5}
END
python3 -c "import scipy.sparse as sp; sp.save_npz('other.npz', sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(900, 900), format='csr'))"
