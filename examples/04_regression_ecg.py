"""
4. Find heart beats
===================

A task without feedback: the electrocardiogram goes in, a signal that peaks at every *normal* beat
comes out. The first three minutes of the record are searched on, the fourth is the test.
"""

import numpy as np
from matplotlib import pyplot as plt

from echofold import ESNRegressor, ESNSearchCV, KFold, datasets
from echofold.metrics import nrmse

ecg = datasets.load_ecg()
minute = 60 * ecg.sampling_rate
signal = ecg.signal[: 4 * minute, :1]
target = datasets.beat_target(ecg, length=4 * minute)
X, X_test = signal[: 3 * minute], signal[3 * minute :]
y, y_test = target[: 3 * minute], target[3 * minute :]

# %%
# Ten folds of eighteen seconds. The condition number says how nearly collinear the states are:
# computed from XᵀX, which squares it, errors at a small ridge would be noise.
search = ESNSearchCV(
    ESNRegressor(units=50, random_state=1),
    {"leak_rate": [0.2, 0.4, 0.8], "spectral_radius": [0.1, 0.6], "ridge": [1e-9, 1e-6, 1e-3]},
    cv=KFold(10),
)
search.fit(X, y)
print(search.to_frame().head(4).to_string(index=False, float_format="{:.4g}".format))

# %%
# ``start="last"`` goes on from the state at the end of the training data.
predicted = search.predict(X_test, start="last")
print(f"validation {search.best_score_:.3f}, test {nrmse(y_test, predicted):.3f}")

# %%
# Why is the test minute harder? Its beat near 5.5 s is premature, so the target ignores it; three
# minutes with one such beat did not teach the network to.
shown = np.arange(3 * ecg.sampling_rate, 8 * ecg.sampling_rate)
time = shown / ecg.sampling_rate
fig, (above, below) = plt.subplots(2, sharex=True, figsize=(6.4, 3.6), layout="constrained")
above.plot(time, X_test[shown, 0], color="#4D4D4D", linewidth=0.8)
above.set_ylabel("mV")
below.plot(time, y_test[shown], color="#0072B2", linewidth=3, alpha=0.4, label="target")
below.plot(time, predicted[shown], color="#D55E00", linewidth=1, label="network")
below.set_xlabel("seconds of the fourth minute")
below.legend(loc="upper right", frameon=False)
plt.show()
