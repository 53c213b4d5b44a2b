const text = "Call 555-1234 or 555-9876, before 2024-05-01.";
console.log([...text.matchAll(/(\d{3})-(\d{4})\b/g)].map((m) => `${m[1]}.${m[2]} at ${m.index}`));
const { groups } = text.match(/(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/);
console.log({ ...groups }, text.replace(/\d/g, "#"), /^call/i.test(text));
console.log("camelCaseToSnake".replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), "a-b-c".split("-", 2), "x".padStart(4, "."));
