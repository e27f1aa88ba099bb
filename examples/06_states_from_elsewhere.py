"""
6. States from elsewhere
========================

The reservoir need not be ours. Here it is a bench experiment in miniature: a ring of forty coupled
nonlinear springs, read by noisy sensors. Only the readout is cross-validated; leave-one-out over
1,450 rows costs about as much as one fit.
"""

import numpy as np
from matplotlib import pyplot as plt

from echofold import KFold, LeaveOneOut, cross_validate_readout, plots

rng = np.random.default_rng(0)
steps, sites = 1500, 40
drive = rng.uniform(-1, 1, steps)
coupling, load = rng.normal(size=(2, sites))

position, speed = np.zeros((2, sites))
states = np.empty((steps, sites))
for t in range(steps):
    for _ in range(5):  # five small time steps for each value of the input
        pull = np.roll(position, 1) + np.roll(position, -1) - 2 * position
        force = 0.5 * pull - position - position**3 - speed + coupling * drive[t] + load
        speed = speed + 0.2 * force
        position = position + 0.2 * speed
    states[t] = position
states += 1e-3 * rng.normal(size=states.shape)  # what the sensors add

# %%
# A task that needs memory and a product. Neighbouring rows share their past, so one of the two
# schemes leaves a gap around each block.
target = np.roll(drive, 1) * np.roll(drive, 2)
ridge = [0, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10]
schemes = {"leave one out": LeaveOneOut(), "blocks with gaps": KFold(10, gap=20)}
found = cross_validate_readout(states[50:], target[50:], cv=schemes, ridge=ridge, metric="mse")

# %%
# What was done, and why.
for name, result in found.items():
    print(f"{name}: {result.attrs['reason']}")
    print(f"  lowest MSE {float(result.mse.mean('split').min()):.4f}")
print(f"variance of the target: {target.var():.4f}")

# %%
# The noise of the sensors is what makes a ridge worth having.
plots.ridge_path(found["blocks with gaps"])
plt.show()
