"""Baselines: the methods that the papers compare with."""

from supdr.baselines.constant import Constant
from supdr.baselines.elastic_net import ElasticNet
from supdr.baselines.hessian import HessianEnergy
from supdr.baselines.klda import KLDA
from supdr.baselines.laplacian import GraphLaplacian, LapRLS
from supdr.baselines.llr import LLR
from supdr.baselines.lmkl import LMKL
from supdr.baselines.lmnn import LMNN
from supdr.baselines.logistic_pca import LogisticPCA
from supdr.baselines.ls_svm import LSSVM
from supdr.baselines.mkl import MKL
from supdr.baselines.pacmap import INSTALLED as PACMAP_INSTALLED
from supdr.baselines.pacmap import NEEDS as PACMAP_NEEDS
from supdr.baselines.pacmap import PaCMAP
from supdr.baselines.pfr import PFR
from supdr.baselines.pipelines import KNN, LDA, PCASVM, RBFSVM, LinearSVM, PolySVM
from supdr.baselines.pls import PLS, PLSProjection
from supdr.baselines.projections import NCA, KernelPCAProjection, LDAProjection, PCAProjection
from supdr.baselines.svdm import SVDM
from supdr.baselines.tsne import TSNE
from supdr.baselines.two_step import TwoStep
from supdr.baselines.udr import SVMUDR, LogisticUDR
from supdr.baselines.umap import INSTALLED as UMAP_INSTALLED
from supdr.baselines.umap import NEEDS as UMAP_NEEDS
from supdr.baselines.umap import UMAP
from supdr.baselines.view_svm import AllViewsSVM, BestViewSVM
from supdr.engine.estimator import SupervisedReducer

# Name → class, for menus; UMAP and PaCMAP if their packages are installed. `LogisticPCA` is left out: `LogisticUDR` is
# the same on bits, which it recognises.
BASELINES: dict[str, type[SupervisedReducer]] = {
    estimator.__name__: estimator
    for estimator in (
        *(LinearSVM, PolySVM, RBFSVM, PCASVM, LDA, KNN),
        *(PCAProjection, KernelPCAProjection, LDAProjection, PLSProjection, KLDA, NCA, LMNN, TSNE),
        *((UMAP,) if UMAP_INSTALLED else ()),
        *((PaCMAP,) if PACMAP_INSTALLED else ()),
        *(TwoStep, AllViewsSVM, BestViewSVM, MKL, LMKL, SVDM, LogisticUDR, SVMUDR),
        *(ElasticNet, PLS, LSSVM, LLR, GraphLaplacian, LapRLS, HessianEnergy, PFR, Constant),
    )
}

# Name → message with the command to install the package, of methods by optional packages.
NEEDS = {"UMAP": UMAP_NEEDS, "PaCMAP": PACMAP_NEEDS}

__all__ = [
    "BASELINES",
    "KLDA",
    "KNN",
    "LDA",
    "LLR",
    "LMKL",
    "LMNN",
    "LSSVM",
    "MKL",
    "NCA",
    "NEEDS",
    "PCASVM",
    "PFR",
    "PLS",
    "RBFSVM",
    "SVDM",
    "SVMUDR",
    "TSNE",
    "UMAP",
    "AllViewsSVM",
    "BestViewSVM",
    "Constant",
    "ElasticNet",
    "GraphLaplacian",
    "HessianEnergy",
    "KernelPCAProjection",
    "LDAProjection",
    "LapRLS",
    "LinearSVM",
    "LogisticPCA",
    "LogisticUDR",
    "PCAProjection",
    "PLSProjection",
    "PaCMAP",
    "PolySVM",
    "TwoStep",
]
