// A file that the browser saves, and a daily entry of five minutes for a calendar.

export function save(file, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(file), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

export function reminder(name, summary, begin) {
  const stamp = (time) => `${time.toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    `PRODID:-//Educational Market Intelligence//${name}//EN`,
    "BEGIN:VEVENT",
    `UID:${name}@${location.host}`,
    `DTSTAMP:${stamp(new Date())}`,
    `DTSTART:${stamp(begin)}`,
    "DURATION:PT5M",
    "RRULE:FREQ=DAILY",
    `SUMMARY:${summary}`,
    `URL:${location.origin}${location.pathname}`,
    "END:VEVENT",
    "END:VCALENDAR",
    "",
  ];
  return new Blob([lines.join("\r\n")], { type: "text/calendar" });
}
