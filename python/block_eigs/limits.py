"""What residual norms have to come down to, from what results say."""

import numpy as np

__all__ = ["limits_of_pairs", "limits_of_solutions", "tolerance_of"]


def tolerance_of(config, section):
    """`tolerance` of a section of a resolved config, which has a key a line; None where there is none."""
    inside = False
    for line in (config or "").splitlines():
        if line and not line[0].isspace():
            inside = line.startswith(section + ":")
        elif inside and line.strip().startswith("tolerance:"):
            try:
                return float(line.split(":", 1)[1])
            except ValueError:
                return None
    return None


def limits_of_pairs(residual_norms, attained, requested):
    """By whatever criterion: `attained` are the tolerances that the residuals would just meet. NaN for residuals of zero."""
    attained = np.asarray(attained, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(attained > 0, np.asarray(residual_norms, float) * (requested / attained), np.nan)


def limits_of_solutions(rhs_norms, requested):
    return requested * np.asarray(rhs_norms, float)
