import re

import pytest

from vnnanalysis.analysis import analyse, analyse_variants, open_analysis
from vnnanalysis.facts import report_facts
from vnnanalysis.load import load_contest
from vnnanalysis.macros import macro_words, to_tex


def macros_of(contest):
    return report_facts(analyse(contest, contest.edition.rules))["macros"]


@pytest.fixture(scope="module")
def of_2021(contest_2021):
    return report_facts(analyse(contest_2021, contest_2021.edition.rules))


def test_the_published_numbers_of_2021_have_names(of_2021):
    found = of_2021["macros"]
    assert found["vnnOverallABCrownScore"] == "779.7"  # Table 4 (b)
    assert found["vnnVariantSingleOddOneOutEranScore"] == "581.1"  # Table 4 (a)
    assert found["vnnVariantSingleOddOneOutOvalRank"] == "3"
    assert found["vnnOverheadEran"] == "7.1"  # Table 5
    assert found["vnnOverheadEranCpuMode"] == "3.7"
    assert found["vnnOverheadOvalCpuMode"] == "-"
    assert found["vnnSolvedVeriNet"] == "717"  # Table 7
    assert found["vnnIncorrectMarabou"] == "26"  # Table 10
    assert found["vnnBenchmarkAcasxuNnenumScore"] == "1910"  # Table 11
    assert found["vnnBenchmarkMnistfcVenusTwoPercent"] == r"67.6\%"  # Table 16
    assert found["vnnComplementarityABCrownSolved"] == "766"
    assert float(found["vnnComplementarityABCrownSolvedSeconds"]) > 1
    assert found["vnnTools"] == "13"
    assert found["vnnDisputed"] == "63"


def test_every_score_under_every_variant_is_there(contest_2021, of_2021):
    analysis = analyse(contest_2021, contest_2021.edition.rules)
    values = [v for name, v in of_2021["macros"].items() if name.startswith("vnnVariant")]
    scores = [s for _, variant in analyse_variants(analysis) for s in variant.overall["score"]]
    assert sorted(v for v in values if "." in v) == sorted(f"{s:.1f}" for s in scores)
    assert len(scores) == 6 * 13


@pytest.mark.parametrize("fixture", ["invented", "contest_2021"])
def test_every_number_of_the_sentences_is_the_value_of_a_macro(fixture, request):
    facts = report_facts(analyse(c := request.getfixturevalue(fixture), c.edition.rules))
    values = {v for name, v in facts["macros"].items() if not name.startswith("vnnText")}
    number = re.compile(r"(?<![\w-])\d+(?:\.\d+)?(?![\w-]|\.\d)")
    told = {name: text for name, text in facts["texts"].items() if name != "rules"}
    for sentences in told.values():
        for sentence in sentences:
            names = sorted(map(c.edition.name, c.edition.tools), key=len, reverse=True)
            plain = re.sub("|".join(map(re.escape, names)), "", sentence)
            ranks = re.sub(r"\d+\. ", "", plain)  # 1. first, 2. second
            assert [n for n in number.findall(ranks) if n not in values] == [], sentence


def test_names_are_letters_and_unique_whatever_the_tools_are_called(tidy):
    names = ["a_b", "a-b", "A.B", "2x", "β-tool", "工具", "$\\x$", "é", "--"]
    rows = "".join(f'"{n}",c&d_{i % 2},i,unsat,{i + 1}\n' for i, n in enumerate(names))
    contest = load_contest(str(tidy("tool,benchmark,instance,result,time_s\n" + rows)))
    found = macros_of(contest)
    assert all(re.fullmatch("[A-Za-z]+", name) for name in found)
    assert {"vnnOverallABScore", "vnnOverallABTwoScore", "vnnOverallABThreeScore"} <= set(found)
    assert {"vnnOverallTwoXScore", "vnnOverallBetaToolScore", "vnnOverallEScore"} <= set(found)
    scores = [name for name in found if re.fullmatch("vnnOverall.*Score", name)]
    assert len(scores) == len(names)
    defined = re.findall(r"^\\newcommand\{\\([A-Za-z]+)\}\{.*\}$", to_tex(found), re.MULTILINE)
    assert defined == list(found)
    assert len(set(defined)) == len(defined)


def test_a_name_that_another_name_makes_is_given_once():
    assert macro_words(["ABTwo", "A-B", "a_b"]) == {"ABTwo": "ABTwo", "A-B": "AB", "a_b": "ABThree"}


def test_tracks_are_named_where_there_are_several(raw_edition):
    rows = {"x": "acas,./benchmarks/acas/n.onnx,./benchmarks/acas/p.vnnlib,.1,unsat,1.5\n"}
    other = {"y": "cnn,./benchmarks/cnn/n.onnx,./benchmarks/cnn/p.vnnlib,.1,unsat,2.5\n"}
    more = '[tracks.second]\nbenchmarks = ["cnn"]\n'
    edition, folder = raw_edition({**rows, **other}, more=more)
    facts = report_facts(open_analysis(edition=edition, results=folder))
    assert facts["macros"]["vnnOverallMainXScore"] == "100.0"
    assert facts["macros"]["vnnOverallSecondYScore"] == "100.0"


def test_a_selection_without_any_score_has_macros_too(tidy):
    rows = "A,b,i,sat,1\nA,b,j,unsat,2\nB,c,i,sat,2\nA,c,i,sat,1\n"
    contest = load_contest(str(tidy("tool,benchmark,instance,result,time_s\n" + rows)))
    analysis = analyse(contest, contest.edition.rules, benchmarks=["b"], tools=["B"])
    assert report_facts(analysis)["macros"]["vnnInstances"] == "2"
