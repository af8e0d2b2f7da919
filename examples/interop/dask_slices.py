"""A contraction in slices on a cluster of Dask, beside the same on this machine; `LocalCluster` stands for any."""

import numpy as np
from distributed import Client, LocalCluster

import qad


def main():
    a, b, c = (np.random.default_rng(i).normal(size=(12, 12)) for i in range(3))
    plan = qad.plan("ab,bc,ca->", a, b, c, variables=[0], memory_limit=4700)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        value, gradient = qad.value_and_grad(lambda a: plan(a, b, c, executor=client))(a)
    print(f"trace in {plan.slices} slices {value:.10f}   exact {np.trace(a @ b @ c):.10f}")
    print(f"norm of the gradient {np.linalg.norm(gradient):.10f}   exact {np.linalg.norm((b @ c).T):.10f}")


if __name__ == "__main__":  # worker processes import this file
    main()
