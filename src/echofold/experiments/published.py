"""The three result tables of the paper, as printed there.

The numbers are those of M. Lukoševičius and A. Uselis, "Efficient Implementations of Echo State
Network Cross-Validation", Cognitive Computation (2021), doi 10.1007/s12559-021-09849-2: the tables
of its generative, time series output and classification experiments. All errors are NRMSE. The
names of final models are ours ("average" of the single split of SV is the paper's "As is");
"_V", "V_" and "_V_" stand for gaps before, after and on both sides of the validation interval.
"""

from __future__ import annotations

DATASETS = ("labor", "gasoline", "sunspots", "electricity")

# Mean validation error over five draws, in the order of DATASETS.
GENERATIVE_VALIDATION = {
    "SV": (0.957, 0.875, 0.673, 0.358),
    "SV _V": (1.016, 0.874, 0.639, 0.353),
    "CV": (1.821, 0.987, 1.061, 0.585),
    "CV V_": (2.008, 0.988, 1.063, 0.590),
    "CV _V": (2.027, 1.000, 1.089, 0.568),
    "CV _V_": (2.036, 0.997, 1.083, 0.574),
    "AV": (2.166, 1.016, 0.731, 0.636),
    "AV _V": (2.262, 1.036, 0.724, 0.640),
    "FV": (2.218, 1.035, 0.733, 0.648),
    "FV _V": (2.379, 1.023, 0.702, 0.636),
}

# Mean test error over five draws, in the order of DATASETS.
GENERATIVE_TEST = {
    ("SV", "average"): (1.504, 1523.949, 0.915, 2902.103),
    ("SV", "retrain"): (1.284, 120.525, 0.877, 4.679),
    ("SV _V", "average"): (2.181, 1620.997, 1.063, 0.736),
    ("SV _V", "retrain"): (1.575, 496.723, 0.929, 0.613),
    ("CV", "average"): (1.514, 0.901, 0.726, 0.607),
    ("CV", "best"): (1.492, 0.905, 0.747, 0.601),
    ("CV", "retrain"): (1.486, 0.901, 0.735, 0.604),
    ("CV V_", "average"): (1.994, 0.902, 0.709, 0.593),
    ("CV V_", "best"): (2.020, 0.891, 0.830, 0.596),
    ("CV V_", "retrain"): (2.001, 0.899, 0.714, 0.587),
    ("CV _V", "average"): (1.992, 0.914, 0.737, 0.585),
    ("CV _V", "best"): (1.637, 0.905, 0.785, 0.601),
    ("CV _V", "retrain"): (2.001, 0.912, 0.763, 0.584),
    ("CV _V_", "average"): (1.967, 0.896, 0.792, 0.588),
    ("CV _V_", "best"): (2.016, 0.899, 0.817, 0.589),
    ("CV _V_", "retrain"): (2.001, 0.891, 0.788, 0.584),
    ("AV", "average"): (1.272, 0.848, 0.854, 0.680),
    ("AV", "best"): (1.197, 0.816, 0.924, 0.620),
    ("AV", "retrain"): (1.873, 0.870, 0.765, 0.622),
    ("AV _V", "average"): (0.693, 0.855, 0.830, 0.616),
    ("AV _V", "best"): (0.643, 0.821, 0.799, 0.566),
    ("AV _V", "retrain"): (2.001, 0.881, 0.701, 0.566),
    ("FV", "average"): (1.591, 0.839, 0.742, 0.629),
    ("FV", "best"): (1.542, 0.814, 0.867, 0.573),
    ("FV", "retrain"): (1.695, 0.899, 0.712, 0.593),
    ("FV _V", "average"): (1.639, 0.840, 0.805, 0.573),
    ("FV _V", "best"): (1.626, 0.818, 0.950, 0.693),
    ("FV _V", "retrain"): (1.752, 0.904, 0.738, 0.616),
}

OUTPUT_VALIDATION = {"SV": 0.256, "CV": 0.186, "AV": 0.200, "FV": 0.198}

# Mean and standard deviation of the test error over five draws.
OUTPUT_TEST = {
    ("SV", "average"): (0.244, 0.033),
    ("SV", "best"): (0.244, 0.033),
    ("SV", "retrain"): (0.242, 0.033),
    ("CV", "average"): (0.218, 0.004),
    ("CV", "best"): (0.218, 0.005),
    ("CV", "retrain"): (0.217, 0.005),
    ("AV", "average"): (0.218, 0.008),
    ("AV", "best"): (0.216, 0.008),
    ("AV", "retrain"): (0.216, 0.006),
    ("FV", "average"): (0.216, 0.005),
    ("FV", "best"): (0.216, 0.004),
    ("FV", "retrain"): (0.217, 0.004),
}

# Leak rate, spectral radius and ridge chosen in one of the paper's runs.
OUTPUT_CHOSEN = {
    "SV": (0.1, 1.45, 0.0),
    "CV": (0.4, 0.85, 1e-9),
    "AV": (0.7, 0.85, 1e-9),
    "FV": (0.4, 0.85, 0.0),
}

# Mean and standard deviation over 500 draws.
CLASSIFICATION_VALIDATION = {"SV": (0.471, 0.049), "CV": (0.490, 0.009), "CV IReg": (0.485, 0.009)}
CLASSIFICATION_TEST = {
    ("SV", "average"): (0.495, 0.024),
    ("SV", "retrain"): (0.492, 0.024),
    ("CV", "average"): (0.468, 0.008),
    ("CV", "retrain"): (0.468, 0.008),
    ("CV IReg", "average"): (0.466, 0.007),
    ("CV IReg", "retrain"): (0.467, 0.007),
}
CLASSIFICATION_WRONG = {
    ("SV", "average"): (5.608, 3.032),
    ("SV", "retrain"): (5.447, 3.087),
    ("CV", "average"): (3.388, 1.404),
    ("CV", "retrain"): (3.404, 1.413),
    ("CV IReg", "average"): (3.309, 1.304),
    ("CV IReg", "retrain"): (3.200, 1.346),
}

# Median prediction horizon over 50 draws on the Lorenz system, in Lyapunov times, of A. Racca and
# L. Magri, Neural Networks 142 (2021): model-free networks, Bayesian optimisation.
RACCA = {
    "SSV": 5.88,
    "WFV": 6.03,
    "WFVc": 6.13,
    "KFV": 6.06,
    "KFVc": 6.32,
    "RV": 6.15,
    "RVc": 6.20,
}
