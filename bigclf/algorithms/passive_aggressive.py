"""Passive-aggressive learning: the smallest change of the weights that meets the margin.

With hinge loss l = max(0, 1 - y w.x) the step along y x is l / |x|^2 (PA), at most C (PA-I), or l / (|x|^2 + 1/(2C))
(PA-II): Crammer et al. 2006, figure 1.
"""

from __future__ import annotations

from functools import partial

from bigclf.algorithms.perceptron import AVERAGE, first_order
from bigclf.core import Param, Spec

CRAMMER = "Crammer, Dekel, Keshet, Shalev-Shwartz & Singer, JMLR 7 (2006) 551-585, figure 1"
CAP = Param("C", float, 1.0, "aggressiveness: the largest step of pa-1, the softness of pa-2", low=0.0, open_low=True)

SPECS = (
    Spec(
        "pa",
        "the smallest change that meets the margin",
        CRAMMER,
        partial(first_order, "pa"),
        (AVERAGE,),
        uses_weights=False,
    ),
    Spec(
        "pa-1",
        "the smallest change that meets the margin, its length capped at C",
        CRAMMER,
        partial(first_order, "pa-1"),
        (CAP, AVERAGE),
        notes=("weights of rows and classes multiply C, and count where it is reached: with a C below the usual step",),
    ),
    Spec(
        "pa-2",
        "the smallest change that meets the margin, its length softened by 1/(2C)",
        CRAMMER,
        partial(first_order, "pa-2"),
        (CAP, AVERAGE),
    ),
)
