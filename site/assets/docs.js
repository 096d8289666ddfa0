// The documentation is whole without this. It adds tabs, copy buttons, a search, and requests sent from the page.
(function () {
  "use strict";
  function all(selector, inside) {
    return Array.prototype.slice.call((inside || document).querySelectorAll(selector));
  }

  function made(tag, text, attributes) {
    var element = document.createElement(tag);
    element.textContent = text;
    Object.keys(attributes || {}).forEach(function (name) {
      element.setAttribute(name, attributes[name]);
    });
    return element;
  }

  all(".needs-script").forEach(function (one) {
    one.hidden = false;
  });

  // A key of an example has its meaning at hand: what the row that it leads to says.
  all(".code a[href^='#']").forEach(function (key) {
    var row = document.getElementById(key.hash.slice(1));
    if (row) {
      key.title = row.lastElementChild.textContent;
    }
  });

  all("pre.code:not(.try pre)").forEach(function (block) {
    var holder = made("div", "", { class: "copied" });
    var button = made("button", "Copy", { type: "button", "aria-label": "Copy: " + block.getAttribute("aria-label") });
    if (!navigator.clipboard) {
      return;
    }
    button.addEventListener("click", function () {
      navigator.clipboard
        .writeText(block.textContent)
        .then(
          function () {
            return "Copied";
          },
          function () {
            return "Select it by hand";
          },
        )
        .then(function (said) {
          button.textContent = said;
          setTimeout(function () {
            button.textContent = "Copy";
          }, 2000);
        });
    });
    block.replaceWith(holder);
    holder.append(block, button);
  });

  all(".tabs").forEach(function (group, number) {
    var panels = all("[data-tab]", group);
    var list = made("div", "", { role: "tablist" });
    var tabs = panels.map(function (panel, place) {
      var tab = made("button", panel.dataset.tab, {
        type: "button",
        role: "tab",
        id: "tab-" + number + "-" + place,
        "aria-controls": "panel-" + number + "-" + place,
      });
      panel.id = "panel-" + number + "-" + place;
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", tab.id);
      panel.querySelector("h3").remove();
      tab.addEventListener("click", function () {
        showEverywhere(tab.textContent);
      });
      return tab;
    });
    list.addEventListener("keydown", function (event) {
      var step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) {
        return;
      }
      var next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
      next.click();
      next.focus();
    });
    if (tabs.length > 1) {
      list.append.apply(list, tabs);
      group.prepend(list);
      show(group, tabs[0].textContent);
    }
  });

  // One choice of language is that of every example on the page.
  function showEverywhere(name) {
    all(".tabs").forEach(function (group) {
      show(group, name);
    });
  }

  function show(group, name) {
    var tabs = all("[role=tab]", group);
    if (
      !tabs.some(function (tab) {
        return tab.textContent === name;
      })
    ) {
      return;
    }
    tabs.forEach(function (tab) {
      var chosen = tab.textContent === name;
      tab.setAttribute("aria-selected", chosen);
      tab.tabIndex = chosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !chosen;
    });
  }

  var box = document.getElementById("docs-search");
  var rows = null;
  function find() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    // A page that has every word comes first, and of those the one with the words in its title.
    var found = (rows || [])
      .map(function (row) {
        var title = row[0].toLowerCase();
        var text = title + " " + row[2].toLowerCase();
        function among(where) {
          return words.filter(function (word) {
            return where.indexOf(word) >= 0;
          }).length;
        }
        return { row: row, score: 3 * among(text) + among(title) };
      })
      .filter(function (one) {
        return one.score;
      });
    found.sort(function (one, other) {
      return other.score - one.score;
    });
    var list = document.getElementById("docs-found");
    list.replaceChildren.apply(
      list,
      found.slice(0, 8).map(function (one) {
        var line = made("li", "");
        line.append(made("a", one.row[0], { href: one.row[1] }));
        return line;
      }),
    );
    if (words.length && rows && !found.length) {
      list.append(made("li", "Nothing found."));
    }
  }
  box.addEventListener("focus", function () {
    if (rows) {
      return;
    }
    rows = [];
    fetch(box.dataset.index)
      .then(function (answer) {
        return answer.json();
      })
      .then(function (index) {
        rows = index.rows;
        find();
      })
      .catch(function () {
        rows = null;
      });
  });
  box.addEventListener("input", find);

  all(".try").forEach(function (form) {
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      var asset = form.elements.asset ? form.elements.asset.value : "";
      var url = form.elements.path.value + (asset ? "?asset=" + asset : "");
      var said = form.querySelector("output");
      var body = form.querySelector("pre");
      var start = performance.now();
      said.textContent = "Asking " + url + " …";
      fetch(url)
        .then(function (answer) {
          return answer.text().then(function (text) {
            var lines = ["HTTP " + answer.status + " in " + Math.round(performance.now() - start) + " ms"];
            ["content-type", "cache-control", "etag", "last-modified", "x-generation"].forEach(function (name) {
              if (answer.headers.get(name)) {
                lines.push(name + ": " + answer.headers.get(name));
              }
            });
            said.textContent = lines.join("\n");
            body.firstChild.textContent = JSON.stringify(JSON.parse(text), null, 1);
            body.hidden = false;
          });
        })
        .catch(function () {
          said.textContent = "No answer. Are you offline?";
          body.hidden = true;
        });
    });
  });
})();
