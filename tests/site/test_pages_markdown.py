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


BLOCKS = ("p", "div", "section", "article", "header", "footer", "main", "details", "figure", "figcaption", "summary")
UNREAD = ("nav", "head", "script", "svg")


def test_every_mark_heading_block_and_what_is_left_out_is_known() -> None:
    written = {
        **{f"<{tag}>x</{tag}>": f"{mark}x" for tag, mark in (("h1", "# "), ("h2", "## "), ("h3", "### "))},
        **{
            f"<p><{tag}>x</{tag}></p>": f"{mark}x{mark}" for tag, mark in (("strong", "**"), ("em", "*"), ("code", "`"))
        },
        **{f"a<{tag}>x</{tag}>b": "a\n\nx\n\nb" for tag in (*BLOCKS, "caption")},
        **{f"a<{tag}>x</{tag}>b": "ab" for tag in UNREAD},
        **{f"a<b {name}>x</b>b": "ab" for name in ("hidden", "aria-hidden='true'", "data-script")},
        **{f'a<b class="{name}">x</b>b': "ab" for name in ("skip", "brand", "said")},
        "a<b class='shown'>x</b>b<br>c": "axb c",
    }

    assert {html: markdown(html, BASE) for html in written} == {html: f"{text}\n" for html, text in written.items()}


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
