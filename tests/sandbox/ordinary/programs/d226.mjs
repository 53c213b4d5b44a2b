const controller = new AbortController();
const work = (signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 5000, "finished");
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
setTimeout(() => controller.abort(new Error("cancelled by the user")), 5);
await work(controller.signal).catch((error) => console.log(error.message));
console.log(controller.signal.aborted);
const ticks = [];
await new Promise((done) => {
  const timer = setInterval(() => {
    ticks.push(ticks.length);
    if (ticks.length === 3) {
      clearInterval(timer);
      done();
    }
  }, 2);
});
console.log(ticks);
