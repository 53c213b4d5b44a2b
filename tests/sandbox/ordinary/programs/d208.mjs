import { readdir, mkdir, writeFile, rm, stat, rename } from "node:fs/promises";

await mkdir("blog/posts", { recursive: true });
await Promise.all([1, 2, 3].map((n) => writeFile(`blog/posts/${n}.md`, `# Post ${n}\n`)));
await rename("blog/posts/3.md", "blog/draft.md");
console.log((await readdir("blog", { recursive: true })).sort());
console.log((await stat("blog/draft.md")).size, (await stat("blog")).isDirectory());
await rm("blog", { recursive: true });
await stat("blog").catch((error) => console.log(error.code));
