"""
5. Tell speakers apart
======================

Nine men say the same two vowels. Each utterance, 7 to 29 frames long, drives a reservoir from
rest; the readout sees only the mean of its states.
"""

import numpy as np
from matplotlib import pyplot as plt

from echofold import ESNClassifier, ESNSearchCV, KFold
from echofold.datasets import load_japanese_vowels

vowels = load_japanese_vowels()
print(vowels)

# %%
# Utterances have no order in time, so folds are shuffled. The squared error of the outputs selects
# better than the error rate, which moves in steps of one utterance; both are kept.
search = ESNSearchCV(
    ESNClassifier(units=50, states="mean", random_state=1),
    {
        "leak_rate": [0.05, 0.1, 0.2, 0.4, 0.8],
        "spectral_radius": [0.1, 0.4, 0.8, 1.2],
        "input_scaling": [0.1, 0.3, 1.0],
        "ridge": [1e-6, 1e-4, 1e-2, 1],
    },
    cv=KFold(18, shuffle=True, random_state=0),
    metric=["nrmse", "error_rate"],
)
search.fit(vowels.train, vowels.train_labels)
print(search.best_params_)

# %%
predicted = search.predict(vowels.test)
wrong = predicted != vowels.test_labels
print(f"{wrong.sum()} of {len(wrong)} test utterances are given to the wrong speaker")

# %%
# How close was it? The output of the right speaker, less the highest of the others.
outputs = search.decision_function(vowels.test)
right = vowels.test_labels[:, None] == search.best_estimator_.classes_
margin = outputs[right] - np.where(right, -np.inf, outputs).max(axis=1)
speaker = vowels.test_labels.astype(int)
_, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
spread = np.random.default_rng(0).uniform(-0.3, 0.3, len(speaker))
ax.scatter(speaker + spread, margin, s=9, c=np.where(wrong, "#D55E00", "#0072B2"))
ax.axhline(0, color="grey", linewidth=0.8)
ax.set_xlabel("speaker")
ax.set_ylabel("margin of the right speaker")
plt.show()
