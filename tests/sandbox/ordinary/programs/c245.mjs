import { test } from "node:test"; import assert from "node:assert";
const fmt = new Intl.NumberFormat("de-DE", { style: "currency", currency: "EUR" }); console.log(fmt.format(1234.5), new Date(0).toLocaleString("en-GB", { timeZone: "UTC" }), [..."ab"].map((c) => c.codePointAt(0)), structuredClone(new Set([1])), "ß".localeCompare("ss", "de"));
