// The page is whole without this. It shows the age of the data, says STALE past its time, counts rounds down, and
// takes in the parts that the next release changed, without moving what is being read.
(function () {
  "use strict";
  var body = document.body;
  var title = document.title;

  function time(name) {
    return Date.parse(body.dataset[name]);
  }
  function all(selector) {
    return Array.prototype.slice.call(document.querySelectorAll(selector));
  }
  function two(number) {
    return (number < 10 ? "0" : "") + number;
  }

  // A reader's clock may be minutes off: what is past and what is left are counted by the server's, which is the
  // date of each of its answers. `sent` is when that was asked for.
  function now() {
    return Date.now() + Number(body.dataset.behind || 0);
  }
  function setClock(answer, sent) {
    var received = Date.now();
    var date = Date.parse(answer.headers.get("Date")) + 1000 * Number(answer.headers.get("Age") || 0) + 500;
    var behind = Math.round(date - (sent + received) / 2);
    var before = now();
    if (!isNaN(behind)) {
      body.dataset.behind = Math.abs(behind) > 2000 + received - sent ? behind : 0;
    }
    if (Math.abs(now() - before) > 2000) {
      document.dispatchEvent(new Event("emi:clock"));
    }
  }

  function span(seconds) {
    if (seconds < 90) {
      return seconds + (seconds === 1 ? " second" : " seconds");
    }
    if (seconds < 5400) {
      return Math.round(seconds / 60) + " minutes";
    }
    return Math.round(seconds / 3600) + " hours";
  }

  function mark(past) {
    var stale = document.getElementById("stale");
    if (stale && stale.hidden === past) {
      stale.hidden = !past;
    }
    body.classList.toggle("is-stale", past);
    document.title = (past ? "STALE · " : "") + title;
  }

  // A page that shows nothing of this minute asks whether the service is fresh; without an answer it does not say stale.
  function ask() {
    var sent = Date.now();
    fetch(body.dataset.status, { cache: "no-cache" })
      .then(function (answer) {
        setClock(answer, sent);
        return answer.json();
      })
      .then(function (status) {
        if (status.valid_until) {
          mark(now() > Date.parse(status.valid_until));
        }
      })
      .catch(function () {});
  }

  // Until the server's time is known, or cannot be, nothing is called stale by a clock that may be wrong.
  var isTimed = false;
  function setTimed() {
    isTimed = true;
    show();
  }
  function askTime() {
    var sent = Date.now();
    setTimeout(setTimed, 5000);
    fetch(location.pathname, { method: "HEAD", cache: "no-store" })
      .then(function (answer) {
        setClock(answer, sent);
      })
      .then(setTimed, setTimed);
  }

  function show() {
    var age = Math.max(0, Math.round((now() - time("generatedAt")) / 1000));
    all("[data-age]").forEach(function (place) {
      place.textContent = "Made " + span(age) + " ago.";
    });
    var past = isTimed && now() > time("validUntil");
    mark(past);
    // Where nothing is published, whether a round ends as planned is not known.
    all("[data-countdown]").forEach(function (place) {
      var left = Math.round((Date.parse(place.dataset.countdown) - now()) / 1000);
      var counted = left > 0 ? two(Math.floor(left / 60)) + ":" + two(left % 60) : "over";
      place.textContent = past ? "stopped" : counted;
    });
  }

  // Times are in UTC. Where the reader's clock is another one, each says its own time when it is pointed at.
  function local() {
    if (!new Date().getTimezoneOffset()) {
      return;
    }
    all("time").forEach(function (place) {
      var moment = new Date(place.dateTime);
      place.title = moment.toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) + ", your time";
    });
    all("[data-local]").forEach(function (place) {
      var moment = new Date(place.dataset.local);
      var hour = two(moment.getHours()) + ":" + two(moment.getMinutes());
      place.textContent = place.dataset.what + " at " + hour + " your time.";
    });
  }

  // One request for the page itself, soon after the next release is due; later and later while none comes.
  var wait = 0;
  function plan() {
    var due = time("next") + 4000 + Math.random() * 6000 + wait - now();
    setTimeout(refresh, Math.max(5000, due));
  }

  function refresh() {
    if (document.hidden) {
      wait = 0;
      return setTimeout(refresh, 15000);
    }
    var sent = Date.now();
    fetch(location.pathname, { cache: "no-cache" })
      .then(function (answer) {
        setClock(answer, sent);
        return answer.ok ? answer.text() : Promise.reject(answer.status);
      })
      .then(function (text) {
        var fresh = new DOMParser().parseFromString(text, "text/html");
        if (!fresh.body.dataset.generatedAt || fresh.body.dataset.generatedAt === body.dataset.generatedAt) {
          throw 0;
        }
        ["generatedAt", "validUntil", "next", "mode"].forEach(function (name) {
          body.dataset[name] = fresh.body.dataset[name];
        });
        all("[data-live]").forEach(function (old) {
          var part = fresh.getElementById(old.id);
          var focused = old.contains(document.activeElement) ? document.activeElement.id : "";
          if (
            !part ||
            (old.contains(document.activeElement) && old.id !== "stamp" && part.dataset.key === old.dataset.key)
          ) {
            return;
          }
          var open = Array.prototype.map.call(old.querySelectorAll("details"), function (one) {
            return one.open;
          });
          part.querySelectorAll("details").forEach(function (one, at) {
            if (at < open.length) {
              one.open = open[at];
            }
          });
          old.replaceWith(document.adoptNode(part));
          if (focused && document.getElementById(focused)) {
            document.getElementById(focused).focus();
          }
        });
        wait = 0;
        show();
        local();
        document.dispatchEvent(new Event("emi:renewed"));
      })
      .catch(function () {
        wait = Math.min(600000, wait * 2 + 30000);
      })
      .then(plan);
  }

  // What an address leads to is opened, if it is folded.
  function unfold() {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    var folded = target && target.closest("details:not([open])");
    for (var fold = folded; fold; fold = fold.parentElement.closest("details")) {
      fold.open = true;
    }
    if (folded) {
      target.scrollIntoView();
    }
  }

  local();
  if (time("generatedAt") && time("validUntil")) {
    document.addEventListener("emi:clock", show);
    show();
    setInterval(show, 1000);
    askTime();
    if (document.querySelector("main [data-live]")) {
      plan();
    }
  } else if (body.dataset.status) {
    ask();
    setInterval(ask, 60000);
  }
  addEventListener("hashchange", unfold);
  addEventListener("beforeprint", function () {
    all("figure details, #day-numbers details").forEach(function (one) {
      one.open = true;
    });
  });
  unfold();
})();
