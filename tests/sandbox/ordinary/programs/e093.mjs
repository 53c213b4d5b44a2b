import { sep } from "node:path";
const flatten = (object, prefix = "") =>
  Object.entries(object).reduce((flat, [key, value]) => (value && typeof value === "object" ? { ...flat, ...flatten(value, `${prefix}${key}.`) } : { ...flat, [prefix + key]: value }), {});
console.log(flatten({ a: 1, b: { c: 2, d: { e: null } } }), sep);
