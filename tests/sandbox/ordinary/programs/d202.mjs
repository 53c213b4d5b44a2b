import path from "node:path";

for (const file of ["/srv/www/index.html", "notes.tar.gz", "../up/one.js"]) {
  const { dir, name, ext } = path.parse(file);
  console.log(`${dir || "."} ${name} ${ext} ${path.isAbsolute(file)}`);
}
console.log(path.join("a", "..", "b", "./c"), path.relative("/a/b/c", "/a/d"), path.normalize("/x//y/../z"));
