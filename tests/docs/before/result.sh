echo '{matrix: {file: matrix.h5}, eigensolver: {pairs: 4}, output: {file: result.h5}}' | block-eigs --quiet -
