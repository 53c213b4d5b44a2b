import crypto from "crypto";
const { publicKey, privateKey } = crypto.generateKeyPairSync("ed25519");
const sig = crypto.sign(null, Buffer.from("m"), privateKey); console.log(crypto.verify(null, Buffer.from("m"), publicKey, sig), sig.length);
console.log(crypto.pbkdf2Sync("p", "s", 10, 8, "sha1").toString("hex"), crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("a")));
