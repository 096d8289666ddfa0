import assert from "node:assert/strict";
import test from "node:test";

import { browser } from "./page.mjs";

browser({});
const { laterOfTheYear, reminder, save } = await import("./assets/reminder.js");
const ASKED = 13; // UTC

const linesOf = async (begin) => (await reminder("daily", "Where?", begin).text()).split("\r\n");
const begins = async (begin) => (await linesOf(begin)).find((line) => line.startsWith("DTSTART")).split(":")[1];

test("a reminder begins at the hour on the wall, without a zone, and rings", async () => {
  process.env.TZ = "Europe/Berlin";
  const lines = await linesOf(new Date("2027-02-01T13:05:00Z"));
  assert.ok(lines.includes("DTSTART:20270201T140500"));
  assert.deepEqual(lines.slice(lines.indexOf("BEGIN:VALARM") + 1, lines.indexOf("END:VALARM")), [
    "ACTION:DISPLAY",
    "DESCRIPTION:Where?",
    "TRIGGER:PT0M",
  ]);
});

test("what is asked at an hour of UTC is asked by then in winter and in summer, wherever the reader is", async () => {
  for (const zone of ["Europe/Berlin", "America/New_York", "Australia/Sydney", "Asia/Kolkata", "Asia/Kathmandu"]) {
    process.env.TZ = zone;
    for (const day of ["2027-01-15", "2027-07-15"]) {
      const begin = laterOfTheYear(new Date(`${day}T13:05:00Z`));
      const [hour, minute] = [begin.getHours(), begin.getMinutes()];
      const asked = [0, 6].map((month) => new Date(2027, month, 15, hour, minute).getUTCHours());
      assert.ok(
        asked.every((utc) => [ASKED, ASKED + 1].includes(utc)),
        `${zone}, ${day}: ${asked}`,
      );
      assert.ok(asked.includes(ASKED));
    }
  }
  process.env.TZ = "Europe/Berlin";
  assert.equal(await begins(laterOfTheYear(new Date("2027-01-15T13:05:00Z"))), "20270115T150500");
});

test("the address of a saved file outlives the press", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const revoked = [];
  context.mock.method(URL, "createObjectURL", () => "blob:1");
  context.mock.method(URL, "revokeObjectURL", (address) => revoked.push(address));
  globalThis.document.createElement = () => ({ click: () => assert.deepEqual(revoked, []) });

  save(new Blob([]), "file");
  context.mock.timers.tick(10_000);
  assert.deepEqual(revoked, []);
  context.mock.timers.tick(60_000);
  assert.deepEqual(revoked, ["blob:1"]);
});
