import os from "node:os";
const bubble = (list) => {
  const a = [...list];
  for (let i = a.length; i; i--) for (let j = 1; j < i; j++) if (a[j - 1] > a[j]) [a[j - 1], a[j]] = [a[j], a[j - 1]];
  return a;
};
console.log(bubble([5, 2, 9, 1]).join(os.EOL));
