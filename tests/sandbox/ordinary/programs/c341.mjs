import fs from "fs";
const data = [{ id: 1, n: "a" }, { id: 2, n: "b" }];
fs.writeFileSync("d.json", JSON.stringify(data, null, 2)); const back = JSON.parse(fs.readFileSync("d.json")); console.log(back.find((x) => x.id === 2), fs.readFileSync("d.json", "utf8").split("\n").length); fs.unlinkSync("d.json"); try { fs.unlinkSync("d.json"); } catch (e) { console.log(e.code); }
