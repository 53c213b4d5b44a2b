import { generateKeyPairSync, sign, verify, createPublicKey } from "node:crypto";

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const message = Buffer.from("version 1.2.3 released");
const signature = sign(null, message, privateKey);
console.log("signature bytes", signature.length);
console.log("good:", verify(null, message, publicKey, signature));
console.log("changed:", verify(null, Buffer.from("version 6.6.6"), publicKey, signature));
const pem = publicKey.export({ type: "spki", format: "pem" });
console.log(pem.split("\n")[0]);
console.log("again:", verify(null, message, createPublicKey(pem), signature));
console.log(privateKey.asymmetricKeyType, privateKey.type);
