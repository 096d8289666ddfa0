// The server's clock. A reader's own may be minutes off: `site.js` notes by how much, from the date of an answer.
export const now = () => Date.now() + Number(document.body.dataset.behind ?? 0);

// An hour as it is published, and as the reader's clock shows it where that is another one.
export function hour(time) {
  const moment = new Date(time);
  const published = `${moment.toISOString().slice(11, 16)} UTC`;
  if (!moment.getTimezoneOffset()) return published;
  const two = (number) => String(number).padStart(2, "0");
  return `${published} (${two(moment.getHours())}:${two(moment.getMinutes())} your time)`;
}
