import crypto from "node:crypto";

for (const algo of ["md5", "sha1", "sha256"]) {
  console.log(algo, crypto.createHash(algo).update("the quick brown fox").digest("hex").slice(0, 24));
}
console.log(crypto.createHmac("sha256", "key").update("data").digest("base64"));
console.log(crypto.scryptSync("password", "salt", 16, { N: 1024 }).toString("hex"));
const key = Buffer.alloc(32, 7);
const iv = Buffer.alloc(12, 1);
const cipher = crypto.createCipheriv("aes-256-gcm", key, iv);
const sealed = Buffer.concat([cipher.update("attack at dawn", "utf8"), cipher.final()]);
const tag = cipher.getAuthTag();
console.log(sealed.toString("hex"));
const decipher = crypto.createDecipheriv("aes-256-gcm", key, iv);
decipher.setAuthTag(tag);
console.log(decipher.update(sealed, undefined, "utf8") + decipher.final("utf8"));
console.log(crypto.randomBytes(16).length, crypto.randomUUID().length);
console.log(crypto.timingSafeEqual(Buffer.from("abc"), Buffer.from("abc")));
