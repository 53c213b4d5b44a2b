const k = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, true, ["encrypt", "decrypt"]);
const iv = crypto.getRandomValues(new Uint8Array(12)); const c = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, k, new TextEncoder().encode("hi"));
console.log(new TextDecoder().decode(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, k, c)));
