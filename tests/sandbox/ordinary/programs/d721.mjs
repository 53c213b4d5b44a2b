// Marks of a class with a bar chart in text.
const marks = { ann: [90, 80], bo: [55, 61], cy: [72, 75, 78] };
const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
for (const [name, values] of Object.entries(marks).sort(([, a], [, b]) => mean(b) - mean(a))) {
  console.log(name.padEnd(5), mean(values).toFixed(1).padStart(5), "#".repeat(Math.round(mean(values) / 10)));
}
