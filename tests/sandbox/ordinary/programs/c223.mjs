import path from "path";
console.log(path.join("a", "..", "b"), path.extname("x.tar.gz"), path.parse("/u/f.txt").name, path.relative("/a/b", "/a/c"), path.isAbsolute("x"), path.resolve("/a", "b"), path.posix.normalize("a//b/./c"));
