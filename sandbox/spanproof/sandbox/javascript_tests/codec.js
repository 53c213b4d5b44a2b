// Data that crosses between the tests' process and the program's, as JSON. What is no data becomes ["x", class].
const encodeValue = (value, path = []) => {
  if (value === undefined) return ["u"];
  if (value === null || typeof value === "boolean" || typeof value === "string") return ["v", value];
  if (typeof value === "number") {
    return Number.isFinite(value) && !Object.is(value, -0) ? ["v", value] : ["n", Object.is(value, -0) ? "-0" : `${value}`];
  }
  if (typeof value === "bigint") return ["i", `${value}`];
  if (typeof value !== "object" || path.length >= 200 || path.includes(value)) return ["x", typeof value];
  const inner = [...path, value];
  const each = (items) => Array.from(items, (item) => encodeValue(item, inner));
  if (Array.isArray(value)) return ["a", each(value)];
  if (value instanceof Date) return ["d", value.getTime()];
  if (value instanceof RegExp) return ["r", value.source, value.flags];
  if (value instanceof Map) return ["m", Array.from(value, (pair) => each(pair))];
  if (value instanceof Set) return ["t", each(value)];
  if (value instanceof Error) return ["e", `${value.name}`, `${value.message}`, typeof value.code === "string" ? value.code : null];
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return ["y", value.constructor.name, each(value)];
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) {
    return ["o", Object.keys(value).map((key) => [key, encodeValue(value[key], inner)]), prototype === null];
  }
  return ["x", `${value.constructor?.name}`];
};
