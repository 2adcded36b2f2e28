import pytest
from matplotlib import font_manager

from vnnanalysis import fonts
from vnnanalysis.drawing import styled
from vnnanalysis.names import brief_name, plain_text, short_text


def test_only_installed_fonts_are_asked():
    """Matplotlib warns of any other font, at every text."""
    found = fonts.families(["No such font", "STIXGeneral"])
    assert found == ["DejaVu Sans", "STIXGeneral"]
    installed = set(font_manager.get_font_names())
    assert set(fonts.families()) <= installed


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        pytest.param("a_1 & $x", "a_1 & $x", id="ascii"),
        pytest.param("α,β-CROWN é ≤", "α,β-CROWN é ≤", id="in-the-font"),
        pytest.param("验证-tool", r"\u9a8c\u8bc1-tool", id="cjk"),
        pytest.param("a\tb\x07", r"a\tb\x07", id="control"),
        pytest.param("\U0001f9ff", r"\U0001f9ff", id="beyond-16-bit"),
        pytest.param("\ud800", r"\ud800", id="half-a-character"),
    ],
)
def test_what_no_font_has_is_written_as_its_number(text, printed):
    assert fonts.printable(text, ["DejaVu Sans"]) == printed
    assert fonts.printable(printed, ["DejaVu Sans"]) == printed


def test_what_another_font_has_is_kept():
    private = "\ue18b"  # only STIX has it
    assert fonts.printable(private, ["DejaVu Sans"]) != private
    assert fonts.printable(private, ["DejaVu Sans", "STIXNonUnicode"]) == private


def test_names_in_any_script_are_drawn_without_warnings(tidy, monkeypatch):
    from vnnanalysis.analysis import open_analysis
    from vnnanalysis.figures import cactus, heatmap

    rows = "验证,基准,i,unsat,1\n验_$证,基准,i,unsat,2\n"
    a = open_analysis(edition=str(tidy("tool,benchmark,instance,result,time_s\n" + rows)))
    figure = cactus(a.judged, a.edition, a.tools)
    figure.canvas.draw()  # a missing character would be a warning, and that an error
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(set(names)) == 2
    counts = a.judged.pivot_table(index="tool", columns="benchmark", values="run_s")
    heatmap(counts, "时间", a.edition).canvas.draw()


def test_long_names_are_cut_after_they_became_printable(tidy):
    from vnnanalysis.analysis import open_analysis

    rows = "".join(f"{'验' * 30}{k},x,i,unsat,1\n" for k in range(2))
    a = open_analysis(edition=str(tidy("tool,benchmark,instance,result,time_s\n" + rows)))
    names = [brief_name(a.edition, tool) for tool in a.edition.tools]
    assert len(set(names)) == 2
    assert max(map(len, names)) <= 28 + len(" (1)")
    assert len(short_text("验" * 30, 18)) == 18


def test_the_house_style_has_every_font():
    import matplotlib as mpl

    from vnnanalysis.drawing import new_figure

    @styled
    def draw():
        assert mpl.rcParams["font.family"] == fonts.families()
        return new_figure(1, 1)

    draw()
    assert plain_text("_$") == r" _\$"
