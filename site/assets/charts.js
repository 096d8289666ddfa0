// Shows the number nearest to the pointer. Every number is in the table under its chart as well.
(function () {
  "use strict";
  var tip = document.createElement("p");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  document.body.appendChild(tip);
  var lit = null;

  function off() {
    if (lit) {
      lit.classList.remove("lit");
      lit = null;
    }
    tip.hidden = true;
  }

  function nearest(svg, x, y) {
    var best = null,
      least = 3600;
    svg.querySelectorAll("[data-tip]").forEach(function (mark) {
      var box = mark.getBoundingClientRect();
      var dx = Math.max(box.left - x, 0, x - box.right),
        dy = Math.max(box.top - y, 0, y - box.bottom) / 3;
      var far = dx * dx + dy * dy;
      if (far < least) {
        least = far;
        best = mark;
      }
    });
    return best;
  }

  document.addEventListener("pointermove", function (event) {
    var svg = event.target.closest && event.target.closest(".chart svg");
    var mark = svg && nearest(svg, event.clientX, event.clientY);
    if (!mark) {
      return off();
    }
    if (mark !== lit) {
      off();
      lit = mark;
      mark.classList.add("lit");
      tip.textContent = mark.dataset.tip;
      tip.hidden = false;
    }
    var box = mark.getBoundingClientRect(),
      wide = tip.offsetWidth;
    var left = Math.min(
      Math.max(8, (box.left + box.right - wide) / 2),
      document.documentElement.clientWidth - wide - 8,
    );
    tip.style.left = left + scrollX + "px";
    tip.style.top = box.top + scrollY - tip.offsetHeight - 10 + "px";
  });
  document.addEventListener("pointerleave", off);
  addEventListener("scroll", off, { passive: true });
})();
