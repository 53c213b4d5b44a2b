class Matrix {
  constructor(rows) {
    this.rows = rows;
  }
  static identity(n) {
    return new Matrix(Array.from({ length: n }, (_, r) => Array.from({ length: n }, (_, c) => Number(r === c))));
  }
  times(other) {
    return new Matrix(this.rows.map((row) => other.rows[0].map((_, c) => row.reduce((sum, v, k) => sum + v * other.rows[k][c], 0))));
  }
  toString() {
    return this.rows.map((row) => row.join(" ")).join("\n");
  }
}
let power = Matrix.identity(2);
for (let n = 0; n < 10; n++) power = power.times(new Matrix([[1, 1], [1, 0]]));
console.log(`${power}`);
