const csv = 'id,name,note\n1,"Smith, J","said ""hi"""\n2,Lee,\n';
const parse = (text) => {
  const rows = [[]];
  let cell = "";
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === '"' && text[i + 1] === '"') { cell += '"'; i++; }
      else if (c === '"') quoted = false;
      else cell += c;
    } else if (c === '"') quoted = true;
    else if (c === "," || c === "\n") {
      rows.at(-1).push(cell);
      cell = "";
      if (c === "\n") rows.push([]);
    } else cell += c;
  }
  return rows.filter((row) => row.length);
};
console.log(parse(csv));
