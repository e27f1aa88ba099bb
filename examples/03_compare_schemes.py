"""
3. Compare validation schemes
=============================

Four schemes choose among the same networks, in one pass over the data. What they chose is made
into three kinds of final model and scored on a year that none of them has seen.
"""

import pandas as pd
from matplotlib import pyplot as plt

from echofold import Accumulative, ESNForecaster, ESNSearchCV, KFold, SingleSplit, WalkForward
from echofold.datasets import load_gasoline
from echofold.metrics import nrmse

y = load_gasoline().data
past, last_year = y[:-52], y[-52:]

schemes = {
    "single": SingleSplit(52),
    "k-fold": KFold(18, valid=52),
    "accumulative": Accumulative(18, valid=52),
    "walk-forward": WalkForward(18, valid=52),
}
space = {
    "leak_rate": [0.1, 0.3, 0.5, 0.7, 0.9],
    "spectral_radius": [0.2, 0.5, 0.8, 1.1],
    "ridge": [1e-8, 1e-6, 1e-4, 1e-2, 1],
}
search = ESNSearchCV(ESNForecaster(50, random_state=0), space, cv=schemes).fit(past)
print(search.summary())

# %%
# "average" and "best" reuse the readouts of the splits; "retrain" fits the winner to everything.
finals = ("retrain", "average", "best")
errors = pd.DataFrame(
    {f: [nrmse(last_year, search.finalize(f, s).forecast(52)) for s in schemes] for f in finals},
    index=list(schemes),
)
print(errors.round(3))

# %%
# A single split saw one stretch and picked a network that happened to fit it: unretrained, its
# forecast runs away. The schemes that average over many stretches do not make that mistake.
_, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
errors.plot.barh(logx=True, ax=ax, color=["#0072B2", "#009E73", "#D55E00"])
ax.axvline(1, color="grey", linewidth=0.8)
ax.invert_yaxis()
ax.set_xlabel("NRMSE on the year that followed")
ax.legend(frameon=False)
plt.show()
