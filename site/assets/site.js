// The page is whole without this. It tells the age of the data, says STALE past its time, and counts rounds down.
(function () {
  "use strict";
  var body = document.body;
  var made = Date.parse(body.dataset.generatedAt);
  var until = Date.parse(body.dataset.validUntil);
  var stale = document.getElementById("stale");
  var ages = document.querySelectorAll("[data-age]");
  var counts = document.querySelectorAll("[data-countdown]");

  function two(number) { return (number < 10 ? "0" : "") + number; }

  function span(seconds) {
    if (seconds < 90) { return seconds + (seconds === 1 ? " second" : " seconds"); }
    if (seconds < 5400) { return Math.round(seconds / 60) + " minutes"; }
    return Math.round(seconds / 3600) + " hours";
  }

  function show() {
    var now = Date.now();
    var age = Math.max(0, Math.round((now - made) / 1000));
    ages.forEach(function (place) { place.textContent = "Made " + span(age) + " ago."; });
    if (stale) { stale.hidden = !(now > until); }
    body.classList.toggle("is-stale", now > until);
    counts.forEach(function (place) {
      var left = Math.round((Date.parse(place.dataset.countdown) - now) / 1000);
      place.textContent = left > 0 ? two(Math.floor(left / 60)) + ":" + two(left % 60) : "00:00 (over; the next page tells)";
    });
  }

  function open() {
    var part = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (part && part.tagName === "DETAILS") { part.open = true; }
  }

  if (made && until) { show(); setInterval(show, 1000); }
  addEventListener("hashchange", open);
  open();
}());
