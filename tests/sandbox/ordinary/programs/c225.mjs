import crypto from "crypto";
const key = crypto.scryptSync("pw", "salt", 32), iv = Buffer.alloc(16);
const c = crypto.createCipheriv("aes-256-cbc", key, iv); const e = c.update("secret", "utf8", "hex") + c.final("hex");
const d = crypto.createDecipheriv("aes-256-cbc", key, iv); console.log(e, d.update(e, "hex", "utf8") + d.final("utf8"));
