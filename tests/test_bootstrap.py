"""The bootstrap against the score itself, computed on really resampled rows."""

import zlib

import numpy as np
import pandas as pd
import pytest
from conftest import raw_of

from vnnanalysis.bootstrap import resample
from vnnanalysis.judging import judge
from vnnanalysis.load import load_contest
from vnnanalysis.scoring import benchmark_scores, overall_scores, solved_times
from vnnanalysis.terms import Design


def drawn(rows, name, seed, replicates):
    """Return the instances of each draw of a benchmark, from the seed."""
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    here = rows[rows["benchmark"] == name].sort_values(["index", "instance"], kind="stable")
    instances = here["instance"].drop_duplicates().to_numpy()
    return instances[rng.integers(0, len(instances), (replicates, len(instances)))]


def copies_of(rows, name, instances, copy):
    """Return the rows of drawn instances, each draw an instance of its own."""
    of = dict(list(rows[rows["benchmark"] == name].groupby("instance")))
    parts = [
        of[instance].assign(instance=f"{instance} {copy} {i}")
        for i, instance in enumerate(instances)
    ]
    return pd.concat(parts)


def scored(rows, edition, rules, track):
    """Return the official score of some judged rows: scores and ranks by tool."""
    scores = benchmark_scores(rows, edition, rules)
    times = solved_times(rows, edition)
    overall = overall_scores(scores, edition, rules, times=times)
    return overall[overall["track"] == track].set_index("tool")[["score", "rank"]]


def check(judged, edition, rules, track, expected_rows, design, replicates, seed):
    """Compare every replicate with the score of the rows that were drawn."""
    got = resample({"own": (judged, rules)}, edition, track, design=design,
                   replicates=replicates, seed=seed)  # fmt: skip
    for r in range(replicates):
        expected = scored(expected_rows(r), edition, rules, track)
        for i, tool in enumerate(got.tools):
            if tool not in expected.index:  # in no benchmark that was drawn
                assert got.scores["own"][r, i] == 0
                continue
            assert got.scores["own"][r, i] == pytest.approx(expected.loc[tool, "score"])
            assert got.ranks["own"][r, i] == expected.loc[tool, "rank"]
    return got


@pytest.mark.parametrize("settings", [{}, {"floor_percent": "false"}])
def test_each_replicate_is_the_score_of_the_drawn_instances(contest_2021, settings):
    edition = contest_2021.edition
    rules = edition.rules.with_settings(settings)
    judged = judge(contest_2021.runs, edition, rules, contest_2021.checks)
    names = [b for b in edition.benchmarks if b in edition.scored]
    draws = {name: drawn(judged, name, 5, 3) for name in names}

    def rows(r):
        return pd.concat([copies_of(judged, name, draws[name][r], 0) for name in names])

    got = check(judged, edition, rules, "main", rows, Design.INSTANCES, 3, 5)
    assert len(got.tools) == 13


def test_benchmarks_are_drawn_too(invented):
    """A benchmark drawn twice counts twice, its instances drawn anew each time."""
    edition, rules = invented.edition, invented.edition.rules
    judged = judge(invented.runs, edition, rules, invented.checks)
    names = [b for b in edition.benchmarks if b in edition.scored]
    track = edition.track_of(names[0])
    n, seed = 40, 2
    rng = np.random.default_rng([seed, zlib.crc32(track.encode())])
    places = rng.integers(0, len(names), (n, len(names)))
    total = {name: int((places == i).sum()) for i, name in enumerate(names)}
    draws = {name: iter(drawn(judged, name, seed, total[name])) for name in names}
    # draws are handed out benchmark by benchmark, replicate by replicate
    taken = {
        (r, name): [next(draws[name]) for _ in range((places[r] == i).sum())]
        for i, name in enumerate(names) for r in range(n)
    }  # fmt: skip
    got = resample({"own": (judged, rules)}, edition, track, design=Design.BENCHMARKS,
                   replicates=n, seed=seed)  # fmt: skip
    for r in range(n):
        sums = dict.fromkeys(got.tools, 0.0)
        for name in names:
            for instances in taken[r, name]:
                part = scored(copies_of(judged, name, instances, 0), edition, rules, track)
                for tool, score in part["score"].items():
                    sums[tool] += score
        assert dict(zip(got.tools, got.scores["own"][r], strict=True)) == pytest.approx(sums)


def test_a_tool_outside_the_competition_moves_nobody(contest_2021, tidy):
    """Its replicates are those of the tool it copies, the others' those without it."""
    best = contest_2021.runs[
        (contest_2021.runs["tool"] == "VeriNet") & ~contest_2021.runs["is_test"]
    ]
    rows = best.assign(tool="mine", time_s=best["run_s"])
    columns = ["tool", "benchmark", "instance", "result", "time_s"]
    path = tidy(rows[columns].to_csv(index=False), "mine.csv")
    contest = load_contest("2021", raw_of("2021"), extra=[str(path)])
    found = {}
    for name, read in (("with", contest), ("without", contest_2021)):
        rules = read.edition.rules
        judged = judge(read.runs, read.edition, rules, read.checks)
        found[name] = resample({"own": (judged, rules)}, read.edition, "main", replicates=50)
    ours, theirs = found["with"], found["without"]
    kept = [i for i, tool in enumerate(ours.tools) if tool != "mine"]
    assert [ours.tools[i] for i in kept] == list(theirs.tools)
    assert np.array_equal(ours.scores["own"][:, kept], theirs.scores["own"])
    assert np.array_equal(ours.ranks["own"][:, kept], theirs.ranks["own"])
    mine = ours.ranks["own"][:, ours.tools.index("mine")]
    assert set(mine) <= {1, 2, 3, 4}
    assert ours.is_extra.sum() == 1


def test_order_of_rows_and_number_of_variants_change_nothing(contest_2021):
    edition, rules = contest_2021.edition, contest_2021.edition.rules
    judged = judge(contest_2021.runs, edition, rules, contest_2021.checks)
    once = resample({"own": (judged, rules)}, edition, "main", replicates=30)
    shuffled = judged.sample(frac=1, random_state=1).reset_index(drop=True)
    twice = resample(
        {"other": (judged.assign(points=0), rules), "own": (shuffled, rules)},
        edition, "main", replicates=30,
    )  # fmt: skip
    assert np.array_equal(once.scores["own"], twice.scores["own"])
    assert not twice.scores["other"].any()
    other_seed = resample({"own": (judged, rules)}, edition, "main", replicates=30, seed=2)
    assert not np.array_equal(once.scores["own"], other_seed.scores["own"])


def test_one_benchmark_with_one_instance_has_no_doubt(tidy):
    text = "tool,benchmark,instance,result,time_s\na,x,i,unsat,4\nb,x,i,unknown,2\nb,y,j,sat,3\n"
    contest = load_contest(str(tidy(text)))
    judged = judge(contest.runs, contest.edition, contest.edition.rules)
    got = resample({"own": (judged, contest.edition.rules)}, contest.edition, "main", replicates=7)
    assert got.tools == ("a", "b")
    assert (got.scores["own"] == 100).all()
    assert (got.ranks["own"] == 1).all()
    only_x = {"own": (judged[judged["benchmark"] == "x"], contest.edition.rules)}
    assert resample(only_x, contest.edition, "main", replicates=7).tools == ("a",)
    nothing = {"own": (judged.head(0), contest.edition.rules)}
    with pytest.raises(ValueError, match="no scored benchmark"):
        resample(nothing, contest.edition, "main")
    with pytest.raises(ValueError, match="at least one replicate, got 0"):
        resample({"own": (judged, contest.edition.rules)}, contest.edition, "main", replicates=0)


def test_equal_scores_are_broken_by_time_where_the_rules_say_so(tidy):
    text = "tool,benchmark,instance,result,time_s\na,x,i,unsat,4\nb,x,i,unsat,4.1\n"
    contest = load_contest(str(tidy(text)))
    edition = contest.edition
    for by_time, ranks in (("true", [1, 2]), ("false", [1, 1])):
        rules = edition.rules.with_settings({"ties_by_time": by_time})
        judged = judge(contest.runs, edition, rules)
        got = resample({"own": (judged, rules)}, edition, "main", replicates=5)
        assert (got.ranks["own"] == ranks).all()


def test_a_variant_without_a_tool_moves_nobody(invented):
    """In one of two variants a tool takes part in nothing: it is last, and counts for nobody."""
    edition, rules = invented.edition, invented.edition.rules
    judged = judge(invented.runs, edition, rules, invented.checks)
    gone = judged.assign(
        takes_part=judged["takes_part"] & (judged["tool"] != "tool_best"),
        points=judged["points"].mask(judged["tool"] == "tool_best", 0),
    )
    both = resample({"all": (judged, rules), "gone": (gone, rules)}, edition,
                    edition.track_of(edition.scored[0]), replicates=20)  # fmt: skip
    i = both.tools.index("tool_best")
    assert np.isneginf(both.scores["gone"][:, i]).all()
    assert (both.ranks["gone"].argmax(axis=1) == i).all()


def two_benchmarks(tidy, text):
    contest = load_contest(str(tidy("tool,benchmark,instance,result,time_s\n" + text)))
    return contest, contest.edition


def test_time_breaks_ties_over_benchmarks_and_counts_solved_runs_only(tidy):
    """a is faster in sum though slower on y; what b ran in vain does not count."""
    rows = "a,x,i,unsat,2\nb,x,i,unsat,9\na,y,i,unsat,4\nb,y,i,unsat,3\n"
    contest, edition = two_benchmarks(tidy, rows + "a,y,j,timeout,900\nb,y,j,timeout,1\n")
    variants = {}
    for name, by_time in (("time", "true"), ("score", "false")):
        rules = edition.rules.with_settings(
            {"ties_by_time": by_time, "overhead": "none", "fastest_bonus": 0, "second_bonus": 0}
        )
        variants[name] = (judge(contest.runs, edition, rules), rules)
    got = resample(variants, edition, "main", replicates=60)
    # y is drawn as i and j, so that a replicate may have no solved run of it, or two
    drawn_i = np.rint(got.seconds["time"][:, 0] - 2) / 4
    expected = np.where(2 + 4 * drawn_i < 9 + 3 * drawn_i, 1, 2)
    assert set(drawn_i) == {0, 1, 2}
    assert got.ranks["time"][:, 0].tolist() == expected.tolist()
    assert (got.ranks["score"] == 1).all()
    assert got.seconds["score"] is None
    assert got.ahead("time", 0, 1).all()
    assert not got.ahead("score", 0, 1).any()


def test_an_instance_listed_twice_is_drawn_once_if_the_rules_say_so():
    contest = load_contest("2025", raw_of("2025"))
    edition = contest.edition
    rows = contest.runs[contest.runs["benchmark"] == "2025_sat_relu"]
    for setting, n in (("official", 0), ("unique", 2)):
        rules = edition.rules.with_settings({"duplicates": setting})
        judged = judge(rows, edition, rules, contest.checks)
        kept = judged[judged["occurrence"] == 1] if n else judged
        pair, alone = {"own": (judged, rules)}, {"own": (kept, rules)}
        track = edition.track_of("2025_sat_relu")
        ours = resample(pair, edition, track, replicates=20)
        theirs = resample(alone, edition, track, replicates=20)
        assert np.array_equal(ours.scores["own"], theirs.scores["own"])
        assert (judged["occurrence"] > 1).sum() > 0
