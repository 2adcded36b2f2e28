import pytest

from vnnanalysis.terms import Result, parse_label


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("holds", Result.UNSAT),
        ("unsat", Result.UNSAT),
        ("Unsat", Result.UNSAT),  # N3
        ("UNSAT", Result.UNSAT),
        ("violated", Result.SAT),
        ("SAT ", Result.SAT),  # N3
        ("timeout", Result.TIMEOUT),
        ("timed-out", Result.TIMEOUT),
        ("run_instance_timeout", Result.TIMEOUT),
        ("prepare_instance_timeout", Result.TIMEOUT),
        ("error", Result.ERROR),
        ("error_exit_code_139", Result.ERROR),
        ("error_exit_code_-9", Result.ERROR),
        ("", Result.UNKNOWN),
        ("unknown", Result.UNKNOWN),
        ("no_result_in_file", Result.UNKNOWN),
        ("prepare_instance_error_2", Result.UNKNOWN),
        ("error_nonmaximal", Result.UNKNOWN),
        ("timeout((X_00.43", Result.TIMEOUT),  # a whole witness glued on, seen in 2022
    ],
)
def test_label_is_mapped_by_table(text, result):
    assert parse_label(text) is result


@pytest.mark.parametrize(
    "text",
    [
        "satisfiable?",  # N3
        "unsatcore",  # N3
        "sat((X_0 0.1))",  # an answer with a witness glued on is malformed, never guessed
        "unsat(",
        "violated (X_0 1)",
        "error_exit_code_",
        "error_exit_code_1x",
        "(",
        "hold",
        "nan",
    ],
)
def test_unknown_label_is_not_guessed(text):
    assert parse_label(text) is None
