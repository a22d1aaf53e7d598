"""One file per family of algorithms. Each declares its SPECS; kernels are imported when a learner is built."""
