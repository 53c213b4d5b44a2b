class Observable {
  #listeners = new Set();
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  emit(value) {
    for (const listener of this.#listeners) listener(value);
  }
  map(fn) {
    const out = new Observable();
    this.subscribe((value) => out.emit(fn(value)));
    return out;
  }
}
const clicks = new Observable();
const seen = [];
const stop = clicks.map((x) => x * 10).subscribe((v) => seen.push(v));
clicks.emit(1);
clicks.emit(2);
stop();
console.log(seen);
