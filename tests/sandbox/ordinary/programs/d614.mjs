const events = [
  { user: "ann", at: 0 }, { user: "ann", at: 10 }, { user: "bob", at: 12 }, { user: "ann", at: 55 }, { user: "bob", at: 14 },
];
const sessions = {};
for (const { user, at } of events.sort((a, b) => a.at - b.at)) {
  const list = (sessions[user] ??= []);
  const last = list.at(-1);
  if (last && at - last.end <= 30) Object.assign(last, { end: at, events: last.events + 1 });
  else list.push({ start: at, end: at, events: 1 });
}
console.log(JSON.stringify(sessions));
console.log(Object.fromEntries(Object.entries(sessions).map(([user, list]) => [user, list.length])));
