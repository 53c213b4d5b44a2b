const board = ["53..7....", "6..195...", ".98....6.", "8...6...3", "4..8.3..1", "7...2...6", ".6....28.", "...419..5", "....8..79"].map((row) => [...row]);
const fits = (r, c, digit) => {
  for (let k = 0; k < 9; k++) {
    if (board[r][k] === digit || board[k][c] === digit) return false;
    if (board[3 * Math.floor(r / 3) + Math.floor(k / 3)][3 * Math.floor(c / 3) + (k % 3)] === digit) return false;
  }
  return true;
};
const solve = () => {
  for (let r = 0; r < 9; r++)
    for (let c = 0; c < 9; c++) {
      if (board[r][c] !== ".") continue;
      for (const digit of "123456789") {
        if (!fits(r, c, digit)) continue;
        board[r][c] = digit;
        if (solve()) return true;
      }
      board[r][c] = ".";
      return false;
    }
  return true;
};
console.log(solve());
console.log(board.map((row) => row.join("")).join("\n"));
