echo '{matrix: {generate: laplacian2d, size: [20, 20]}, right_hand_sides: {file: rhs.h5}, output: {file: solution.h5}}' | block-solve --quiet -
