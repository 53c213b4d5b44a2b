import crypto from "node:crypto";

const hash = crypto.createHash("sha256").update("hello").digest("hex");
const mac = crypto.createHmac("sha1", "key").update("message").digest("base64");
console.log(hash.slice(0, 16), mac);
const key = crypto.scryptSync("password", "salt", 32, { N: 1024 });
const cipher = crypto.createCipheriv("aes-256-gcm", key, Buffer.alloc(12));
const secret = Buffer.concat([cipher.update("attack at dawn", "utf8"), cipher.final()]);
const plain = crypto.createDecipheriv("aes-256-gcm", key, Buffer.alloc(12)).setAuthTag(cipher.getAuthTag());
console.log(plain.update(secret, undefined, "utf8") + plain.final("utf8"), crypto.randomUUID().length);
