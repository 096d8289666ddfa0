import pytest

from generator.site.charts.plot import Caption, Row, row_chart
from generator.site.pages.markdown import markdown

BASE = "https://x.test"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h2>Seven  assets</h2><p>One\n two</p>", "## Seven assets\n\nOne two\n"),
        ('<p><a href="/docs/">Docs</a> and <a href="#here">here</a></p>', f"[Docs]({BASE}/docs/) and here\n"),
        ("<ul><li>one</li><li><p>two</p></li></ul><p>end</p>", "- one\n- two\n\nend\n"),
        ("<dl><div><dt>State</dt><dd>WAIT</dd><dd>calm</dd></div></dl>", "- **State**: WAIT, calm\n"),
        ("<pre><code>curl x\n  y</code></pre>", "```\ncurl x\n  y\n```\n"),
        ("<p>a <code>b</code> <strong>c</strong></p>", "a `b` **c**\n"),
        ("<p>a<svg><title>t</title></svg><span aria-hidden='true'>-</span></p><p hidden>b</p><nav>c</nav>", "a\n"),
    ],
)
def test_what_our_pages_use_becomes_markdown(html: str, text: str) -> None:
    assert markdown(html, BASE) == text


def test_tables_keep_their_rows_together() -> None:
    html = """<table> <caption>What</caption> <thead><tr><th>A</th><th>B</th></tr></thead>
    <tbody> <tr> <th>x|y</th> <td> 1 </td> </tr> <tr><td></td><td>2</td></tr> </tbody></table>"""

    assert markdown(html, BASE) == "What\n\n| A | B |\n| --- | --- |\n| x\\|y | 1 |\n|  | 2 |\n"


def test_the_numbers_of_the_charts_come_after_the_reading() -> None:
    caption = Caption(name="a", finding="Up", desc="d", source="s", columns=("A",), rows=(("1",),))
    chart = row_chart(caption, "", [Row("r", 1.0, "1")])

    text = markdown(f"<h1>T</h1>{chart}<h2>The reading</h2><p>Calm.</p>", BASE)

    assert text.index("# T") < text.index("Up") < text.index("Calm.") < text.index("## The numbers of the charts")
    assert text.endswith("| A |\n| --- |\n| 1 |\n")
