"""bigclf evaluate: how good a model is on labelled rows."""

from __future__ import annotations

from bigclf.cli.groups import READING
from bigclf.cli.options import Data, Given, Json, ModelFile, Quiet, Verbose, takes

EXAMPLE = "Example: bigclf evaluate model.npz test.svm --json | jq .g_mean"


@takes(reading=READING)
def evaluate(
    model: ModelFile, data: Data, json: Json = False, quiet: Quiet = False, verbose: Verbose = 0, *, reading: Given
) -> None:
    """Evaluate a model on labelled data: all measures and the confusion matrix, without keeping the scores."""
    from bigclf.cli.ready import ready

    ready(data, reading)
    from bigclf.cli.evaluating import run

    run(model, data, json, quiet, reading)
