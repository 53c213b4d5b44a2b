import crypto from "crypto";
console.log(crypto.createHash("sha256").update("x").digest("hex").slice(0, 8), crypto.createHmac("md5", "k").update("m").digest("hex"), crypto.randomBytes(8).length, crypto.randomUUID().length, crypto.getHashes().includes("sha256"));
