import crypto from "node:crypto";

const { publicKey, privateKey } = crypto.generateKeyPairSync("ec", { namedCurve: "P-256" });
const signature = crypto.sign("sha256", Buffer.from("invoice 17"), privateKey);
console.log(crypto.verify("sha256", Buffer.from("invoice 17"), publicKey, signature));
console.log(crypto.verify("sha256", Buffer.from("invoice 18"), publicKey, signature));
console.log(crypto.pbkdf2Sync("pw", "salt", 1000, 16, "sha512").toString("hex"));
console.log(crypto.timingSafeEqual(Buffer.from("aa"), Buffer.from("aa")), crypto.randomBytes(8).length, crypto.randomInt(5) < 5);
const token = Buffer.from(JSON.stringify({ user: 1 })).toString("base64url");
console.log(token, crypto.createHash("md5").update(token).digest("hex"));
