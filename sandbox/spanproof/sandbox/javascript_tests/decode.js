// The other way: from JSON to data, in whichever process. Keys are defined, not assigned: `__proto__` is one of them.
const TYPED_ARRAYS = [
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array,
  Float64Array, BigInt64Array, BigUint64Array,
];
const ERRORS = [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError];
class NoData {
  constructor(name) {
    this["no data"] = name;
  }
}
const decodeValue = (form) => {
  const [kind, first, second] = form;
  switch (kind) {
    case "u":
      return undefined;
    case "v":
      return first;
    case "n":
      return Number(first);
    case "i":
      return BigInt(first);
    case "a":
      return first.map(decodeValue);
    case "d":
      return new Date(first ?? NaN);
    case "r":
      return new RegExp(first, second);
    case "m":
      return new Map(first.map((pair) => pair.map(decodeValue)));
    case "t":
      return new Set(first.map(decodeValue));
    case "e":
      return decodeError(form);
    case "y":
      return decodeTyped(first, second.map(decodeValue));
    case "o": {
      const made = second ? Object.create(null) : {};
      for (const [key, value] of first) {
        const property = { value: decodeValue(value), writable: true, enumerable: true, configurable: true };
        Object.defineProperty(made, key, property);
      }
      return made;
    }
    default:
      return new NoData(`${first}`);
  }
};
const decodeError = ([, name, message, code]) => {
  const made = new (ERRORS.find((each) => each.name === name) ?? Error)(message);
  if (made.name !== name) made.name = name;
  if (code !== null) made.code = code;
  return made;
};
const decodeTyped = (name, items) => {
  if (name === "Buffer" && typeof Buffer === "function") return Buffer.from(items);
  const type = TYPED_ARRAYS.find((each) => each.name === name);
  return type === undefined ? new NoData(name) : type.from(items);
};
