# What a page takes for granted.
import skfem, skfem.helpers
from skfem.models.elasticity import lame_parameters, linear_elasticity
mesh = skfem.MeshTet.init_tensor(*[np.linspace(0, 1, 5)] * 3)
basis = skfem.Basis(mesh.with_defaults(), skfem.ElementVector(skfem.ElementTetP1()))
K = linear_elasticity(*lame_parameters(1.0, 0.3)).assemble(basis)
M = skfem.BilinearForm(lambda u, v, w: skfem.helpers.dot(u, v)).assemble(basis)
clamped = basis.get_dofs("left")
