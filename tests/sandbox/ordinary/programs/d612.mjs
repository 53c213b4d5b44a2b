const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const retry = async (work, tries) => {
  for (let n = 1; ; n++) {
    try {
      return await work(n);
    } catch (error) {
      console.log(`try ${n}: ${error.message}`);
      if (n === tries) throw error;
      await wait(n);
    }
  }
};
console.log(await retry(async (n) => { if (n < 3) throw new Error("busy"); return "done"; }, 5));
await retry(async () => { throw new Error("down"); }, 2).catch(() => console.log("gave up"));
async function* pages() { for (let page = 1; page <= 3; page++) { await wait(1); yield { page, items: [page * 10] }; } }
const all = [];
for await (const { items } of pages()) all.push(...items);
console.log(all);
