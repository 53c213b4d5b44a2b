const sleep = (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value));

console.log(await Promise.all([sleep(30, "a"), sleep(10, "b")]));
console.log(await Promise.race([sleep(500, "slow"), sleep(5, "fast")]));
const settled = await Promise.allSettled([sleep(1, "ok"), Promise.reject(new Error("no"))]);
console.log(settled.map((r) => r.value ?? r.reason.message));
console.log(await Promise.any([Promise.reject(new Error("x")), sleep(2, "any")]));
