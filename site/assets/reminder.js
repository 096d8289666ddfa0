// A file that the browser saves, and a daily entry of five minutes for a calendar.
const READ_MS = 60_000; // Safari reads a file only some time after the press
const MINUTE_MS = 60_000;

export function save(file, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(file), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), READ_MS);
}

// What begins at a fixed hour of UTC begins by the clock on the wall an hour later in summer. The later of the two hours,
// so that a reminder at one hour of that clock never comes too early.
export function laterOfTheYear(begin) {
  const year = begin.getFullYear();
  const behind = [begin, new Date(year, 0, 1), new Date(year, 6, 1)].map((day) => day.getTimezoneOffset());
  return new Date(begin.getTime() + (behind[0] - Math.min(...behind)) * MINUTE_MS);
}

// It begins at the hour that the reader's clock shows at `begin`, without a zone (RFC 5545, 3.3.5: "floating"), so that
// it keeps that hour when clocks change, and it rings.
export function reminder(name, summary, begin) {
  const written = (time) => time.toISOString().slice(0, 19).replace(/[-:]/g, "");
  const onTheWall = new Date(begin.getTime() - begin.getTimezoneOffset() * MINUTE_MS);
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    `PRODID:-//Educational Market Intelligence//${name}//EN`,
    "BEGIN:VEVENT",
    `UID:${name}@${location.host}`,
    `DTSTAMP:${written(new Date())}Z`,
    `DTSTART:${written(onTheWall)}`,
    "DURATION:PT5M",
    "RRULE:FREQ=DAILY",
    `SUMMARY:${summary}`,
    `URL:${location.origin}${location.pathname}`,
    "BEGIN:VALARM",
    "ACTION:DISPLAY",
    `DESCRIPTION:${summary}`,
    "TRIGGER:PT0M",
    "END:VALARM",
    "END:VEVENT",
    "END:VCALENDAR",
    "",
  ];
  return new Blob([lines.join("\r\n")], { type: "text/calendar" });
}
