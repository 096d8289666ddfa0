// The server's clock. A reader's own may be minutes off: `site.js` notes by how much, from the date of an answer.
export const now = () => Date.now() + Number(document.body.dataset.behind ?? 0);

const two = (number) => String(number).padStart(2, "0");

// An hour of the reader's clock; nothing where that shows UTC.
export function ownHour(time) {
  const moment = new Date(time);
  return moment.getTimezoneOffset() ? `${two(moment.getHours())}:${two(moment.getMinutes())} your time` : "";
}

// An hour as it is published, and as the reader's clock shows it where that is another one.
export function hour(time) {
  const own = ownHour(time);
  return `${new Date(time).toISOString().slice(11, 16)} UTC${own && ` (${own})`}`;
}
