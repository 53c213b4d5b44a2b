const proxy = new Proxy({ name: "Ann" }, {
  get: (target, key) => (key in target ? target[key] : `no ${String(key)}`),
  set(target, key, value) {
    if (key === "age" && value < 0) throw new RangeError("age must not be negative");
    target[key] = value;
    return true;
  },
});
proxy.age = 30;
console.log(proxy.name, proxy.age, proxy.email);
try {
  proxy.age = -1;
} catch (error) {
  console.log(error.name, error.message);
}
console.log(Object.entries(Object.getOwnPropertyDescriptors(class { static x = 1; get y() { return 2; } })).map(([k]) => k).sort());
