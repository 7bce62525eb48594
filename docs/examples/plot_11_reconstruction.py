"""
Rows come back
==============

LSDR keeps nine numbers of each digit, and these rebuild the picture and name the class.
"""

import matplotlib.pyplot as plt

import supdr

data = supdr.datasets.load("digits")
model = supdr.LSDR(9, random_state=0).fit(data.X[:1200], data.y[:1200])
new = data.X[1200:1210]
copies = model.inverse_transform(model.transform(new))

figure, axes = plt.subplots(2, 10, figsize=(8, 1.9), layout="constrained")
for column, (row, copy) in enumerate(zip(new, copies)):
    for ax, image in zip(axes[:, column], (row, copy)):
        ax.imshow(image.reshape(8, 8), cmap="gray_r")
        ax.set_axis_off()
