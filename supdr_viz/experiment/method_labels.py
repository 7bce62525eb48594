"""The names of the methods in their menu, in its order."""

from __future__ import annotations

# Name of a method -> its label, and one sentence about it.
LABELS: dict[str, tuple[str, str]] = {
    "NSDR": ("NSDR", "Latent rows that reconstruct the data and feed a kernel SVM."),
    "LSDR": ("LSDR", "Latent rows that reconstruct the data and feed a linear classifier."),
    "MAC": ("MAC", "A nonlinear map into few dimensions and linear SVMs there, learnt together."),
    "SDRGLM": ("SDR-GLM", "One latent row explains features and targets, each by a generalised linear model."),
    "SLDR": ("SLDR", "A gate chooses, row by row, which view and which local projection feed the margin."),
    "SNF": ("SNF", "Latent rows from which every column and the target are regressions; a few labels suffice."),
    "ClassAtlas": (
        "ClassAtlas",
        "A map of one chart per class; a gate decides between them, and doubt becomes position.",
    ),
    "LinearSVM": ("Linear SVM", "A maximum-margin plane in the input space."),
    "PolySVM": ("Polynomial SVM", "A kernel SVM on the inputs."),
    "RBFSVM": ("RBF SVM", "A kernel SVM on the inputs."),
    "PCASVM": ("PCA, then SVM", "Principal components, which see no labels, then a kernel SVM."),
    "LDA": ("LDA", "Directions that separate the class means."),
    "KNN": ("k nearest neighbours", "The vote of the nearest training rows."),
    "PCAProjection": ("PCA", "Principal components, which see no labels."),
    "KernelPCAProjection": ("Kernel PCA", "Principal components of a Gaussian kernel, which see no labels."),
    "LDAProjection": ("LDA, then a classifier", "Directions that separate the class means."),
    "PLSProjection": ("PLS, then a classifier", "Directions of the inputs that covary with the classes."),
    "KLDA": ("Kernel LDA", "Discriminant directions in the space of a Gaussian kernel."),
    "NCA": ("NCA", "A linear map in which the nearest neighbours vote well."),
    "LMNN": ("LMNN", "A linear map that draws neighbours of the same class near and pushes the others away."),
    "TSNE": (
        "t-SNE",
        "Near rows stay near; sees no labels. New rows go between their nearest training rows: it cannot place them.",
    ),
    "UMAP": (
        "UMAP",
        "Near rows stay near, classes apart. Its first run takes longer: the package umap-learn compiles itself.",
    ),
    "PaCMAP": (
        "PaCMAP",
        "Near rows stay near, and so does what is farther; sees no labels. Its first run takes longer.",
    ),
    "TwoStep": ("Two steps", "MAC's model, learnt by turns without auxiliary coordinates."),
    "AllViewsSVM": ("SVM on all views", "A linear SVM on all views side by side."),
    "BestViewSVM": ("SVM on the best view", "A linear SVM on the view that does best in cross-validation."),
    "MKL": ("MKL", "A linear SVM on a weighted sum of the views' kernels; the weights are learnt."),
    "LMKL": ("Localised MKL", "Weights of the kernels that depend on the row, by a gate."),
    "SVDM": ("SVDM", "Latent rows that reconstruct the data and feed large-margin classifiers."),
    "LogisticUDR": (
        "Unsupervised, then logistic",
        "Latent rows under a generalised linear model of the data, then logistic regression.",
    ),
    "SVMUDR": (
        "Unsupervised, then SVM",
        "Latent rows under a generalised linear model of the data, then a linear SVM.",
    ),
    "LogisticPCA": (
        "Logistic PCA",
        "Principal components of bits, then logistic regression; for columns of 0 and 1 only.",
    ),
    "ElasticNet": ("Elastic Net", "Linear regression with few and small weights."),
    "PLS": ("PLS regression", "Directions of the inputs that covary with the target, and a regression on them."),
    "LSSVM": ("LS-SVM", "Kernel ridge regression with a bias."),
    "LLR": ("LLR", "Linear latent rows from which every column and the target are regressions."),
    "GraphLaplacian": ("Graph Laplacian", "Predictions that change little between neighbours."),
    "LapRLS": ("LapRLS", "Kernel ridge regression that changes little between neighbours."),
    "HessianEnergy": ("Hessian energy", "Predictions that are close to linear along the sheet of the rows."),
    "PFR": (
        "Parallel field regression",
        "Predictions whose gradient is a parallel vector field along the sheet of the rows.",
    ),
    "Constant": ("Constant", "The mean, or the most frequent class."),
}
