import { basename, dirname, extname } from "node:path";
const file = "/srv/site/img/logo.v2.png";
console.log(basename(file, extname(file)), dirname(file), extname(file));
